#include "engine/evaluation/epochs_in_time.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

constexpr std::string_view room_begin = "limits.evaluation_time had room for ";
constexpr std::string_view room_end = " epochs: the rates followed the clock";
constexpr std::string_view cut_begin = "cut by limits.evaluation_time ";
constexpr std::string_view number = "epoch ";

} // namespace

std::string had_room_for(double had, std::uint32_t epochs) {
  return fmt::format("{}{:.1f} of {}{}", room_begin, had, epochs, room_end);
}

std::string cut_by_time(std::string_view where, std::uint32_t epochs) {
  return fmt::format("{}{} of {}", cut_begin, where, epochs);
}

std::string epochs_in_time(std::string_view reason) {
  if (reason.starts_with(room_begin) && reason.ends_with(room_end))
    return std::string(reason.substr(room_begin.size(), reason.size() - room_begin.size()
                                                            - room_end.size()));
  const auto at = reason.find(number);
  if (!reason.starts_with(cut_begin) || at == reason.npos)
    return {};
  return std::string(reason.substr(at + number.size()));
}

} // namespace clade

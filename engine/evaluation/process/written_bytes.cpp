#include "engine/evaluation/process/written_bytes.hpp"

#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"

#include <string>
#include <string_view>

namespace clade {

namespace {

constexpr std::uint64_t most_description_bytes = 4096;

/// The number in a line such as "wchar: 17"; 0: there is no such line.
std::uint64_t number_behind(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos)
    return 0;
  const auto rest = text.substr(at + key.size());
  return parse_number<std::uint64_t>(rest.substr(0, rest.find('\n'))).value_or(0);
}

} // namespace

written_bytes bytes_written_by(pid_t process) {
  const auto text = read_whole_file("/proc/" + std::to_string(process) + "/io",
                                    {.most_bytes = most_description_bytes})
                        .value_or("");
  return {.by_calls = number_behind(text, "\nwchar: "),
          .to_disks = number_behind(text, "\nwrite_bytes: ")};
}

} // namespace clade

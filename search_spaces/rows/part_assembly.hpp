#pragma once

#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace clade {

/// Lists the layers of a composite, one behind the other.
class part_assembly {
public:
  /// A part by its number, counted from 1; 0 is what enters the composite.
  using index = std::size_t;
  using settings_list = std::vector<setting>;

  /// Adds a layer whose input is the last one, and makes it the last.
  layer_part& then(const std::string& name, std::string_view op,
                   settings_list settings = {}) {
    return join(name, op, {last_}, std::move(settings));
  }
  layer_part& join(const std::string& name, std::string_view op,
                   std::vector<index> inputs, settings_list settings = {}) {
    parts_.push_back({.name = prefix_ + name,
                      .op = op,
                      .settings = std::move(settings),
                      .inputs = std::move(inputs)});
    last_ = parts_.size();
    return parts_.back();
  }
  void activate(const std::string& name, const std::string& function) {
    if (function != "none")
      then(name, "activation", {{"function", function}});
  }
  /// Adds the last layer, the end of a residual branch, to `skip`, whose units are the
  /// main path's.
  void add_to(index skip, const std::string& name = "add") {
    join(name, "add", {last_, skip}).adds_branch = true;
  }

  /// Adds the last layer to what entered the block at `before`, through a convolution of
  /// kernel 1 where that `differs` in stride or units. `op` and `settings` are its.
  void add_to_entry(index before, bool differs, std::string_view op,
                    settings_list settings) {
    const auto branch = last_;
    last_ = before;
    if (differs)
      then("shortcut", op, std::move(settings));
    const auto skip = last_;
    last_ = branch;
    add_to(skip);
  }

  void begin_repetition(std::int64_t number) { prefix_ = fmt::format("{}.", number); }
  /// Parts that follow belong to no repetition.
  void end_repetitions() { prefix_.clear(); }
  [[nodiscard]] index last() const { return last_; }
  void go_on_from(index part) { last_ = part; }
  [[nodiscard]] std::vector<layer_part> take() { return std::move(parts_); }

private:
  std::vector<layer_part> parts_;
  std::string prefix_;
  index last_ = 0;
};

/// The settings of a convolution with its norm and activation, of images or sequences.
inline std::vector<setting> convolution(std::int64_t filters, std::int64_t kernel,
                                        std::int64_t stride,
                                        const std::string& activation,
                                        const char* norm = "batch") {
  return {{"activation", activation},
          {"filters", filters},
          {"kernel", kernel},
          {"norm", std::string(norm)},
          {"stride", stride}};
}

/// Calls `block(channels, stride)` for each repetition.
template<class Block>
std::vector<layer_part> repeated(const composite_input& in,
                                 const std::vector<setting>& settings, part_assembly& all,
                                 Block block) {
  auto channels = in.shape.units();
  auto stride = integer_setting(settings, "stride");
  for (std::int64_t i = 1; i <= integer_setting(settings, "repeats"); ++i) {
    all.begin_repetition(i);
    block(channels, stride);
    channels = integer_setting(settings, "filters");
    stride = 1;
  }
  return all.take();
}

} // namespace clade

#include "engine/data/source/example_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace clade {

std::string_view to_text(target_kind kind) {
  switch (kind) {
  case target_kind::one_class:
    return "one class";
  case target_kind::one_number:
    return "one number";
  case target_kind::several_numbers:
    return "several numbers";
  case target_kind::several_labels:
    return "several labels";
  case target_kind::sequence:
    return "a sequence";
  }
  return "";
}

problem source_description::as_problem() const {
  return {inputs.front().shape, task.outputs(target.classes.size()), numbers,
          !task.has_classes()};
}

std::size_t source_description::bytes_of_input(std::size_t input) const {
  const auto& i = inputs[input];
  return static_cast<std::size_t>(i.shape.elements()) * size_of(i.type);
}

std::size_t source_description::bytes_of_target() const {
  return static_cast<std::size_t>(target.shape.elements()) * size_of(target.type);
}

expected<void>
for_each_block(const example_source& source, std::size_t input, std::size_t most_bytes,
               const std::function<void(std::size_t, std::span<const std::byte>)>& take) {
  const auto& all = source.description();
  const auto row_bytes = all.bytes_of_input(input);
  const auto most =
      std::clamp<std::size_t>(most_bytes / std::max<std::size_t>(1, row_bytes), 1,
                              std::max<std::size_t>(1, all.count));
  std::vector<std::byte> block(std::min(most, all.count) * row_bytes);
  std::vector<std::uint32_t> examples;
  for (std::size_t from = 0; from < all.count; from += examples.size()) {
    examples.resize(std::min(most, all.count - from));
    std::iota(examples.begin(), examples.end(), static_cast<std::uint32_t>(from));
    const auto bytes = std::span(block).first(examples.size() * row_bytes);
    if (auto read = source.read(input, examples, bytes); !read)
      return read;
    take(from, bytes);
  }
  return {};
}

expected<void> copy_rows(std::span<const std::byte> rows, std::size_t row_bytes,
                         std::span<const std::uint32_t> which,
                         std::span<std::byte> into) {
  if (into.size() != which.size() * row_bytes)
    return fail(error_kind::internal,
                fmt::format("{} examples of {} bytes do not fill {}", which.size(),
                            row_bytes, into.size()));
  const std::size_t count = row_bytes == 0 ? 0 : rows.size() / row_bytes;
  std::byte* to = into.data();
  for (const std::uint32_t i : which) {
    if (i >= count)
      return fail(error_kind::internal,
                  fmt::format("example {} was asked for, where there are {}", i, count));
    std::memcpy(to, rows.data() + i * row_bytes, row_bytes);
    to += row_bytes;
  }
  return {};
}

} // namespace clade

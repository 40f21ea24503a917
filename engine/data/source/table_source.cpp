#include "engine/data/source/table_source.hpp"

namespace clade {

expected<void> table_source::read(std::size_t input,
                                  std::span<const std::uint32_t> examples,
                                  std::span<std::byte> into) const {
  return copy_rows(tables_.inputs[input].bytes(), description_.bytes_of_input(input),
                   examples, into);
}

expected<void> table_source::read_targets(std::span<const std::uint32_t> examples,
                                          std::span<std::byte> into) const {
  return copy_rows(tables_.targets.bytes(), description_.bytes_of_target(), examples,
                   into);
}

} // namespace clade

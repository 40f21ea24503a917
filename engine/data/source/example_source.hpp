#pragma once

#include "engine/data/bytes/stored_numbers.hpp"
#include "engine/data/columns/column_encoding.hpp"
#include "engine/data/columns/forecast_steps.hpp"
#include "engine/data/columns/learning_task.hpp"
#include "genome/base/error.hpp"
#include "search_spaces/operators/network.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// One of the things that an example consists of: an image, or a row of a table.
struct source_input {
  std::string name; ///< For messages: "image".
  tensor_shape shape;
  stored_type type = stored_type::float32;
  /// Networks see what is stored divided by it.
  float divisor = 1;
};

/// The kind of what is to be learnt of an example.
enum class target_kind : std::uint8_t {
  one_class,       ///< A label.
  one_number,      ///< A number, standardised.
  several_numbers, ///< The shape says how many numbers each example has.
  several_labels,  ///< By class 1 where the example is of it, else 0.
  sequence         ///< A label or number for each step.
};

/// "one class", "several labels".
[[nodiscard]] std::string_view to_text(target_kind kind);

struct source_target {
  target_kind kind = target_kind::one_class;
  tensor_shape shape{{1}}; ///< The shape of the target of one example.
  stored_type type = stored_type::int64;
  std::vector<std::string> classes{}; ///< The same as in `data_set`.
  /// To undo the standardisation of numbers: of each, or one of all.
  std::vector<target_scale> scales{{}};
};

/// All that is known of a source's examples before one is read.
struct source_description {
  learning_task task = classification;
  std::size_t count = 0; ///< The number of examples.
  std::vector<source_input> inputs;
  source_target target;
  std::vector<std::uint32_t> train, validation, test; ///< Examples, by index.
  std::vector<float> weights{};                       ///< The same as in `data_set`.
  bool parts_by_chance = true; ///< It means the same as in `data_set`.
  /// The place of each example of `test` in its file: its line, or its index from 0.
  std::vector<std::uint64_t> test_places;
  bool by_line = false; ///< Places are lines.
  /// The files of the examples of `test`; empty where they are no files.
  std::vector<std::string> test_names{};
  /// The steps that examples of a forecast are; else none.
  std::shared_ptr<const forecast_steps> steps{};
  std::vector<bool> numbers{}; ///< By number of the first input, as in `problem`.
  /// The columns of a table; empty where each number is a column without a name.
  std::vector<input_column> columns{};

  /// Returns the problem that networks for the first input must fit.
  [[nodiscard]] problem as_problem() const;
  /// The bytes of one example in that input, or of one target.
  [[nodiscard]] std::size_t bytes_of_input(std::size_t input) const;
  [[nodiscard]] std::size_t bytes_of_target() const;
};

/// Examples, of wherever they come from: all that training knows of data. Reading changes
/// nothing that a caller sees, and several threads may read at once.
class example_source {
public:
  virtual ~example_source() = default;

  [[nodiscard]] virtual const source_description& description() const = 0;

  /// Writes these examples of an input into `into`, one after the other in the order of
  /// `examples`, which may name one several times. `into` has exactly the bytes that they
  /// take. An error says which example cannot be read, and why.
  [[nodiscard]] virtual expected<void> read(std::size_t input,
                                            std::span<const std::uint32_t> examples,
                                            std::span<std::byte> into) const = 0;

  /// Does the same of their targets.
  [[nodiscard]] virtual expected<void>
  read_targets(std::span<const std::uint32_t> examples,
               std::span<std::byte> into) const = 0;

  /// Returns all examples of an input where they lie in memory in the order of their
  /// indices, as long as the source lives; else nothing. They need not be read then.
  [[nodiscard]] virtual std::span<const std::byte> in_place(std::size_t input) const = 0;
};

/// Inputs that take no more bytes than that are held whole, by devices and by mappings.
/// Larger ones are read as they are needed. How a training comes out depends on it, and so
/// it is not a matter of the machine.
constexpr std::size_t most_whole_bytes = std::size_t{4} << 30;

/// Returns how many bytes of a larger input are in memory at most, and are shuffled among
/// each other.
[[nodiscard]] constexpr std::size_t window_bytes(std::size_t most_whole) {
  return most_whole / 4;
}

/// Reads all examples of an input in order of their indices, in blocks of at most
/// `most_bytes` (but of one example at least), into one buffer. `take` gets the index of
/// the first example of each block, and the block.
[[nodiscard]] expected<void>
for_each_block(const example_source& source, std::size_t input, std::size_t most_bytes,
               const std::function<void(std::size_t, std::span<const std::byte>)>& take);

/// Copies these rows of `row_bytes` bytes each, for sources whose examples lie in memory.
/// An error names the first row that there is not.
[[nodiscard]] expected<void> copy_rows(std::span<const std::byte> rows,
                                       std::size_t row_bytes,
                                       std::span<const std::uint32_t> which,
                                       std::span<std::byte> into);

} // namespace clade

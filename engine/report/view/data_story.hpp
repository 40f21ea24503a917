#pragma once

#include "engine/data/reading/data_set.hpp"

#include <string>
#include <vector>

namespace clade {

/// So many examples of each part of the data.
struct part_sizes {
  std::size_t train = 0, validation = 0, test = 0;

  [[nodiscard]] std::size_t all() const { return train + validation + test; }
};

/// The data that a run learns from, as a report tells of them.
struct data_story {
  std::string file;
  learning_task task = classification;
  tensor_shape shape;
  part_sizes parts;

  struct one_class {
    std::string name;
    part_sizes parts;
  };
  /// By label the examples that have it; none of a regression.
  std::vector<one_class> classes;

  /// The statistics of a target that is a number, over all examples, in its own unit.
  struct one_number {
    std::string name; ///< Empty: it is the only one.
    double lowest = 0, mean = 0, highest = 0;
  };
  std::vector<one_number> numbers;
};

/// `file`: what the data is called.
[[nodiscard]] data_story summarize(const data_set& data, std::string file);

/// "data/digits.csv.gz: 1,797 examples of shape [1, 8, 8] in 10 classes; 1,078 to train
/// on, 359 for validation, 360 for the test."
[[nodiscard]] std::string data_words(const data_story& d);

/// A line for each class or label, or for each target of a regression; the first is the
/// head. If there are more than `most` classes, it has the first ones.
[[nodiscard]] std::vector<std::vector<std::string>> data_rows(const data_story& d,
                                                              std::size_t most);

} // namespace clade

// What [data] may say, before any file is looked at.
#include "engine/data/data_set.hpp"
#include "engine/data/examples.hpp"

#include <cmath>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

// The test set's keys: targets of their own for both parts or for none.
expected<void> validate_test(const data_params& params) {
  const auto test = test_source(params);
  if (params.test_file.empty() && !params.test_target_file.empty())
    return wrong("test_target_file says nothing without a test_file");
  if (!test && params.test_limit)
    return wrong("test_limit says nothing without a test_file or a test_array: the test "
                 "part is a share of the examples, see split and limit");
  if (!test && !params.test_target_array.empty())
    return wrong("test_target_array says nothing without a test_array or a test_file");
  if (!test || training_source(params).targets.file.empty() == test->targets.file.empty())
    return {};
  if (!params.test_file.empty() && params.target_array.empty()
      && params.test_target_array.empty())
    return wrong("test_target_file and target_file go together: give both or none");
  return wrong("test_target_array and target_array go together: give both or none");
}

} // namespace

expected<void> validate(const data_params& params) {
  constexpr std::int64_t most_values = std::int64_t{1} << 31;
  if (params.file.empty())
    return wrong("file is missing: it names the examples, file = \"data/digits.csv.gz\"");
  if (auto valid = validate_test(params); !valid)
    return valid;
  for (const std::string& category : params.categories)
    if (category.empty())
      return wrong("categories must be names of columns, or their numbers from 1");
  if (params.target.empty())
    return wrong("target must be the name of a column, its number from 1, or \"last\"");
  if (params.header != "auto" && params.header != "none" && params.header != "names"
      && params.header != "counts")
    return wrong("header must be \"auto\", \"none\", \"names\" or \"counts\", not \""
                 + params.header + "\"");
  std::int64_t values = 1;
  for (const std::int64_t size : params.shape.sizes) {
    if (size < 1 || size > most_values / values)
      return wrong(
          "shape must hold sizes of at least 1 that multiply to less than 2^31, not "
          + to_text(params.shape));
    values *= size;
  }
  if (params.shape.sizes.size() > 3)
    return wrong("shape has at most three sizes, [channels, height, width], not "
                 + to_text(params.shape));
  const auto share = [](double s) { return std::isfinite(s) && s > 0 && s <= 1e6; };
  if (!share(params.train) || !share(params.validation)
      || (!test_source(params) && !share(params.test)))
    return wrong("split must give a share above 0 to train, validation and test, as in "
                 "split = {train = 0.6, validation = 0.2, test = 0.2}");
  return {};
}

} // namespace clade

// A file of any kind becomes a data set that training can rely on: the same from its
// cached form. Bytes choose how it is read, and by its name what it is taken for.
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "engine/data/reading/data_set.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/scratch.hpp"

#include <array>
#include <cmath>

using namespace clade;
using namespace clade::fuzz;

namespace {

data_params chosen(choices& input) {
  static const scratch_folder folder;
  constexpr std::array names{"x.csv", "x.npy", "x.idx", "x.bin", "x", "x.npz"};
  constexpr std::array targets{"last", "1", "2", "class"};
  data_params p;
  p.file = folder.path() / names[input.below(names.size())];
  p.target = targets[input.below(targets.size())];
  p.task = input.flip() ? regression : classification;
  p.blanks = static_cast<blank_rule>(input.below(4));
  const auto more = input.byte();
  if ((more & 1) != 0)
    p.categories = {"1"};
  if ((more & 2) != 0)
    p.limit = more >> 4;
  if ((more & 4) != 0)
    p.shape.sizes = {1, 2, 2};
  if ((more & 8) != 0)
    p.target_file = p.file;
  if ((more & 128) != 0)
    p.split_by = (more & 64) != 0 ? split_rule::time : split_rule::group,
    p.split_column = "1";
  return p;
}

void hold_laws(const data_set& d) {
  std::size_t width = 1;
  for (const std::int64_t size : d.shape.sizes)
    width *= static_cast<std::size_t>(size);
  hold(d.features.size() == d.examples * width, "the features fill the examples' shape");
  for (const float feature : d.features.values())
    hold(std::isfinite(feature), "a feature is finite");
  for (const auto label : d.labels)
    hold(label >= 0 && static_cast<std::size_t>(label) < d.classes.size(),
         "a label is that of a class");
  for (const float target : d.targets)
    hold(std::isfinite(target), "a target is finite");
  hold((d.task == classification ? d.labels.size() : d.targets.size()) == d.examples,
       "each example has its target");
  std::vector<bool> seen(d.examples, false);
  for (const auto* part : {&d.train, &d.validation, &d.test}) {
    hold(!part->empty(), "no part is empty");
    for (const auto i : *part) {
      hold(i < d.examples && !seen[i], "the parts have no example twice");
      seen[i] = true;
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  data_params params = chosen(input);
  write_text(params.file, std::string(input.rest()));
  if (const auto inferred = infer_columns(params)) {
    const auto again = infer_columns(inferred->params);
    hold(again && again->params.columns == inferred->params.columns
             && again->params.ignore == inferred->params.ignore,
         "what was inferred is not inferred again");
    params = inferred->params;
  }
  const auto loaded = load_data(params, 1, data_cache{});
  if (!loaded)
    return refused(loaded);
  hold_laws(*loaded);
  const auto form = cached_form(*loaded);
  const auto parsed = parse_cached_form(form);
  hold(parsed && cached_form(*parsed) == form, "the cache keeps what was loaded");
  return 0;
}

#include "engine/training/network/data_folds.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace clade {
namespace {

struct dealt_example {
  std::int64_t label = 0; ///< 0 of a regression.
  std::uint64_t drawn = 0;
  std::int64_t index = 0;

  friend auto operator<=>(const dealt_example&, const dealt_example&) = default;
};

at::Tensor indices(std::vector<std::int64_t> values, const at::Device& device) {
  std::ranges::sort(values);
  return at::tensor(values, at::kLong).to(device);
}

} // namespace

bool folds_are_of_both(const device_data& data) {
  return data.train.size(0) + data.validation.size(0) < few_examples;
}

at::Tensor both_parts(const device_data& data) {
  return at::cat({data.train, data.validation});
}

device_data data_of_fold(const device_data& data, const data_fold& fold,
                         std::uint64_t seed) {
  if (fold.of < 2)
    return data;
  const bool few = folds_are_of_both(data);
  const auto dealt = (few ? both_parts(data) : data.validation).cpu().contiguous();
  const auto targets = data.targets.cpu().index_select(0, dealt).contiguous();
  const bool by_class = data.task.has_classes();
  auto random = derive(seed, purpose::split, 0, 1);
  std::vector<dealt_example> examples;
  for (std::int64_t i = 0; i < dealt.size(0); ++i)
    examples.push_back({.label = by_class ? targets.const_data_ptr<std::int64_t>()[i] : 0,
                        .drawn = random.next(),
                        .index = dealt.const_data_ptr<std::int64_t>()[i]});
  std::ranges::sort(examples);
  std::vector<std::int64_t> in, out;
  for (std::size_t i = 0; i < examples.size(); ++i)
    (i % fold.of == fold.index ? out : in).push_back(examples[i].index);
  auto of_fold = data;
  of_fold.train = indices(std::move(in), data.train.device());
  if (!few)
    of_fold.train = at::cat({data.train, of_fold.train});
  of_fold.validation = indices(std::move(out), data.train.device());
  return of_fold;
}

} // namespace clade

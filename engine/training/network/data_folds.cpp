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
  return data.parts_by_chance
         && data.train.size(0) + data.validation.size(0) < few_examples;
}

at::Tensor both_parts(const device_data& data) {
  return at::cat({data.train, data.validation});
}

device_data data_within(const device_data& data, std::int64_t most_bytes) {
  std::int64_t row_bytes = sizeof(float);
  for (std::int64_t d = 1; d < data.features.dim(); ++d)
    row_bytes *= data.features.size(static_cast<std::size_t>(d));
  const auto most =
      std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, row_bytes));
  const auto some = [&](const at::Tensor& part) {
    if (part.size(0) <= most)
      return part;
    const auto places = at::arange(most, part.options()) * part.size(0);
    return part.index_select(0, at::floor_divide(places, most));
  };
  auto out = data;
  out.train = some(data.train);
  out.validation = some(data.validation);
  out.test = some(data.test);
  return out;
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

// The positions that members keep on disk, and take over from each other when they meet.
#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/parted/parted_steps.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdio>

// A row of values is that of all parameters and buffers, one behind the other, in the
// order of `network_module::state` and as each lies in memory.

namespace clade {
namespace {

using row = kept_position::row;

// So many values travel at once when a member gets a position from another.
constexpr std::size_t block_of_values = 1 << 20;

constexpr std::uint32_t bit_of(row r) {
  return std::uint32_t{1} << r;
}

/// The facts that all members give of themselves when they meet.
struct introduction {
  std::uint64_t version = 0, done = 0;
};

template<class T>
void broadcast_value(links& l, std::size_t root, T& value) {
  broadcast(l, root, std::as_writable_bytes(std::span(&value, 1)));
}

} // namespace

position_of_others parted_steps::meet(links& l, std::uint64_t& done) {
  // Validation may be under way, whose tensors no step could change.
  const c10::InferenceMode none(false);
  if (kept_ == nullptr && !load_kept())
    keep_first();
  std::vector<introduction> all(l.members());
  all[l.own()] = {.version = kept_->about().version, .done = done};
  all_gather(l, bytes_of<introduction>(all));
  const auto newest = std::ranges::max_element(all, {}, &introduction::version);
  const auto same = std::ranges::count(all, newest->version, &introduction::version);
  if (same < std::ssize(all))
    send_kept(l, static_cast<std::size_t>(newest - all.begin()));
  done = std::ranges::max(all, {}, &introduction::done).done;
  keeps_next_ = false;
  kept_at_ = std::chrono::steady_clock::now();
  take_parts();
  return {.position = kept_->rest(), .parts = kept_tensors()};
}

// The network is whole yet, and so is what the loop has.
void parted_steps::keep_first() {
  auto [rest, tensors] = handed_.give_parts();
  std::uint32_t present = bit_of(row::weights);
  present |= tensors.best ? bit_of(row::best) : 0;
  present |= tensors.average ? bit_of(row::average) : 0;
  const auto kept = moments_of(rules_.recipe);
  if (!first_moments_.empty())
    present |= (kept.first ? bit_of(row::first_moments) : 0)
               | (kept.second ? bit_of(row::second_moments) : 0);
  auto first = std::make_unique<kept_position>(
      kept_position::header{.version = 0, .steps = first_count_, .present = present},
      std::move(rest), offsets_.back());
  const auto write = [&](row r, std::size_t tensor, const at::Tensor& values) {
    first->write(r, offsets_[tensor], memory_of(values));
  };
  for (std::size_t t = 0; t < net_.state().size(); ++t) {
    write(row::weights, t, net_.state()[t].tensor);
    if (tensors.best)
      write(row::best, t, (*tensors.best)[t]);
    if (tensors.average)
      write(row::average, t, (*tensors.average)[t]);
  }
  auto next = first_moments_.begin();
  for (const auto& group : parameters_by_group())
    for (const auto r : {row::first_moments, row::second_moments})
      for (const auto t : group) {
        if (!first->has(r))
          continue;
        const auto values = at::empty_like(net_.state()[t].tensor).detach();
        copy_to(values, *next++);
        write(r, t, values);
      }
  first_moments_.clear();
  kept_ = std::move(first);
}

// Members of one machine find one file and begin with it. Members that find another one,
// or none, get the newest of all when they meet.
bool parted_steps::load_kept() {
  if (handed_.files == nullptr)
    return false;
  for (const auto& file : handed_.files->files()) {
    auto loaded = kept_position::load(file, offsets_.back());
    const auto place = loaded.and_then(
        [](const auto& kept) { return decode_loop_position(kept->rest()); });
    if (!place) {
      position_files::pass_over(file, place.error());
      continue;
    }
    std::fprintf(stderr, "clade node: a training goes on in epoch %u\n", place->epoch);
    kept_ = std::move(*loaded);
    stored_ = kept_->about().version;
    first_moments_.clear();
    return true;
  }
  return false;
}

// A position with which every training begins needs no file.
void parted_steps::store_kept() {
  if (handed_.files == nullptr || kept_ == nullptr || kept_->about().version <= stored_
      || !handed_.files->is_keeper())
    return;
  stored_ = kept_->about().version;
  stored_at_ = std::chrono::steady_clock::now();
  handed_.files->keep([kept = kept_](int descriptor) { return kept->store(descriptor); });
}

std::optional<loop_position> parted_steps::leave() {
  std::fprintf(stderr, "clade node: a training keeps the last position of its team\n");
  store_kept();
  return std::nullopt;
}

void parted_steps::send_kept(links& l, std::size_t giver) {
  auto about = kept_->about();
  bytes rest = kept_->rest();
  std::uint64_t size = rest.size();
  broadcast_value(l, giver, about);
  broadcast_value(l, giver, size);
  rest.resize(size);
  broadcast(l, giver, std::as_writable_bytes(std::span(rest)));
  auto came = std::make_unique<kept_position>(about, std::move(rest), offsets_.back());
  std::vector<float> values;
  for (std::uint32_t r = 0; r < kept_position::rows; ++r)
    for (std::uint64_t at = 0; came->has(row(r)) && at < offsets_.back();
         at += values.size()) {
      values.resize(std::min<std::uint64_t>(block_of_values, offsets_.back() - at));
      if (l.own() == giver)
        kept_->read(row(r), at, values);
      broadcast(l, giver, bytes_of<float>(values));
      if (l.own() != giver)
        came->write(row(r), at, values);
    }
  if (l.own() != giver)
    kept_ = std::move(came);
}

void parted_steps::keep_if_due() {
  if (!keeps_next_)
    return;
  auto [rest, tensors] = handed_.give_parts();
  const auto first = own_moments(true), second = own_moments(false);
  const auto kept = moments_of(rules_.recipe);
  std::uint32_t present = bit_of(row::weights);
  present |= tensors.best ? bit_of(row::best) : 0;
  present |= tensors.average ? bit_of(row::average) : 0;
  present |= kept.first ? bit_of(row::first_moments) : 0;
  present |= kept.second ? bit_of(row::second_moments) : 0;
  auto next = std::make_unique<kept_position>(
      kept_position::header{
          .version = kept_->about().version + 1, .steps = count(), .present = present},
      std::move(rest), offsets_.back());
  together([&](links& l) {
    for (const auto& [r, values] :
         {std::pair{row::weights, own_values()},
          {row::best, tensors.best.value_or(tensor_list())},
          {row::average, tensors.average.value_or(tensor_list())},
          {row::first_moments, first},
          {row::second_moments, second}})
      if (next->has(r))
        write_row(l, *next, r, values);
  });
  kept_ = std::move(next);
  keeps_next_ = false;
  kept_at_ = std::chrono::steady_clock::now();
  if (kept_at_ - stored_at_ >= handed_.keep_every)
    store_kept();
}

void parted_steps::write_row(links& l, kept_position& to, row r,
                             const tensor_list& own) const {
  std::vector<float> values;
  for (std::size_t t = 0; t + 1 < offsets_.size(); ++t) {
    const bool of_optimiser = r == row::first_moments || r == row::second_moments;
    if (of_optimiser && !is_parameter(t))
      continue;
    values.resize(offsets_[t + 1] - offsets_[t]);
    gather(l, t, own, values);
    to.write(r, offsets_[t], values);
  }
}

tensor_list parted_steps::read_parts(row r) const {
  tensor_list all;
  for (const auto& o : own_) {
    all.push_back(at::zeros_like(o.values).detach());
    kept_->read(r, offsets_[o.which.tensor] + static_cast<std::uint64_t>(o.which.begin),
                o.in(all.back()));
  }
  return all;
}

loop_tensors parted_steps::kept_tensors() const {
  loop_tensors all;
  if (kept_->has(row::best))
    all.best = read_parts(row::best);
  if (kept_->has(row::average))
    all.average = read_parts(row::average);
  return all;
}

} // namespace clade

#include "engine/training/asked/recipe.hpp"

#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace clade {
namespace {

constexpr hyperparameter_entry entries[]{
    {"batch_size", "Examples in a batch."},
    {"color",
     "The contrast of each channel of an image is changed by up to this share, and "
     "its brightness by up to this share of the whole scale; 0 for never."},
    {"cutout", "The side, in pixels, of a square that each image loses at a place of "
               "chance; 0 for none."},
    {"ema",
     "Decay of an exponential average of the weights, such as 0.99: the average is "
     "what is validated and kept; 0 for none."},
    {"flip",
     "\"yes\" mirrors images left to right by an even chance, and a final model says the "
     "mean of what it says of both sides; \"no\" does not."},
    {"gradient_clip",
     "The largest norm of all gradients together; longer ones are scaled "
     "down to it; 0 for no limit."},
    {"jitter",
     "The deviation of the noise that each value of a sequence gets, in deviations "
     "of the channel; 0 for none."},
    {"label_smoothing", "Share of the target that is spread over all classes."},
    {"learning_rate", "At the start of training, or after the warm-up."},
    {"mixup",
     "Each example is mixed with another one, and so are their losses, by a share "
     "drawn from Beta(mixup, mixup) for each batch; 0 for never."},
    {"momentum", "SGD's and Muon's, and the first beta of Adam and AdamW."},
    {"optimizer",
     "\"sgd\", \"adam\", \"adamw\" or \"muon\": Muon for all weights but the output "
     "layer's, and AdamW for the rest, by the same learning rate. Where devices divide a "
     "network's state, or servers hold it, AdamW is for all."},
    {"rotation", "Images are turned by up to this many degrees either way, at most 180."},
    {"scaling", "Sequences are multiplied by a factor of chance, from 1 - this to 1 + "
                "this; 0 for never."},
    {"schedule", "How the learning rate goes: \"constant\", \"cosine\", \"step\" or "
                 "\"one_cycle\" (cosine after a warm-up of 0.3)."},
    {"shift", "Images are moved by up to this many pixels either way."},
    {"slice",
     "A part of a sequence, shorter than it by up to this share, is stretched to "
     "the whole; 0 for never."},
    {"stochastic_depth",
     "The chance with which training leaves out the last residual branch of a network "
     "for an example, at most 0.8; the first branches of many have a small part of it. "
     "0 for never. Of residual, convnext, inverted_residual, residual_dense, "
     "residual1d, inception1d and transformer."},
    {"time_shift",
     "Sequences are moved along time by up to this share of their steps either way, the "
     "value at the end being repeated; 0 for never."},
    {"warmup",
     "Share of the steps in which the learning rate rises, before the schedule."},
    {"weight_decay", "Of weights; biases and norms are left alone."},
    {"zoom", "Images are made larger or smaller by up to this share; 0 for never."}};

constexpr std::array<std::pair<std::string_view, optimiser_kind>, 4> optimisers{
    {{"sgd", optimiser_kind::sgd},
     {"adam", optimiser_kind::adam},
     {"adamw", optimiser_kind::adamw},
     {"muon", optimiser_kind::muon}}};

constexpr std::array<std::pair<std::string_view, schedule_kind>, 4> schedules{
    {{"constant", schedule_kind::constant},
     {"cosine", schedule_kind::cosine},
     {"step", schedule_kind::step},
     {"one_cycle", schedule_kind::one_cycle}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> answers{
    {{"no", false}, {"yes", true}}};

// Image data are rarely larger, and an example shifted by more has left its frame.
constexpr std::int64_t max_shift = 64;
// The least warm-up of a rate that was raised for the batch of several devices.
constexpr double least_shared_warmup = 0.05;
constexpr std::int64_t max_cutout = 64;
constexpr double max_time_shift = 0.5;
constexpr double max_rotation = 180;
// A part of some length stays, and a size above 0.
constexpr double max_slice = 0.9, max_zoom = 0.9;
constexpr double max_color = 1;
constexpr double max_jitter = 10;
// A factor stays above 0.
constexpr double max_scaling = 0.9;
constexpr std::int64_t max_batch_size = 1 << 20;
constexpr double max_warmup = 0.5;
constexpr double max_stochastic_depth = 0.8;
// Beyond, all examples are about half of each of two, and drawing shares takes long.
constexpr double max_mixup = 4;

constexpr double one_cycle_warmup = 0.3;
constexpr double first_rate = 1.0 / 25; // The share of the rate after the warm-up.

// Reads settings one after another; the first error sticks.
class reading {
public:
  explicit reading(const std::vector<setting>& settings) : settings_(settings) {}

  void number(std::string_view name, double& into) {
    const auto* v = find(settings_, name);
    if (v == nullptr)
      return;
    if (const auto* real = std::get_if<double>(v))
      into = *real;
    else if (const auto* whole = std::get_if<std::int64_t>(v))
      into = static_cast<double>(*whole);
    else
      complain(name, "is no number");
  }

  void whole(std::string_view name, std::int64_t& into) {
    const auto* v = find(settings_, name);
    if (v == nullptr)
      return;
    if (const auto* whole = std::get_if<std::int64_t>(v))
      into = *whole;
    else
      complain(name, "is no whole number");
  }

  void text(std::string_view name, std::string& into) {
    const auto* v = find(settings_, name);
    if (v == nullptr)
      return;
    if (const auto* text = std::get_if<std::string>(v))
      into = *text;
    else
      complain(name, "is no word");
  }

  template<class Kind, std::size_t Size>
  Kind one_of(std::string_view name, const std::string& word,
              const std::array<std::pair<std::string_view, Kind>, Size>& kinds) {
    std::string known;
    for (const auto& [text, kind] : kinds) {
      if (text == word)
        return kind;
      known += (known.empty() ? "" : ", ") + std::string(text);
    }
    complain(name, fmt::format("is \"{}\"; there are {}", word, known));
    return kinds.front().second;
  }

  void require(bool holds, std::string_view name, const std::string& what) {
    if (!holds)
      complain(name, what);
  }

  void complain(std::string_view name, const std::string& what) {
    if (!error_)
      error_ = fmt::format("{} {}", name, what);
  }

  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }

private:
  const std::vector<setting>& settings_;
  std::optional<std::string> error_;
};

void check_ranges(reading& in, const recipe& r) {
  const auto finite_in = [](double v, double low, double high) {
    return v >= low && v <= high;
  };
  in.require(finite_in(r.learning_rate, 0, 1e6) && r.learning_rate > 0, "learning_rate",
             "is not above 0");
  in.require(finite_in(r.momentum, 0, 1) && r.momentum < 1, "momentum",
             "is not in [0, 1)");
  in.require(finite_in(r.weight_decay, 0, 1e6), "weight_decay", "is below 0");
  in.require(r.batch_size >= 1 && r.batch_size <= max_batch_size, "batch_size",
             fmt::format("is not in [1, {}]", max_batch_size));
  in.require(finite_in(r.label_smoothing, 0, 1) && r.label_smoothing < 1,
             "label_smoothing", "is not in [0, 1)");
  in.require(r.shift >= 0 && r.shift <= max_shift, "shift",
             fmt::format("is not in [0, {}]", max_shift));
  in.require(r.cutout >= 0 && r.cutout <= max_cutout, "cutout",
             fmt::format("is not in [0, {}]", max_cutout));
  in.require(finite_in(r.time_shift, 0, max_time_shift), "time_shift",
             "is not in [0, 0.5]");
  in.require(finite_in(r.scaling, 0, max_scaling), "scaling", "is not in [0, 0.9]");
  in.require(finite_in(r.rotation, 0, max_rotation), "rotation", "is not in [0, 180]");
  in.require(finite_in(r.zoom, 0, max_zoom), "zoom", "is not in [0, 0.9]");
  in.require(finite_in(r.color, 0, max_color), "color", "is not in [0, 1]");
  in.require(finite_in(r.slice, 0, max_slice), "slice", "is not in [0, 0.9]");
  in.require(finite_in(r.jitter, 0, max_jitter), "jitter", "is not in [0, 10]");
  in.require(finite_in(r.warmup, 0, max_warmup), "warmup", "is not in [0, 0.5]");
  in.require(finite_in(r.mixup, 0, max_mixup), "mixup", "is not in [0, 4]");
  in.require(finite_in(r.gradient_clip, 0, 1e6), "gradient_clip",
             "is not in [0, 1000000]");
  in.require(finite_in(r.ema, 0, 1) && r.ema < 1, "ema", "is not in [0, 1)");
  in.require(finite_in(r.stochastic_depth, 0, max_stochastic_depth), "stochastic_depth",
             "is not in [0, 0.8]");
}

double falling_rate(const recipe& r, double done) {
  switch (r.schedule) {
  case schedule_kind::constant:
    break;
  case schedule_kind::cosine:
  case schedule_kind::one_cycle:
    return r.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
  case schedule_kind::step:
    return r.learning_rate * (done < 0.5 ? 1.0 : done < 0.75 ? 0.1 : 0.01);
  }
  return r.learning_rate;
}

void share_among_devices(recipe& r, const distribution_params& d) {
  const auto* row = find_distribution(d.name);
  if (row == nullptr || d.devices <= 1)
    return; // `validate` says what is wrong.
  r.divides_state = row->divides_state;
  const bool has_parts = r.divides_state || row->receivers != gradient_receivers::none;
  if (has_parts && r.optimiser == optimiser_kind::muon)
    r.optimiser = optimiser_kind::adamw; // Muon changes whole weights.
  if (!row->data_parallel)
    return;
  r.devices = d.shares();
  r.batch_size *= r.devices;
  if (!d.synchronous() || !d.scale_learning_rate)
    return;
  r.learning_rate *= r.devices;
  if (r.schedule != schedule_kind::one_cycle) // Which has one.
    r.warmup = std::max(r.warmup, least_shared_warmup);
}

} // namespace

std::span<const hyperparameter_entry> hyperparameters() {
  return entries;
}

const hyperparameter_entry* find_hyperparameter(std::string_view name) {
  const auto* found =
      std::ranges::find(entries, american(name), &hyperparameter_entry::name);
  return found == std::end(entries) ? nullptr : found;
}

const char* to_text(optimiser_kind o) {
  for (const auto& [text, kind] : optimisers)
    if (kind == o)
      return text.data(); // A literal.
  return "";
}

expected<recipe> recipe_of(const training_params& defaults,
                           const std::vector<setting>& hyperparameters) {
  recipe r{.learning_rate = defaults.learning_rate,
           .warmup = defaults.warmup,
           .momentum = defaults.momentum,
           .weight_decay = defaults.weight_decay,
           .batch_size = defaults.batch_size,
           .cutout = defaults.cutout,
           .mixup = defaults.mixup,
           .gradient_clip = defaults.gradient_clip,
           .ema = defaults.ema};
  reading in(hyperparameters);
  std::string optimiser = defaults.optimiser;
  std::string schedule = defaults.schedule;
  // Genomes of earlier versions have the British name.
  const char* optimizer_name =
      find(hyperparameters, "optimiser") == nullptr ? "optimizer" : "optimiser";
  in.text(optimizer_name, optimiser);
  in.text("schedule", schedule);
  r.optimiser = in.one_of(optimizer_name, optimiser, optimisers);
  r.schedule = in.one_of("schedule", schedule, schedules);
  in.number("learning_rate", r.learning_rate);
  in.number("momentum", r.momentum);
  in.number("weight_decay", r.weight_decay);
  in.number("label_smoothing", r.label_smoothing);
  in.whole("batch_size", r.batch_size);
  in.number("warmup", r.warmup);
  in.number("mixup", r.mixup);
  in.number("gradient_clip", r.gradient_clip);
  in.number("ema", r.ema);
  in.number("stochastic_depth", r.stochastic_depth);
  in.whole("shift", r.shift);
  in.whole("cutout", r.cutout);
  in.number("time_shift", r.time_shift);
  in.number("scaling", r.scaling);
  in.number("rotation", r.rotation);
  in.number("zoom", r.zoom);
  in.number("color", r.color);
  in.number("slice", r.slice);
  in.number("jitter", r.jitter);
  std::string flip = defaults.flip ? "yes" : "no";
  in.text("flip", flip);
  r.flip = in.one_of("flip", flip, answers);
  check_ranges(in, r);
  if (in.error())
    return fail(error_kind::invalid_input, *in.error());
  share_among_devices(r, defaults.distribution);
  return r;
}

double learning_rate_at(const recipe& r, double done) {
  const double warmup = r.schedule == schedule_kind::one_cycle && r.warmup == 0
                            ? one_cycle_warmup
                            : r.warmup;
  if (done < warmup)
    return r.learning_rate * (first_rate + (1 - first_rate) * done / warmup);
  return falling_rate(r, warmup > 0 ? (done - warmup) / (1 - warmup) : done);
}

std::uint64_t state_copies(const recipe& r) {
  const std::uint64_t average = r.ema > 0 ? 1 : 0;
  const std::uint64_t moments =
      r.optimiser != optimiser_kind::sgd ? 2 : (r.momentum > 0 ? 1 : 0);
  // The weights and gradients of the first replica are not counted here.
  const std::uint64_t states = r.divides_state ? 1 : r.devices;
  return average + states * (2 + moments) - 2;
}

} // namespace clade

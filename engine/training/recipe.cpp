#include "engine/training/recipe.hpp"

#include "search_spaces/spelling.hpp"

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
    {"flip", "\"yes\" mirrors images left to right by an even chance; \"no\" does not."},
    {"label_smoothing", "Share of the target that is spread over all classes."},
    {"learning_rate", "At the start of training."},
    {"momentum", "SGD's, and the first beta of Adam and AdamW."},
    {"optimizer", "\"sgd\", \"adam\" or \"adamw\"."},
    {"schedule", "How the learning rate falls: \"constant\", \"cosine\" or \"step\"."},
    {"shift", "Images are moved by up to this many pixels either way."},
    {"weight_decay", "Of weights; biases and norms are left alone."}};

constexpr std::array<std::pair<std::string_view, optimiser_kind>, 3> optimisers{
    {{"sgd", optimiser_kind::sgd},
     {"adam", optimiser_kind::adam},
     {"adamw", optimiser_kind::adamw}}};

constexpr std::array<std::pair<std::string_view, schedule_kind>, 3> schedules{
    {{"constant", schedule_kind::constant},
     {"cosine", schedule_kind::cosine},
     {"step", schedule_kind::step}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> answers{
    {{"no", false}, {"yes", true}}};

// Image data are rarely larger, and an example shifted by more has left its frame.
constexpr std::int64_t max_shift = 64;
constexpr std::int64_t max_batch_size = 1 << 20;

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
    complain(name, "is \"" + word + "\"; there are " + known);
    return kinds.front().second;
  }

  void require(bool holds, std::string_view name, const std::string& what) {
    if (!holds)
      complain(name, what);
  }

  void complain(std::string_view name, const std::string& what) {
    if (!error_)
      error_ = std::string(name) + " " + what;
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
             "is not in [1, " + std::to_string(max_batch_size) + "]");
  in.require(finite_in(r.label_smoothing, 0, 1) && r.label_smoothing < 1,
             "label_smoothing", "is not in [0, 1)");
  in.require(r.shift >= 0 && r.shift <= max_shift, "shift",
             "is not in [0, " + std::to_string(max_shift) + "]");
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
           .momentum = defaults.momentum,
           .weight_decay = defaults.weight_decay,
           .batch_size = defaults.batch_size};
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
  in.whole("shift", r.shift);
  std::string flip = "no";
  in.text("flip", flip);
  r.flip = in.one_of("flip", flip, answers);
  check_ranges(in, r);
  if (in.error())
    return fail(error_kind::invalid_input, *in.error());
  return r;
}

double learning_rate_at(const recipe& r, double done) {
  switch (r.schedule) {
  case schedule_kind::constant:
    break;
  case schedule_kind::cosine:
    return r.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
  case schedule_kind::step:
    return r.learning_rate * (done < 0.5 ? 1.0 : done < 0.75 ? 0.1 : 0.01);
  }
  return r.learning_rate;
}

std::uint64_t state_copies(const recipe& r) {
  if (r.optimiser == optimiser_kind::sgd)
    return r.momentum > 0 ? 1 : 0;
  return 2;
}

} // namespace clade

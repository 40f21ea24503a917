// The composites for tables. The residual block is the one of Gorishniy et al.,
// "Revisiting Deep Learning Models for Tabular Data" (NeurIPS 2021); the embeddings are
// of Gorishniy et al., "On Embeddings for Numerical Features in Tabular Deep Learning"
// (NeurIPS 2022).
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_settings.hpp"
#include "search_spaces/rows/part_assembly.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

using namespace operator_settings;

using settings_list = std::vector<setting>;
using parts = std::vector<layer_part>;

constexpr std::array<std::string_view, 3> first_norms{"batch", "layer", "none"};
constexpr setting_entry first_norm_entry{
    .name = "norm",
    .type = kind::text,
    .words = first_norms,
    .sentence = "What the operator batch_norm or layer_norm does, before the first map."};
constexpr setting_entry dropout_entry{
    .name = "dropout",
    .type = kind::real,
    .low = 0,
    .high = 0.95,
    .fallback = 0,
    .sentence = "The share that is forgotten behind each map while training."};
constexpr setting_entry hidden_entry{
    .name = "hidden",
    .type = kind::real,
    .low = 0.25,
    .high = 8,
    .fallback = 2,
    .sentence = "Units between the two maps for each unit that comes out."};
constexpr setting_entry block_units_entry{.name = "units",
                                          .low = 1,
                                          .high = widest_composite,
                                          .fallback = 64,
                                          .width = true,
                                          .sentence = units_entry.sentence};

constexpr std::array<std::string_view, 2> embedding_kinds{"piecewise", "periodic"};
constexpr setting_entry embedding_entry{
    .name = "kind",
    .type = kind::text,
    .words = embedding_kinds,
    .sentence = "piecewise: how far it is through each bin; periodic: cosines and sines, "
                "then a linear map of each number, then relu."};
constexpr setting_entry embedding_width_entry{
    .name = "width",
    .low = each_width_entry.low,
    .high = each_width_entry.high,
    .fallback = each_width_entry.fallback,
    .sentence = "Features that each number becomes where the kind is periodic."};

constexpr std::array embed_numbers_settings{
    bins_entry, frequencies_entry, embedding_entry, sigma_entry, embedding_width_entry};
constexpr std::array residual_dense_settings{inner_activation_entry, dropout_entry,
                                             hidden_entry,           first_norm_entry,
                                             repeats_entry,          block_units_entry};

parts residual_dense_parts(const composite_input& in, const settings_list& settings) {
  const auto units = integer_setting(settings, "units");
  const auto hidden = std::max<std::int64_t>(
      std::llround(real_setting(settings, "hidden") * static_cast<double>(units)), 1);
  const auto& norm = text_setting(settings, "norm");
  part_assembly all;
  const auto drop = [&](const char* name) {
    if (const auto rate = real_setting(settings, "dropout"); rate > 0)
      all.then(name, "dropout", {{"rate", rate}});
  };
  if (in.shape.sizes[0] != units)
    all.then("entry", "dense", {{"units", units}});
  for (std::int64_t i = 1; i <= integer_setting(settings, "repeats"); ++i) {
    all.begin_repetition(i);
    const auto before = all.last();
    if (norm != "none")
      all.then("norm", norm == "batch" ? "batch_norm" : "layer_norm");
    all.then("dense1", "dense",
             {{"activation", text_setting(settings, "activation")}, {"units", hidden}});
    drop("dropout1");
    all.then("dense2", "dense", {{"units", units}}).starts_at_zero = true;
    drop("dropout2");
    all.add_to(before);
  }
  return all.take();
}

parts embed_numbers_parts(const composite_input& in, const settings_list& settings) {
  const auto features = in.shape.sizes[0];
  std::vector<std::int64_t> numbers, others;
  for (std::int64_t i = 0; i < features; ++i) {
    const bool number = in.numbers.empty() || in.numbers[static_cast<std::size_t>(i)];
    (number ? numbers : others).push_back(i);
  }
  part_assembly all;
  const auto select = [&](const char* name, const std::vector<std::int64_t>& which) {
    all.go_on_from(0);
    all.then(name, "select", {{"outputs", std::ssize(which)}}).selected = which;
  };
  if (numbers.empty()) {
    select("others", others);
    return all.take();
  }
  if (!others.empty())
    select("numbers", numbers);
  if (text_setting(settings, "kind") == "piecewise") {
    all.then("bins", "piecewise", {{"bins", integer_setting(settings, "bins")}});
  } else {
    all.then("waves", "periodic",
             {{"frequencies", integer_setting(settings, "frequencies")},
              {"sigma", real_setting(settings, "sigma")}});
    all.then(
        "map", "map_each",
        {{"groups", std::ssize(numbers)}, {"width", integer_setting(settings, "width")}});
    all.activate("activation", "relu");
  }
  const auto embedded = all.last();
  if (!others.empty()) {
    select("others", others);
    all.join("joined", "concat", {embedded, all.last()});
  }
  return all.take();
}

constexpr std::array table{
    operator_entry{.name = "embed_numbers",
                   .summary = "several features for each number of a table",
                   .details =
                       "Directly behind the input, categories and the other inputs "
                       "that are 0 or 1 pass as they are, behind the numbers; "
                       "elsewhere every feature counts as a number.",
                   .output = "[numbers * bins + others] or [numbers * width + others]",
                   .costs = "what piecewise, or periodic, map_each and relu, cost",
                   .settings = embed_numbers_settings,
                   .units = unit_origin::made,
                   .takes = vectors,
                   .parts = embed_numbers_parts},
    operator_entry{.name = "residual_dense",
                   .summary = "blocks of two dense layers, each added to what enters it",
                   .details = "Norm, a map to `hidden` times the units, activation, "
                              "dropout, a map back to the units, dropout, and the sum "
                              "with what entered. Where another number of features "
                              "enters, a linear map comes first. The branch adds "
                              "nothing at first.",
                   .output = "[units]",
                   .costs = "what its dense layers, norms, dropouts and sums cost",
                   .settings = residual_dense_settings,
                   .units = unit_origin::made,
                   .takes = vectors,
                   .parts = residual_dense_parts},
};

} // namespace

std::span<const operator_entry> table_composites() {
  return table;
}

} // namespace clade

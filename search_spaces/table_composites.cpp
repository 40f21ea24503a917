// The composites for tables. The residual block is the one of Gorishniy et al.,
// "Revisiting Deep Learning Models for Tabular Data" (NeurIPS 2021).
#include "search_spaces/composite_operators.hpp"
#include "search_spaces/operator_settings.hpp"
#include "search_spaces/part_assembly.hpp"

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

constexpr std::array residual_dense_settings{inner_activation_entry, dropout_entry,
                                             hidden_entry,           first_norm_entry,
                                             repeats_entry,          block_units_entry};

parts residual_dense_parts(const tensor_shape& in, const settings_list& settings) {
  const auto units = integer_setting(settings, "units");
  const auto hidden = std::max<std::int64_t>(
      std::llround(real_setting(settings, "hidden") * static_cast<double>(units)), 1);
  const auto& norm = text_setting(settings, "norm");
  part_assembly all;
  const auto drop = [&](const char* name) {
    if (const auto rate = real_setting(settings, "dropout"); rate > 0)
      all.then(name, "dropout", {{"rate", rate}});
  };
  if (in.sizes[0] != units)
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

constexpr std::array table{
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

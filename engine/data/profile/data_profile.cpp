// A kind of data is known by its file's name and first bytes; the rows of the table below
// are asked in turn.

#include "engine/data/profile/data_profile.hpp"

#include "engine/data/bytes/files_beside.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/suspicions.hpp"
#include "engine/data/profile/target_guess.hpp"
#include "genome/base/text.hpp"

#include <algorithm>
#include <array>

namespace clade {
namespace {

bool is_cifar(const std::filesystem::path& file, std::string_view bytes) {
  return format_of(file, bytes) == data_format::cifar;
}

bool is_array(const std::filesystem::path& file, std::string_view bytes) {
  const auto format = format_of(file, bytes);
  return format == data_format::idx || format == data_format::npy
         || format == data_format::npz;
}

bool is_series(const std::filesystem::path& file, std::string_view bytes) {
  return format_of(file, bytes) == data_format::series;
}

bool is_anything(const std::filesystem::path&, std::string_view) {
  return true;
}

constexpr std::array<data_kind, 4> kinds{{
    {"CIFAR", is_cifar, profile_cifar},
    {"array", is_array, profile_array},
    {"series", is_series, profile_series},
    {"CSV", is_anything, profile_csv},
}};

} // namespace

std::span<const data_kind> data_kinds() {
  return kinds;
}

std::string data_profile::label(std::size_t column) const {
  const std::string& name = table.columns[column].name;
  const auto same = std::ranges::count(table.columns, name, &column_profile::name);
  return name.empty() || same > 1 ? std::to_string(column + 1) : name;
}

std::vector<std::string> data_profile::target_labels() const {
  std::vector<std::string> labels;
  for (const std::size_t i : targets)
    labels.push_back(label(i));
  return labels;
}

bool data_profile::names_steps(std::size_t column) const {
  const std::string name = label(column);
  return name == forecast.time
         || std::ranges::find(forecast.series, name) != forecast.series.end();
}

bool data_profile::is_channel(std::size_t column) const {
  const auto& c = table.columns[column];
  return !is_apart(column) && split_column != label(column) && !names_steps(column)
         && (c.kind == column_kind::number
             || (c.kind == column_kind::constant && c.numbers == c.values()
                 && c.values() > 0)
             || (c.kind == column_kind::identifier && c.numbers == c.values()));
}

learning_task task_for(const data_profile& p, const profile_request& request) {
  if (request.task)
    return *request.task;
  if (p.outputs > 1)
    return p.target.whole && p.target.minimum >= 0.0 && p.target.maximum <= 1.0
               ? multilabel
               : regression;
  // Images have labels, unless these are of a type for fractions.
  if (p.image() && p.target_whole)
    return classification;
  if (p.targets.empty())
    return task_of(p.target);
  const bool labels = std::ranges::all_of(p.targets, [&](std::size_t i) {
    const auto& c = p.table.columns[i];
    return c.kind == column_kind::yes_no
           || (c.whole && c.minimum >= 0.0 && c.maximum <= 1.0);
  });
  return labels ? multilabel : regression;
}

void finish_profile(data_profile& p, const profile_request& request,
                    std::span<const std::string> class_names) {
  p.task = task_for(p, request);
  p.task_guessed = !request.task.has_value();
  p.quantiles = request.quantiles;
  if (p.task.has_classes())
    p.classes = p.target.frequent;
  for (value_count& c : p.classes) {
    const auto n = parse_number<std::size_t>(c.value);
    if (n && *n < class_names.size())
      c.value = class_names[*n];
  }
  choose_split(p);
  add_suspicions(p);
}

split_shares data_profile::shares() const {
  constexpr std::uint64_t many = 5000;
  // So many examples tell models apart as well as more would, which cost their time: much
  // where an example is an image or a series.
  const bool rows_of_table = shape.sizes.size() < 2;
  const double to_choose = rows_of_table ? 50'000 : 10'000;
  const double to_test = rows_of_table ? 50'000 : 20'000;
  const auto at_most = [&](double share, double enough) {
    const auto thousandths = 1000 * enough / static_cast<double>(rows);
    return share * static_cast<double>(rows) <= enough
               ? share
               : std::max(1.0, std::floor(thousandths)) / 1000;
  };
  const double validation = at_most(rows >= many ? 0.1 : 0.2, to_choose);
  const double test = test_file.empty() && test_array.empty() ? at_most(0.2, to_test) : 0;
  // Rounded to what a person would write, and not .6999999999999999.
  return {.train = std::round((1 - validation - test) * 1000) / 1000,
          .validation = validation,
          .test = test};
}

expected<data_profile> profile_data(const profile_request& request) {
  if (is_folder(request.file))
    return is_text_folder(request.file) ? profile_texts(request)
                                        : profile_images(request);
  const auto front = read_front(request.file, telling_bytes);
  if (!front)
    return tl::unexpected(front.error());
  const auto kind = std::ranges::find_if(
      kinds, [&](const data_kind& k) { return k.recognises(request.file, *front); });
  auto found = kind->profile(request);
  if (found && !request.test_file.empty()) {
    found->test_file = request.test_file;
    found->test_target_file = found->target_file.empty()
                                  ? std::filesystem::path()
                                  : target_file_beside(request.test_file).value_or("");
  }
  return found;
}

} // namespace clade

#include "engine/data/reading/image_examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

/// Texts and their codes, in order of appearance.
struct code_book {
  std::vector<std::string> texts;
  std::unordered_map<std::string, std::uint32_t> codes;

  std::uint32_t code_of(const std::string& text) {
    const auto [at, fresh] =
        codes.emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (fresh)
      texts.push_back(text);
    return at->second;
  }
};

/// The targets of images: the names of their folders, or what a table says.
new_targets targets_of(const decoded_images& images, const number_form& form,
                       const preprocessing& how) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  new_targets out;
  for (const std::string& text : images.classes) {
    if (!how.task.has_classes()) {
      const auto number = field_number(text, form);
      out.values.push_back(number.value_or(none));
      out.blanks += number ? 0 : 1;
      continue;
    }
    const auto known = std::ranges::find(how.classes, text);
    const bool is_known = known != how.classes.end();
    out.values.push_back(is_known ? static_cast<double>(known - how.classes.begin())
                                  : none);
    out.blanks += text.empty() ? 1 : 0;
    if (is_known || text.empty())
      continue;
    ++out.unknown;
    out.example = text;
  }
  return out;
}

raw_rows rows_of(decoded_images images, const std::string& origin,
                 const number_form& form, const preprocessing& how) {
  raw_rows out{.origin = origin, .count = images.names.size(), .values = {}};
  if (std::ranges::any_of(images.classes,
                          [](const std::string& c) { return !c.empty(); }))
    out.targets = targets_of(images, form, how);
  out.notes = std::move(images.notes);
  out.names = std::move(images.names);
  out.values = std::move(images.pixels);
  return out;
}

} // namespace

expected<examples> read_listed_images(std::string_view text,
                                      const std::filesystem::path& table,
                                      const data_params& params) {
  const auto list = parse_image_list(text, table.string(), params);
  if (!list)
    return tl::unexpected(list.error());
  auto read = read_images(image_folder_of(table, params), list->files, params);
  if (!read)
    return tl::unexpected(std::move(read).error());
  auto& out = read->all;
  out.target = list->target;
  out.decimal = list->number.decimal;
  out.dropped = list->dropped;
  code_book classes, splits;
  for (const auto i : read->decoded) {
    if (!list->splits.empty())
      out.split_codes.push_back(splits.code_of(list->splits[i]));
    if (params.task.has_classes()) {
      out.labels.push_back(classes.code_of(list->targets[i]));
      continue;
    }
    const auto number = field_number(list->targets[i], list->number);
    if (!number || !std::isfinite(*number)
        || std::abs(*number) > std::numeric_limits<float>::max())
      return wrong(fmt::format("{}:{}", table.string(), list->lines[i]),
                   fmt::format("the target \"{}\" is no number; for classes say task = "
                               "\"classification\"",
                               list->targets[i]));
    out.targets.push_back(*number);
  }
  out.classes = std::move(classes.texts);
  out.split_values = std::move(splits.texts);
  return std::move(out);
}

expected<raw_rows> read_raw_images(const std::filesystem::path& path,
                                   const preprocessing& how) {
  if (how.shape.layout() != layout::image)
    return wrong(path.string(), "holds images, and the training data has none");
  return decode_images(path, how.shape).map([&](decoded_images&& images) {
    if (!how.task.has_classes())
      images.classes.clear(); // Folders say no numbers.
    return rows_of(std::move(images), path.string(), {}, how);
  });
}

expected<raw_rows> read_raw_listed_images(std::string_view text,
                                          const std::filesystem::path& table,
                                          const data_params& params,
                                          const preprocessing& how) {
  auto list = parse_image_list(text, table.string(), params, listed_rows::to_predict);
  if (!list)
    return tl::unexpected(list.error());
  std::error_code unknown;
  const bool beside =
      std::filesystem::exists(table.parent_path() / list->files.front(), unknown);
  return decode_images(beside ? table.parent_path() : image_folder_of(table, params),
                       list->files, std::move(list->targets), how.shape)
      .map([&](decoded_images&& images) {
        return rows_of(std::move(images), table.string(), list->number, how);
      });
}

} // namespace clade

#include "engine/data/reading/image_examples.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/code_book.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/tables/csv_head.hpp"
#include "engine/data/tables/label_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

raw_rows rows_of(decoded_images images, const std::string& origin,
                 const number_form& form, const preprocessing& how) {
  raw_rows out{.origin = origin, .count = images.names.size(), .values = {}};
  const std::size_t each = images.classes.size() / images.names.size();
  const auto is_blank = [&](std::string_view text) {
    return lacks_target(text, how.task, each > 1);
  };
  if (std::ranges::any_of(images.classes,
                          [](const std::string& c) { return !c.empty(); }))
    out.targets = read_targets(
        images.classes,
        {is_blank, [&](std::string_view text) { return field_number(text, form); }}, how,
        each);
  out.notes = std::move(images.notes);
  out.names = std::move(images.names);
  out.values = std::move(images.pixels);
  return out;
}

/// The number that is the target, or 1 of a label that the image has.
expected<double> target_value(std::string_view text, const number_form& form,
                              const learning_task& task) {
  if (task.has_labels()) {
    if (const auto said = field_yes_no(text))
      return *said ? 1.0 : 0.0;
    return fail(error_kind::invalid_input,
                fmt::format("a label is {}, where 1 or 0, or yes or no, must be",
                            in_quotes(text)));
  }
  const auto number = field_number(text, form);
  if (number && is_finite_float(*number))
    return *number;
  return fail(error_kind::invalid_input,
              fmt::format("the target {} is no number; for classes say task = "
                          "\"classification\"",
                          in_quotes(text)));
}

expected<image_list> image_list_of(data_file table, const std::filesystem::path& file,
                                   const data_params& params) {
  const auto written = params_of(table, params);
  return text_of_file(std::move(table.bytes), file.string(), written.encoding)
      .and_then([&](const csv_text& text) {
        return parse_image_list(text.text, file.string(), written);
      });
}

} // namespace

expected<examples> read_listed_images(data_file table, const std::filesystem::path& file,
                                      const data_params& params) {
  const auto checksum = table.checksum;
  const auto list = image_list_of(std::move(table), file, params);
  if (!list)
    return tl::unexpected(list.error());
  auto read = read_images(image_folder_of(file, params), list->files, params);
  if (!read)
    return tl::unexpected(std::move(read).error());
  auto& out = read->all;
  out.target = list->target;
  out.decimal = list->numbers.front().decimal;
  out.dropped = list->dropped;
  code_book classes, splits;
  const std::size_t columns = list->numbers.size();
  for (const auto i : read->decoded) {
    if (!list->splits.empty())
      out.split_codes.push_back(splits.code_of(list->splits[i]));
    if (list->several.empty() && !params.task.has_numbers()) {
      out.labels.push_back(classes.code_of(list->targets[i]));
      continue;
    }
    for (std::size_t k = 0; k < columns; ++k) {
      const auto value =
          target_value(list->targets[i * columns + k], list->numbers[k], params.task);
      if (!value)
        return fail_in(fmt::format("{}:{}", file.string(), list->lines[i]),
                       value.error());
      out.targets.push_back(*value);
    }
  }
  out.classes = list->several.empty() ? std::move(classes.texts) : list->several;
  out.split_values = std::move(splits.texts);
  if (list->several.empty() && params.task.has_labels())
    take_label_lists(out);
  out.checksum = both(checksum, out.checksum);
  return std::move(out);
}

expected<genome_hash> checksum_of_listed(data_file table,
                                         const std::filesystem::path& file,
                                         const data_params& params) {
  const auto checksum = table.checksum;
  return image_list_of(std::move(table), file, params).map([&](const image_list& list) {
    return both(checksum, checksum_of(image_folder_of(file, params), list.files));
  });
}

expected<std::optional<table_images>> images_of_tables(const data_params& params) {
  if (params.images.empty())
    return std::nullopt;
  table_images out{.folder = image_folder_of(params.file, params), .files = {}};
  for (const auto& from : {std::optional(training_files(params)), test_files(params)}) {
    if (!from)
      continue;
    const auto& file = from->examples.file;
    if (image_folder_of(file, params) != out.folder)
      return std::nullopt;
    auto list =
        read_data_file(file, choice_of(from->examples)).and_then([&](data_file&& table) {
          return image_list_of(std::move(table), file, params);
        });
    if (!list)
      return tl::unexpected(std::move(list).error());
    out.files.insert(out.files.end(), list->files.begin(), list->files.end());
  }
  std::ranges::sort(out.files);
  const auto twice = std::ranges::unique(out.files);
  out.files.erase(twice.begin(), twice.end());
  return out;
}

expected<raw_rows> read_raw_images(const std::filesystem::path& path,
                                   const preprocessing& how) {
  if (how.shape.layout() != layout::image)
    return wrong(path.string(), "holds images, and the training data has none");
  return decode_images(path, how.shape).map([&](decoded_images&& images) {
    if (!how.task.has_classes())
      images.classes.clear(); // Folders say neither numbers nor labels.
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
        const auto form = list->numbers.empty() ? number_form() : list->numbers.front();
        return rows_of(std::move(images), table.string(), form, how);
      });
}

} // namespace clade

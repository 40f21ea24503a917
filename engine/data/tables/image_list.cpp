#include "engine/data/tables/image_list.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace clade {
namespace {

/// The columns that are read.
struct list_columns {
  std::size_t image = 0;
  std::vector<std::size_t> targets;
  std::optional<std::size_t> split;
};

expected<list_columns> find_columns(const csv_head& head, const data_params& params,
                                    listed_rows which) {
  list_columns out;
  const auto image = head.find_column(params.images, "column of images");
  if (!image)
    return tl::unexpected(image.error());
  out.image = *image;
  const auto targets = head.find_targets(params);
  if (!targets && which == listed_rows::to_predict)
    return out;
  if (!targets)
    return tl::unexpected(targets.error());
  const bool named = std::ranges::find(*targets, *image) != targets->end();
  if (named && which == listed_rows::to_predict)
    return out; // "last", where the target is not there.
  if (named)
    return head.wrong(head.line,
                      head.column(*image) + " is named twice, as images and as target");
  out.targets = *targets;
  if (params.split_column.empty() || which == listed_rows::to_predict)
    return out;
  const auto split = head.find_column(params.split_column, "column to split by");
  if (!split)
    return tl::unexpected(split.error());
  out.split = *split;
  return out;
}

expected<void> add_row(image_list& out, const csv_row& r, const csv_head& head,
                       const list_columns& columns, const data_params& params,
                       listed_rows which) {
  if (r.fields.size() != head.columns)
    return head.wrong(
        r.line, fmt::format("{} columns instead of {}", r.fields.size(), head.columns));
  const auto blank = std::ranges::find_if(columns.targets, [&](std::size_t i) {
    return lacks_target(r.fields[i], params.task, columns.targets.size() > 1);
  });
  if (which == listed_rows::to_learn_from && blank != columns.targets.end()) {
    if (params.blanks != blank_rule::impute && params.blanks != blank_rule::drop)
      return head.wrong(r.line, head.column(*blank)
                                    + ", the target, is blank; say blanks = \"drop\" to "
                                      "leave such rows out");
    ++out.dropped;
    return {};
  }
  const auto file = r.fields[columns.image];
  if (file.empty())
    return head.wrong(r.line, head.column(columns.image) + " names no image");
  out.files.emplace_back(std::string(file));
  out.lines.push_back(r.line);
  for (const std::size_t i : columns.targets)
    out.targets.emplace_back(r.fields[i]);
  if (columns.split)
    out.splits.emplace_back(r.fields[*columns.split]);
  return {};
}

} // namespace

expected<image_list> parse_image_list(std::string_view text, std::string_view origin,
                                      const data_params& params, listed_rows which) {
  const auto form = find_form(text, params);
  auto rows = form.rows(text);
  csv_row r;
  const auto head = read_head(rows, r, origin, params, form);
  if (!head)
    return tl::unexpected(head.error());
  const auto columns = find_columns(*head, params, which);
  if (!columns)
    return tl::unexpected(columns.error());
  image_list out;
  for (const std::size_t i : columns->targets) {
    out.numbers.push_back(form.number(i));
    if (!params.targets.empty())
      out.several.push_back(head->name(i));
    else if (!head->names.empty())
      out.target = head->names[i];
  }
  if (head->names.empty())
    if (auto added = add_row(out, r, *head, *columns, params, which); !added)
      return tl::unexpected(std::move(added).error());
  auto more = rows.next(r);
  for (; more && *more; more = rows.next(r))
    if (auto added = add_row(out, r, *head, *columns, params, which); !added)
      return tl::unexpected(std::move(added).error());
  if (!more)
    return head->wrong(r.line, more.error().message);
  if (out.files.empty())
    return fail(error_kind::invalid_input,
                std::string(origin)
                    + (out.dropped == 0 ? ": has no rows" : ": no row has a target"));
  return out;
}

std::filesystem::path image_folder_of(const std::filesystem::path& table,
                                      const data_params& params) {
  return params.image_folder.empty() ? table.parent_path() : params.image_folder;
}

} // namespace clade

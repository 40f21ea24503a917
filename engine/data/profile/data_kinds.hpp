#pragma once

#include "engine/data/folders/class_folder.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/tables/csv_head.hpp"

namespace clade {

/// The kinds of data of `data_kinds`, each in a file of its own.
[[nodiscard]] expected<data_profile> profile_csv(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_array(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_cifar(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_images(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_texts(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_series(const profile_request& request);

/// Returns the column of a table that names files of images, and the folder at which the
/// paths begin: the table's own, or one in it. None where there is no such column but the
/// target, or its first image is not there.
struct listed_images {
  std::size_t column = 0;
  std::filesystem::path folder;
};
[[nodiscard]] std::optional<listed_images>
find_listed_images(const data_profile& profile);

/// Takes the images that a table names for its examples.
[[nodiscard]] expected<void> profile_listed_images(data_profile& profile,
                                                   const listed_images& images,
                                                   std::string_view text);

/// Notes which files and folders of a folder by class are left out, and classes of which the
/// test part has no example (folder_profile.cpp).
void note_places(data_profile& profile, const class_folder& found,
                 const folder_parts& parts);

/// Refuses words that say what the folders of classes say.
[[nodiscard]] expected<void> check_folder_request(const profile_request& request,
                                                  folder_kind kind);

/// Says how long series are, how long each becomes, and how many values are missing.
void note_lengths(data_profile& profile, const series_set& set);

/// Takes the series of a table for its examples, whose columns and target are known; the
/// names in `forecast` are those of the request. `text` is that of the file; `said` says how
/// it is read.
[[nodiscard]] expected<void> profile_long_table(data_profile& profile,
                                                const profile_request& request,
                                                std::string_view text,
                                                const data_params& said);

/// Lists the columns of values of such a table, so that new files are read by their names, and
/// ignores those that hold no numbers. `columns` is the profile of the table, which begins
/// with `head`.
[[nodiscard]] expected<inferred_data> infer_series(const data_params& params,
                                                   std::string_view text,
                                                   const csv_head& head,
                                                   const table_profile& columns);

/// The task that the request says, or that the targets are for.
[[nodiscard]] learning_task task_for(const data_profile& p,
                                     const profile_request& request);

/// Finishes a profile whose target's values are known: the task, the classes (named by
/// `class_names` where they are the numbers 0, 1, ...), what is suspicious, the split.
void finish_profile(data_profile& profile, const profile_request& request,
                    std::span<const std::string> class_names = {});

} // namespace clade

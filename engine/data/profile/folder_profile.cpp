// A folder of examples by class: what is said of all kinds of them, and the profile of one
// of texts, which is that of the table of texts and classes that it becomes.
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/converted/text_folder.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(const std::filesystem::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

std::string several_are(folder_kind kind, std::size_t count) {
  return kind == folder_kind::images ? counted(count, "image is", "images are")
                                     : counted(count, "text is", "texts are");
}

/// Says which classes have no example in the test part.
void note_untested(data_profile& p, const class_folder& found,
                   const std::filesystem::path& test) {
  const auto tested = find_classes(test, found.kind);
  if (!tested || tested->files.empty())
    return;
  std::vector<std::string> missing;
  for (const std::string& name : found.classes)
    if (std::ranges::find(tested->classes, name) == tested->classes.end())
      missing.push_back(name);
  if (!missing.empty())
    p.note(fmt::format("{} {} no example in {}: move the folder of what is no class away",
                       all_in_quotes(missing), missing.size() == 1 ? "has" : "have",
                       test.filename().string()));
}

} // namespace

void note_places(data_profile& p, const class_folder& found, const folder_parts& parts) {
  // A few words beside the examples are no news.
  constexpr std::size_t many = 10;
  const bool images = found.kind == folder_kind::images;
  if (!found.unlabelled.empty())
    p.note(fmt::format("{} in no folder of a class and left out, such as {}",
                       several_are(found.kind, found.unlabelled.size()),
                       found.unlabelled.front().generic_string()));
  if (many * found.others >= found.files.size() && found.others > 0)
    p.note(fmt::format(
        "{} not learnt from beside {}, such as {}: move {} away to learn "
        "from the others",
        several_are(images ? folder_kind::texts : folder_kind::images, found.others),
        images ? "the images" : "the texts", found.other.generic_string(),
        images ? "the images" : "the texts"));
  if (!parts.unused.empty())
    p.note(fmt::format("the folder {} is not used: the validation part is taken from {}",
                       parts.unused.filename().string(),
                       parts.train.filename().string()));
  if (!parts.test.empty())
    note_untested(p, found, parts.test);
}

expected<void> check_folder_request(const profile_request& request, folder_kind kind) {
  if (!request.target.empty())
    return wrong(request.file, "is a folder: the classes are the names of the folders in "
                               "it; leave out --target");
  if (request.forecast.horizon > 0)
    return wrong(request.file, "is a folder, and --horizon is for tables of series");
  if (request.task && !request.task->has_classes())
    return wrong(request.file,
                 fmt::format("holds {} by class, which are no numbers; leave out --task",
                             kind == folder_kind::images ? "images" : "texts"));
  return {};
}

expected<data_profile> profile_texts(const profile_request& request) {
  if (auto fine = check_folder_request(request, folder_kind::texts); !fine)
    return tl::unexpected(std::move(fine).error());
  const auto parts = parts_of_folder(request.file, folder_kind::texts);
  const auto found = find_classes(parts.train, folder_kind::texts);
  if (!found)
    return tl::unexpected(found.error());
  if (auto fine = check_classes_of(*found); !fine)
    return tl::unexpected(std::move(fine).error());
  if (found->classes.size() == 1)
    return wrong(parts.train,
                 fmt::format("holds texts of one class, {}; put the texts of each class "
                             "into a folder of its own beside it",
                             found->classes.front()));
  auto asked = request;
  asked.file = parts.train;
  asked.target = class_column_name;
  asked.task = classification;
  return profile_csv(asked).map([&](data_profile&& p) {
    p.test_file = request.test_file.empty() ? parts.test : request.test_file;
    p.target_found = target_reason::labels;
    note_places(p, *found, parts);
    return std::move(p);
  });
}

} // namespace clade

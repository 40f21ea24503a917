#include "engine/store/run/upgrade.hpp"

#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/picture/stored_picture.hpp"
#include "tools/cli/base/command.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct upgrade_options {
  std::string run;
  bool in_place = false;
};

expected<kept_picture> picture_of(const store& s) {
  return read_picture(s).map(to_keep);
}

/// The copy has a folder of its own, as private as the run's, where the store has one.
expected<void> make_folder_of(const std::filesystem::path& copy,
                              const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::create_directory(copy.parent_path(), failed) && !failed)
    return {};
  if (!failed)
    std::filesystem::permissions(
        copy.parent_path(),
        std::filesystem::status(file.parent_path(), failed).permissions(), failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", copy.parent_path().string(),
                            failed.message()));
  return {};
}

expected<std::string> upgrade(const upgrade_options& options) {
  auto file = find_store(options.run);
  if (!file)
    return tl::unexpected(file.error());
  const auto before = store::open_to_read(*file).map(&store::version);
  if (!before)
    return tl::unexpected(before.error());
  const auto schema = fmt::format("schema {}", store::schema_version);
  if (*before == store::schema_version)
    return fmt::format("{}: nothing to upgrade, it is of {}", file->string(), schema);
  const auto was = fmt::format("schema {}", *before);
  if (options.in_place)
    return upgrade_in_place(*file, picture_of).map([&] {
      return fmt::format("{}: upgraded from {} to {}", file->string(), was, schema);
    });
  const auto copy = upgraded_store(*file);
  return make_folder_of(copy, *file)
      .and_then([&] { return upgrade_copy(*file, copy, picture_of); })
      .map([&] {
        return fmt::format("{}: a copy of {}; {} stays of {}", copy.string(), schema,
                           file->string(), was);
      });
}

} // namespace

void add_upgrade(CLI::App& app, command& chosen) {
  auto options = std::make_shared<upgrade_options>();
  auto* sub = app.add_subcommand(
      "upgrade", "Convert a run of an older clade so that it can be resumed");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it), or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_flag("--in-place", options->in_place,
                "Change the run itself, in one transaction, instead of a copy");
  sub->footer(
      "Only resume needs it: every other command reads stores of any earlier version as\n"
      "they are. The copy of digits-TIME is digits-upgraded-TIME, beside it.");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto done = upgrade(*options);
      if (!done)
        return report(done.error());
      std::cout << *done << std::endl;
      return 0;
    };
  });
}

} // namespace clade

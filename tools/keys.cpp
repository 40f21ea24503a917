#include "actors/keys.hpp"

#include "tools/command.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct keys_options {
  std::filesystem::path directory;
  std::string name;
};

int make_new(const keys_options& options) {
  if (auto made = make_authority(options.directory); !made)
    return report(made.error());
  std::cout << "an authority, valid for a year: " << options.directory.string()
            << "\n  clade run FILE --listen ADDRESS:PORT --keys "
            << options.directory.string() << "\n  clade keys worker "
            << options.directory.string() << " NAME" << std::endl;
  return 0;
}

expected<std::filesystem::path> add_bundle(const keys_options& options) {
  const bool plain = std::ranges::all_of(options.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '-' || c == '_' || c == '.';
  });
  if (!plain || options.name.empty() || options.name.front() == '.'
      || options.name.size() > 60 || options.name == "authority")
    return fail(error_kind::invalid_input,
                "\"" + options.name
                    + "\": a worker's name is 1 to 60 letters, digits, '-', '_' and '.', "
                      "does not begin with '.', and is not \"authority\"");
  const auto bundle = options.directory / options.name;
  if (std::filesystem::exists(bundle))
    return fail(error_kind::conflict,
                bundle.string() + " is there already; remove it, or choose another name");
  return make_bundle(options.directory, bundle, bundle_role::worker, options.name)
      .map([&] { return bundle; });
}

int make_worker(const keys_options& options) {
  const auto bundle = add_bundle(options);
  if (!bundle)
    return report(bundle.error());
  std::cout << "a bundle, valid for a year; copy the folder to the worker's machine:\n  "
            << bundle->string() << std::endl;
  return 0;
}

} // namespace

void add_keys(CLI::App& app, command& chosen) {
  auto options = std::make_shared<keys_options>();
  auto* sub =
      app.add_subcommand("keys", "Make the keys with which machines let each other in");
  sub->require_subcommand(1);
  auto* fresh =
      sub->add_subcommand("new", "An authority: who has its folder lets others in");
  fresh->add_option("directory", options->directory, "Folder to make")->required();
  fresh->callback(
      [&chosen, options] { chosen = [options] { return make_new(*options); }; });
  auto* worker = sub->add_subcommand("worker", "A bundle for one worker, signed by it");
  worker->add_option("directory", options->directory, "Folder of the authority")
      ->required();
  worker->add_option("name", options->name, "The worker's, and its folder's in there")
      ->required();
  worker->callback(
      [&chosen, options] { chosen = [options] { return make_worker(*options); }; });
  sub->footer(
      "A run with --listen and without --keys makes an authority of its own, for itself\n"
      "alone; its workers' bundle is runs/RUN/keys/worker.");
}

} // namespace clade

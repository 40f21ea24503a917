#include "actors/transport/tls/keys.hpp"

#include "engine/telemetry/socket/viewer_keys.hpp"
#include "tools/cli/base/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct keys_options {
  std::filesystem::path directory;
  std::string name;
  bool controls = false;
};

int make_new(const keys_options& options) {
  if (auto made = make_authority(options.directory); !made)
    return report(made.error());
  std::cout << "an authority, valid for a year: " << options.directory.string()
            << "\n  clade run FILE --listen ADDRESS:PORT --keys "
            << options.directory.string() << "\n  clade keys worker "
            << options.directory.string() << " NAME\n  clade keys viewer "
            << options.directory.string() << " NAME" << std::endl;
  return 0;
}

expected<void> check_name(const keys_options& options) {
  const bool plain = std::ranges::all_of(options.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '-' || c == '_' || c == '.';
  });
  if (!plain || options.name.empty() || options.name.front() == '.'
      || options.name.size() > 60 || options.name == "authority")
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\": a name is 1 to 60 letters, digits, '-', '_' and "
                            "'.', does not begin with '.', and is not \"authority\"",
                            options.name));
  return {};
}

expected<std::filesystem::path> add_bundle(const keys_options& options) {
  if (auto plain = check_name(options); !plain)
    return tl::unexpected(plain.error());
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

int make_viewer_bundle(const keys_options& options) {
  const auto bundle = check_name(options).and_then([&] {
    return make_viewer(options.directory,
                       {.name = options.name, .controls = options.controls});
  });
  if (!bundle)
    return report(bundle.error());
  std::cout << "a viewer's bundle; copy the folder to its machine:\n  "
            << bundle->string() << "\nit "
            << (options.controls ? "watches and controls" : "watches")
            << " runs of this authority until "
            << (options.directory / "authority" / "viewers" / options.name).string()
            << " is removed:\n  clade run FILE --publish ADDRESS:PORT --keys "
            << options.directory.string() << "\n  clade attach tcp://ADDRESS:PORT --keys "
            << bundle->string() << std::endl;
  return 0;
}

} // namespace

void add_keys(CLI::App& app, command& chosen) {
  auto options = std::make_shared<keys_options>();
  auto* sub =
      app.add_subcommand("keys", "Make keys for workers and viewers on other machines");
  sub->require_subcommand(1);
  auto* fresh = sub->add_subcommand(
      "new", "Make an authority; whoever has its folder can let others in");
  fresh->add_option("directory", options->directory, "Folder to make")->required();
  fresh->callback(
      [&chosen, options] { chosen = [options] { return make_new(*options); }; });
  auto* worker = sub->add_subcommand("worker", "Make a bundle of keys for one worker");
  worker->add_option("directory", options->directory, "Folder of the authority")
      ->required();
  worker
      ->add_option("name", options->name, "The worker's name, which its folder gets too")
      ->required();
  worker->callback(
      [&chosen, options] { chosen = [options] { return make_worker(*options); }; });
  auto* viewer = sub->add_subcommand("viewer", "Make a bundle of keys for one viewer");
  viewer->add_option("directory", options->directory, "Folder of the authority")
      ->required();
  viewer
      ->add_option("name", options->name, "The viewer's name, which its folder gets too")
      ->required();
  viewer->add_flag("--control", options->controls, "It may also control runs");
  viewer->callback([&chosen, options] {
    chosen = [options] { return make_viewer_bundle(*options); };
  });
  sub->footer(
      "A run with --listen and without --keys makes an authority of its own, for itself\n"
      "alone; its workers' bundle is runs/RUN/keys/worker.");
}

} // namespace clade

#pragma once

#include "engine/run/records/record.hpp"

#include <functional>
#include <string>

namespace clade {

/// A file that a browser saves.
struct web_file {
  std::string name;
  std::string bytes;
};

/// Hooks are what a page can do for its viewer beyond showing the feed, where the run's
/// folder is at hand. Each may be empty: the page does without. Called from several
/// threads.
struct web_hooks {
  std::string user; ///< Who gives orders, for the records.
  std::string host; ///< The machine that the server is on.
  /// Shapes and costs of a network by node, as JSON; where there is none, or it fails,
  /// the page draws the network without.
  std::function<expected<std::string>(const genome& g)> costs;
  /// Returns what to know before using the champion, as a JSON array of sentences; empty
  /// before the end.
  std::function<expected<std::string>()> verdict;
  /// The trained network of a candidate as a file: "onnx", "torchscript" or
  /// "safetensors".
  std::function<expected<web_file>(candidate_id id, const std::string& format)> model;
  /// A JSON array of the runs that lie beside this one, the latest first.
  std::function<expected<std::string>()> runs;
  /// One of them with its generations, as JSON.
  std::function<expected<std::string>(const std::string& folder)> run;
  /// The order to evaluate a candidate of another run.
  std::function<expected<instruction>(const std::string& run, candidate_id id)> add;
};

} // namespace clade

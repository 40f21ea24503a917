#pragma once

#include "engine/evaluation/process/program_output.hpp"
#include "engine/search/core/candidate.hpp"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

// A program says its metrics as JSON objects of names and numbers, one a line:
//
//     {"epoch": 1, "validation.accuracy": 0.81}      a report: after epoch 1
//     {"epoch": 2, "validation.accuracy": 0.93}
//     {"validation.accuracy": 0.93, "size": 1200}    its answer
//
// The last of these lines is its answer, be it a report. NaN and Infinity, which some
// languages write, are understood.

/// Reads lines as they come. Other lines mean nothing.
class report_reader {
public:
  /// `hear` is called for each epoch beyond those before it.
  explicit report_reader(std::function<void(const epoch&)> hear)
      : hear_(std::move(hear)) {}

  /// Returns whether the line is an object, be it a report or an answer.
  bool read(std::string_view line);
  /// Reads a report of a program that says when an epoch ends, but not its number: it is
  /// the next.
  void read_next(std::vector<metric> metrics, std::uint32_t epochs_before);

private:
  void hear(std::uint32_t number, std::vector<metric> metrics);

  std::function<void(const epoch&)> hear_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint32_t heard_ = 0;
};

/// Follows a file of lines that a program appends to, or has yet to make.
class followed_file {
public:
  followed_file(std::filesystem::path file, line_listener on_line)
      : file_(std::move(file)),
        lines_(std::move(on_line)) {}

  /// Reads what has been added.
  void look();
  /// The same, for the last time: what follows the last end of a line is a line too.
  void look_last();

private:
  std::filesystem::path file_;
  unique_fd open_;
  line_splitter lines_;
};

/// Follows a file of the program's metrics, which it appends lines to or writes anew, as
/// one object, each time.
class watched_file {
public:
  watched_file(std::filesystem::path file, line_listener on_object)
      : file_(std::move(file)),
        on_object_(std::move(on_object)) {}

  /// Tells of the file's one object, or of its lines, where it has changed: of an object
  /// once at least, and of nothing that is half written.
  void look();

private:
  std::filesystem::path file_;
  line_listener on_object_;
  timespec changed_{};
  std::string seen_;
};

/// The last line of what it wrote to standard output that begins and ends as an object.
[[nodiscard]] std::string_view last_object(std::string_view output);

/// The file's text if it is one object, else its last line that is one.
[[nodiscard]] std::string answer_in_file(const std::filesystem::path& file);

/// Reads an answer into the evaluation's metrics, without "epoch". No metrics, or one
/// that is no number, make it invalid; one that is not finite, diverged.
void read_answer(std::string_view answer, evaluation& e);

/// Makes it invalid if it lacks a metric that the objective names.
void check_objective(const objective& goal, evaluation& e);

/// ": ValueError: no such layer", of what the program wrote to standard error.
[[nodiscard]] std::string last_words(std::string_view errors);

} // namespace clade

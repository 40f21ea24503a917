#pragma once

#include "genome/base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace clade {

/// The file that a program's output and errors go to, in the order in which they are read.
class program_log {
public:
  /// Nothing is made before there is something to write; an empty `file`: never. After
  /// `most_bytes` one line says that the rest is left out.
  program_log(std::filesystem::path file, std::uint64_t most_bytes)
      : file_(std::move(file)),
        left_(most_bytes) {}

  void append(std::string_view text);

  /// Says why the file lacks what was written, such as a full disk; empty if it does not.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
  void write(std::string_view text);

  std::filesystem::path file_;
  std::uint64_t left_;
  unique_fd open_;
  std::string trouble_;
};

using line_listener = std::function<void(std::string_view line)>;

/// Tells of each line of a text that comes in parts, without its end. It does not tell of
/// a line of more than 1 MiB.
class line_splitter {
public:
  explicit line_splitter(line_listener on_line) : on_line_(std::move(on_line)) {}

  void add(std::string_view text);
  /// Nothing more comes: what follows the last end of a line is a line too.
  void finish();

private:
  line_listener on_line_;
  std::string line_;
  bool too_long_ = false;
};

/// Reads one stream of a program: keeps its end, copies all of it to the log, and tells
/// of each line.
class program_stream {
public:
  program_stream(unique_fd from, std::size_t most_kept, program_log& log,
                 line_listener on_line = {});

  [[nodiscard]] int get() const { return from_.get(); }

  /// Takes what is there, or some of it; closes a pipe that has ended. Does not block.
  void read();
  /// Takes all that is there, now that nobody writes any more.
  void read_rest();
  [[nodiscard]] std::string take();

private:
  bool read_block();

  unique_fd from_;
  std::size_t most_kept_;
  program_log& log_;
  std::optional<line_splitter> lines_;
  std::string kept_;
};

} // namespace clade

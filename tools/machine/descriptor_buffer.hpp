#pragma once

#include "genome/base/utf8.hpp"

#include <cstdint>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace clade {

/// Lets broken connections be errors of whoever writes to them from now on, for this whole
/// process: SIGPIPE is ignored. A program that this process starts gets the signal's usual
/// effect back (`child_params::is_foreign`). For main().
void ignore_broken_connections();

/// From now on this process goes on when a reader of what it prints goes away. For
/// processes that serve. Others end then as every program does, by SIGPIPE.
void outlive_readers();

/// The buffer behind a std::ostream that writes to a descriptor. In contrast to the
/// library's own it knows why writing failed, it waits where a descriptor that does not
/// block is full, and several threads may write. It does not close the descriptor.
///
/// Texts of others (names of columns, of files, what programs print) may hold orders to a
/// terminal. None gets there: what a terminal is shown passes `plain_text`.
class descriptor_buffer : public std::streambuf {
public:
  enum class content : std::uint8_t {
    data, ///< A file or pipe gets each byte as it is.
    text, ///< For people, who may see what a pipe brings on a terminal: always made plain.
  };

  explicit descriptor_buffer(int descriptor, content what = content::data);
  ~descriptor_buffer() override;

  /// Writes `data` after what was written before, as a buffer of `content::data` does.
  [[nodiscard]] bool put_data(std::string_view data);
  /// Begins the terminal's line anew.
  void erase_line();

  /// The errno of the first write that failed; 0: none has. Text that is written after it
  /// is dropped.
  [[nodiscard]] int cause() const;

protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

private:
  bool append(std::string_view more, bool plain);
  bool keep(std::string_view more);
  bool write_out();
  bool write_now(std::string_view text);

  int descriptor_;
  bool terminal_; ///< People see each line when it is there.
  bool plain_;    ///< Text that is written passes `plain_text`.
  mutable std::mutex mutex_;
  plain_stream made_plain_;
  std::string waiting_;
  int cause_ = 0;
};

} // namespace clade

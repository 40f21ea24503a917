#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/machine/descriptor_buffer.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string_view>

namespace clade {

/// A file that a person named for what a command writes. Symbolic links are followed.
///
/// A regular file, or one that is not there yet, is written beside and renamed, so that
/// what was there stays until the new one is whole. All else stays what it is and is
/// written to: a device, a FIFO, a descriptor (/dev/stdout, /dev/fd/63), and a regular
/// file that a rename would change more than its content of: one that has several names,
/// is of another user, is mounted by itself, or is in a folder that may not be written.
class output_file {
public:
  /// `waits` is called before a FIFO that nobody reads is waited for. An error is
  /// `invalid_input` where a person can mend it, else `io`.
  [[nodiscard]] static expected<output_file>
  open(const std::filesystem::path& named,
       const std::function<void(const std::filesystem::path& fifo)>& waits);

  output_file(output_file&& other) noexcept;
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  output_file& operator=(output_file&&) = delete;
  /// Without `finish`, removes what was written beside.
  ~output_file();

  [[nodiscard]] std::ostream& stream() { return *stream_; }

  /// Says whether all was written, and puts it in place. To be called once.
  [[nodiscard]] expected<void> finish();

private:
  output_file(std::filesystem::path named, std::filesystem::path target,
              std::filesystem::path beside, unique_fd descriptor);

  std::filesystem::path named_;  ///< For messages.
  std::filesystem::path target_; ///< Empty where it is written to directly.
  std::filesystem::path beside_; ///< Empty while it has no name yet.
  unique_fd descriptor_;
  std::unique_ptr<descriptor_buffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Writes a whole file. While it waits for a FIFO's reader it says so on standard error.
[[nodiscard]] expected<void> write_output(const std::filesystem::path& named,
                                          std::string_view content);

/// Says on standard error that a FIFO is waited for.
void say_waiting(const std::filesystem::path& fifo);

/// Whether this is a name of standard output, such as /dev/stdout.
[[nodiscard]] bool is_standard_output(const std::filesystem::path& named);

} // namespace clade

#pragma once

#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace clade {

/// What is behind a std::ostream that writes to a descriptor. In contrast to the
/// library's own it knows why writing failed, it waits where a descriptor that does not
/// block is full, and several threads may write. It does not close the descriptor.
class descriptor_buffer : public std::streambuf {
public:
  explicit descriptor_buffer(int descriptor);

  /// The errno of the first write that failed; 0: none has. What is written after it is
  /// dropped.
  [[nodiscard]] int cause() const;

protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

private:
  bool append(const char* text, std::size_t size);
  bool write_out();
  bool write_now(std::string_view text);

  int descriptor_;
  bool terminal_; ///< People see each line when it is there.
  mutable std::mutex mutex_;
  std::string waiting_;
  int cause_ = 0;
};

} // namespace clade

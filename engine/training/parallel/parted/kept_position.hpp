#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"
#include "genome/codec/codec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace clade {

/// The position of a training between two steps, whole, on disk: a member of a team goes
/// back to it when its state is divided over members of whom one is lost. The file has no
/// name and ends with the process. A disk that is full, or fails, is a std::system_error,
/// which names the machine and the file system.
class kept_position {
public:
  /// Rows of values, each of as many elements as the network's parameters and buffers.
  enum row : std::uint32_t { weights, best, average, first_moments, second_moments };
  static constexpr std::uint32_t rows = 5;

  struct header {
    std::uint64_t version = 0; ///< Rises from one position of a training to the next.
    std::uint64_t steps = 0;   ///< The optimiser's.
    std::uint32_t present = 0; ///< The bits of rows, one for each.
    friend bool operator==(const header&, const header&) = default;
  };

  /// `rest`: the position but for its rows.
  kept_position(header h, bytes rest, std::uint64_t elements);

  [[nodiscard]] const header& about() const { return header_; }
  [[nodiscard]] const bytes& rest() const { return rest_; }
  [[nodiscard]] bool has(row r) const { return (header_.present >> r & 1) != 0; }

  /// Writes all of it to a file, with a checksum (grammar at the top of
  /// kept_position.cpp). Returns 0, or the error number. From any thread, but while it is
  /// written to.
  [[nodiscard]] int store(int descriptor) const;
  /// Reads what was stored, of a network with so many elements. An error of kind corrupt if
  /// it is damaged, cut short, or of another network.
  [[nodiscard]] static expected<std::unique_ptr<kept_position>>
  load(const std::filesystem::path& file, std::uint64_t elements);

  void write(row r, std::uint64_t at, std::span<const float> values);
  void read(row r, std::uint64_t at, std::span<float> values) const;

private:
  header header_;
  bytes rest_;
  std::uint64_t elements_;
  unique_fd file_;
};

} // namespace clade

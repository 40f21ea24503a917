#pragma once

#include "genome/codec.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace clade {

/// Where a training stood between two steps, whole, on disk: what a member of a team goes
/// back to when its state is divided over members of whom one is lost. The file has no name
/// and ends with the process. A disk that is full, or fails, is a std::system_error, which
/// names the machine and the file system.
class kept_position {
public:
  /// Rows of values, each of as many elements as the network's parameters and buffers.
  enum row : std::uint32_t { weights, best, average, first_moments, second_moments };
  static constexpr std::uint32_t rows = 5;

  struct header {
    std::uint64_t version = 0; ///< Rises from one position of a training to the next.
    std::uint64_t steps = 0;   ///< The optimiser's.
    std::uint32_t present = 0; ///< Of rows, one bit for each.
    friend bool operator==(const header&, const header&) = default;
  };

  /// `rest`: the position but for its rows.
  kept_position(header h, bytes rest, std::uint64_t elements);
  ~kept_position();
  kept_position(const kept_position&) = delete;
  kept_position& operator=(const kept_position&) = delete;

  [[nodiscard]] const header& about() const { return header_; }
  [[nodiscard]] const bytes& rest() const { return rest_; }
  [[nodiscard]] bool has(row r) const { return (header_.present >> r & 1) != 0; }

  void write(row r, std::uint64_t at, std::span<const float> values);
  void read(row r, std::uint64_t at, std::span<float> values) const;

private:
  header header_;
  bytes rest_;
  std::uint64_t elements_;
  int file_ = -1;
};

} // namespace clade

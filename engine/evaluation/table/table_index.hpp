#pragma once

#include "engine/evaluation/table/table_description.hpp"
#include "genome/genes/grammar.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// Finds the row of a table that has given settings. A row is known by the codes of its
/// values: of a choice the number in its list, of a range the number among the values
/// that occur; `absent` where the parameter does not apply.
class table_index {
public:
  static constexpr std::uint32_t absent = 0xFFFF'FFFF;

  /// Values row by row, as doubles: of a choice the number in its list, NaN where the
  /// parameter does not apply.
  struct content {
    std::vector<parameter> parameters;
    table_lookup lookup = table_lookup::exact;
    std::span<const double> values;
  };

  table_index() = default;
  explicit table_index(const content& c);

  /// Two rows with the same settings, if there are any: the later one and the earlier.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> duplicate() const {
    return duplicate_;
  }

  /// Settings sorted by name. With table_lookup::nearest the first of the nearest rows;
  /// nothing only where the settings are not those of the parameters.
  [[nodiscard]] std::optional<std::uint32_t>
  find(const std::vector<setting>& settings) const;

private:
  [[nodiscard]] std::optional<std::uint32_t> code_of(std::size_t parameter,
                                                     const value& v) const;
  [[nodiscard]] std::optional<std::uint32_t>
  find_exact(const std::vector<setting>& settings) const;
  [[nodiscard]] std::optional<std::uint32_t>
  find_nearest(const std::vector<setting>& settings) const;
  [[nodiscard]] float place_of(std::size_t parameter, double v) const;
  [[nodiscard]] std::size_t slot_of(std::span<const std::uint32_t> codes) const;
  void encode(std::span<const double> values);
  void lay_out(std::span<const double> values);
  void fill_slots();

  std::vector<parameter> parameters_;
  table_lookup lookup_ = table_lookup::exact;
  std::uint32_t rows_ = 0;
  /// The values that occur in each range, ascending.
  std::vector<std::vector<double>> occurring_;
  std::vector<std::uint32_t> codes_; ///< Row by row.
  std::vector<std::uint32_t> slots_; ///< Open addressing: a row + 1, or 0.
  struct scale {
    double from = 0, factor = 0;
    bool log = false, ordered = true;
  };
  std::vector<scale> scales_; ///< The scale of each parameter, to a place.
  std::vector<float> places_; ///< In blocks of rows, see table_index.cpp.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> duplicate_;
};

} // namespace clade

#pragma once

#include "engine/data/converted/xml_events.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace clade {

/// The formats of a workbook (styles.xml), by which a number is shown as a date.
class number_formats : public xml_events {
public:
  [[nodiscard]] expected<void> begin(std::string_view name,
                                     const xml_attributes& with) override;
  [[nodiscard]] expected<void> end(std::string_view name) override;

  /// The date that a number is in a cell of this style, "2026-01-31" or with the time of
  /// day; empty where it is a number.
  [[nodiscard]] std::string date(std::size_t style, double number, bool from_1904) const;

private:
  std::map<std::size_t, bool>
      own_; ///< Formats of the file's, and whether they are dates.
  std::vector<std::size_t> by_style_;
  bool in_styles_ = false;
};

/// Whether a format shows a number as a day: "dd/mm/yyyy hh:mm", but not "0.00" or "[h]:mm".
[[nodiscard]] bool is_date_format(std::string_view format);

} // namespace clade

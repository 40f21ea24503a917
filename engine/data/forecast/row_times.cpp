#include "engine/data/forecast/row_times.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/numbers/field_date.hpp"
#include "engine/data/numbers/number_form.hpp"

#include <fmt/format.h>

#include <cmath>

namespace clade {

void row_times::add(std::string_view field) {
  fields_.emplace_back(field);
  dated_ += dates_.add(field) == date_column::fit::date ? 1 : 0;
  numbered_ += read_number(field, decimal_) ? 1 : 0;
}

std::optional<double> row_times::time(std::size_t row) const {
  const auto time = dates() ? field_date(fields_[row], dates_.order())
                            : field_number(fields_[row], number_form{decimal_, {}});
  return time && std::isfinite(*time) ? time : std::nullopt;
}

std::string row_times::complaint(std::size_t row) const {
  return fmt::format("is {}, where a {} must be", in_quotes(fields_[row]),
                     numbered_ + dated_ == 0 ? "date or a number"
                     : dates()               ? "date"
                                             : "number");
}

} // namespace clade

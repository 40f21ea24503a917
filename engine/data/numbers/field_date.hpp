#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// The order in which a date names its parts.
enum class date_order : std::uint8_t { year_month_day, day_month_year, month_day_year };

/// "year, month, day".
[[nodiscard]] std::string_view to_text(date_order order);

/// Returns the seconds from 1970-01-01 00:00 to the date (and time of day) that `field`
/// holds; nothing if it holds anything else, or a day that no calendar has. A time zone
/// counts where one is given. The grammar is at the top of field_date.cpp.
[[nodiscard]] std::optional<double> field_date(std::string_view field, date_order order);

/// Whether `field` is written as a date is, but names a day that no calendar has, in
/// whichever order: 2024-02-30, 0000-00-00.
[[nodiscard]] bool is_no_day(std::string_view field);

/// The names of a month and how they are shortened, in small letters; any case of a to z is
/// meant. They are English, German, French, Spanish, Italian, Portuguese and Dutch.
using month_words = std::array<std::string_view, 12>;
inline constexpr std::array<month_words, 12> month_names{{
    {"january", "jan", "januar", "janvier", "enero", "ene", "gennaio", "janeiro",
     "januari"},
    {"february", "feb", "februar", "f\u00e9vrier", "febrero", "febbraio", "fevereiro",
     "februari", "fev", "f\u00c9vrier"},
    {"march", "mar", "m\u00e4rz", "mars", "marzo", "mar\u00e7o", "maart", "m\u00e4r",
     "mrz", "m\u00c4rz", "mar\u00c7o", "m\u00c4r"},
    {"april", "apr", "avril", "abril", "aprile", "abr", "avr"},
    {"may", "mai", "mayo", "maggio", "maio", "mei", "mag"},
    {"june", "jun", "juni", "juin", "junio", "giugno", "junho", "giu"},
    {"july", "jul", "juli", "juillet", "julio", "luglio", "julho", "lug"},
    {"august", "aug", "ao\u00fbt", "agosto", "augustus", "ago", "ao\u00dbt"},
    {"september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro",
     "set"},
    {"october", "oct", "oktober", "octobre", "octubre", "ottobre", "outubro", "okt",
     "ott"},
    {"november", "nov", "novembre", "noviembre", "novembro"},
    {"december", "dec", "dezember", "d\u00e9cembre", "diciembre", "dicembre", "dezembro",
     "dez", "dic", "d\u00c9cembre"},
}};

} // namespace clade

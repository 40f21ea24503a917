#include "engine/report/base/html.hpp"

#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace clade {

namespace {

/// Calls `put` with each character, and with U+FFFD for what is none.
template<class Put>
void for_each_character(std::string_view text, Put put) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  while (!text.empty()) {
    const auto size = utf8_length(text);
    put(size == 0 || !is_plain_text(text.substr(0, size)) ? replacement
                                                          : text.substr(0, size));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

} // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) {
    if (c == "&")
      out += "&amp;";
    else if (c == "<")
      out += "&lt;";
    else if (c == ">")
      out += "&gt;";
    else if (c == "\"")
      out += "&quot;";
    else if (c == "'")
      out += "&#39;";
    else
      out += c;
  });
  return out;
}

std::string data_address(std::string_view type, std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = fmt::format("data:{};base64,", type);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto three = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < 3; ++b)
      bits = bits << 8 | (b < three.size() ? static_cast<unsigned char>(three[b]) : 0U);
    for (std::size_t d = 0; d < 4; ++d)
      out += d <= three.size() ? digits[bits >> (18 - 6 * d) & 63] : '=';
  }
  return out;
}

std::string escaped_markdown(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) {
    if (c == "&")
      out += "&amp;";
    else if (c == "<")
      out += "&lt;";
    else if (c == ">" && out.empty()) // A quotation.
      out += "&gt;";
    else if (c == "\n" || c == "\t")
      out += ' ';
    else if (std::string_view("\\`*_[]|~!").find(c) != std::string_view::npos)
      (out += '\\') += c;
    else
      out += c;
  });
  return out;
}

std::string page_head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
      "data:; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<main>\n",
      escaped(title), report_style);
}

const char* const report_style = R"css(
:root { --bg:#ffffff; --ink:#1c2126; --soft:#66707a; --line:#e3e6e9; --fill:#f5f6f8;
  --c1:#2b6cb0; --c2:#c05621; --c3:#2f855a; --c4:#805ad5; --good:#276749; --bad:#9b2c2c;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --bg:#14171a; --ink:#e3e6ea; --soft:#98a1ab; --line:#2c3238; --fill:#1c2024;
    --c1:#6cb2f2; --c2:#ed9a5f; --c3:#68c594; --c4:#b39df3; --good:#7bcf9e; --bad:#f19a9a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 860px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 27px; line-height: 1.2; font-weight: 650; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 17px; font-weight: 650; margin: 0 0 4px; }
h3 { font-size: 13px; font-weight: 600; margin: 20px 0 6px; color: var(--soft); }
section { margin-top: 36px; padding-top: 20px; border-top: 1px solid var(--line); }
p { margin: 0 0 10px; max-width: 68ch; } .soft, .note { color: var(--soft); } .note { font-size: 13px; } .warning { border-left: 3px solid var(--soft); padding-left: 10px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(112px, 1fr)); gap: 18px 16px;
  margin: 26px 0 0; padding: 0; }
.figures div { margin: 0; } .figures dt { font-size: 12.5px; color: var(--soft); }
.figures dd { margin: 0; font-size: 20px; white-space: nowrap; line-height: 1.3; font-weight: 600; }
.figures small { display: block; white-space: normal; font-size: 12.5px; font-weight: 400; color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; line-height: 1.4; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 12.5px; white-space: nowrap;
  vertical-align: bottom; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: break-word; } td code { white-space: nowrap; } .t { min-width: 15em; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; white-space: nowrap; overflow-wrap: normal; } .wide { overflow-x: auto; }
tr.top td { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); }
code, pre { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { background: var(--fill); border: 1px solid var(--line); border-radius: 5px; padding: 10px 13px;
  margin: 0 0 10px; white-space: pre-wrap; overflow-wrap: anywhere; }
.narrow { display: none; }
.wide:focus-visible { outline: 2px solid var(--c1); outline-offset: 2px; }
.pair > * { min-width: 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 8px 36px;
  align-items: start; }
.pictures { display: flex; flex-wrap: wrap; gap: 14px; margin: 10px 0; }
.pictures figure { margin: 0; width: 112px; } .pictures img { width: 112px; image-rendering: pixelated; display: block; }
.pictures figure div { position: relative; } .pictures svg { position: absolute; inset: 0; margin: 0; width: 100%; height: 100%; fill: #d40000; }
.pictures figure div:hover svg { display: none; }
.pictures svg.curve, .pictures figure div:hover svg.curve { position: static; display: block; height: auto; fill: none; }
.pictures figcaption { font-size: 12.5px; color: var(--soft); overflow-wrap: anywhere; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 8px 0 0; font-size: 12.5px; color: var(--soft); }
.legend i { display: inline-block; width: 16px; height: 3px; border-radius: 2px; margin: 0 6px 3px 0; }
.legend i.area { height: 10px; margin-bottom: -1px; opacity: .25; }
i.c1 { background: var(--c1); } i.c2 { background: var(--c2); } i.c3 { background: var(--c3); }
i.c4 { background: var(--c4); }
svg { display: block; width: 100%; height: auto; margin: 6px 0 4px; }
svg text { font: 11.5px system-ui, -apple-system, "Segoe UI", Arial, sans-serif; fill: var(--soft); }
svg .grid { stroke: var(--line); stroke-width: 1; } svg .axis { stroke: var(--soft); stroke-width: 1; opacity: .6; }
svg .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
svg .line.c1 { stroke: var(--c1); } svg .line.c2 { stroke: var(--c2); } svg .line.c3 { stroke: var(--c3); }
svg .line.c4 { stroke: var(--c4); } svg .thin { stroke-width: 1.2; } svg .dashed { stroke-dasharray: 4 3; }
svg .band { fill: var(--c1); opacity: .16; stroke: none; }
svg .dot { fill: var(--c1); } svg .dot.c2 { fill: var(--c2); } svg .ring { fill: none; stroke: var(--c2); stroke-width: 1.8; }
svg .tag { fill: var(--ink); paint-order: stroke; stroke: var(--bg); stroke-width: 4px; stroke-linejoin: round; }
svg .there { fill: var(--line); } svg .busy { fill: var(--c1); }
svg .bar-good { fill: var(--good); opacity: .75; } svg .bar-bad { fill: var(--bad); opacity: .75; }
svg .box { fill: var(--fill); stroke: var(--soft); stroke-width: 1; } svg .box.end { fill: none; stroke-dasharray: 3 2; }
svg .op { fill: var(--ink); font-size: 13px; font-weight: 600; } svg .wire { fill: none; stroke: var(--soft); stroke-width: 1.3; }
svg .tip { fill: var(--soft); }
@media (max-width: 640px) {
  main { padding: 24px 14px 48px; } h1 { font-size: 23px; }
  .broad { display: none; } .narrow { display: block; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px 12px; } .figures dd { white-space: normal; }
  th, td { padding-right: 10px; }
  /* A table that is too wide is moved sideways; a shadow says that there is more. */
  .wide { background: linear-gradient(to right, var(--bg) 40%, transparent) 0 0 / 36px 100% no-repeat local,
      linear-gradient(to left, var(--bg) 40%, transparent) 100% 0 / 36px 100% no-repeat local,
      linear-gradient(to right, var(--line), transparent) 0 0 / 12px 100% no-repeat scroll,
      linear-gradient(to left, var(--line), transparent) 100% 0 / 12px 100% no-repeat scroll; }
}
@page { margin: 16mm; }
@media print {
  :root { --bg:#ffffff; --ink:#111111; --soft:#555555; --line:#dcdfe2; --fill:#f7f7f8; --c1:#2b6cb0; --c2:#c05621;
    --c3:#2f855a; --c4:#805ad5; --good:#276749; --bad:#9b2c2c; color-scheme: light; }
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; } .broad { display: block; } .narrow { display: none; } h2, h3 { break-after: avoid; } svg, tr, pre, .figures { break-inside: avoid; }
}
)css";

} // namespace clade

#include "tools/launch/sbatch_text.hpp"

#include <fmt/format.h>

#include <algorithm>

// A line of options is read by sbatch itself, by rules of its own: inside double quotes a
// backslash takes the next character as it is, outside of them a space ends the option
// and "#" the line. --output is moreover a pattern in which "%%" is one "%", and any
// backslash turns the patterns off.

namespace clade {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

} // namespace

expected<void> check_sbatch_text(const std::string& what, const std::string& text) {
  if (std::ranges::any_of(text, is_control))
    return fail(error_kind::invalid_input,
                what
                    + " has a line break or another control character, which no option "
                      "of sbatch can");
  return {};
}

std::string sbatch_line(const std::string& name, const std::string& value) {
  std::string line = fmt::format("#SBATCH --{}=\"", name);
  for (const char c : value)
    line += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return line + "\"\n";
}

expected<std::string> read_sbatch_option(std::string option) {
  if (auto ok = check_sbatch_text("--sbatch", option); !ok)
    return tl::unexpected(ok.error());
  option.erase(0, option.starts_with("--") ? 2 : 0);
  const auto name = option.substr(0, option.find('='));
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  if (name.empty() || name.front() == '-' || !std::ranges::all_of(name, belongs))
    return fail(
        error_kind::invalid_input,
        fmt::format(
            "--sbatch \"{}\": no option of sbatch; write it as in --sbatch partition=gpu",
            option));
  if (name.size() == option.size())
    return fmt::format("#SBATCH --{}\n", name);
  return sbatch_line(name, option.substr(name.size() + 1));
}

std::string sbatch_pattern(const std::string& path) {
  std::string pattern;
  for (const char c : path)
    pattern += c == '%' ? std::string("%%") : std::string{c};
  return pattern;
}

expected<void> check_sbatch_folder(const std::string& folder, const std::string& advice) {
  if (folder.find('\\') != std::string::npos)
    return fail(
        error_kind::invalid_input,
        fmt::format(
            "{}: SLURM cannot write a log in a folder whose name has a backslash; {}",
            folder, advice));
  return check_sbatch_text("the folder", folder);
}

expected<std::string> read_slurm_job_id(std::string_view said) {
  // Warnings come first, and the last line ends with a line break.
  while (said.ends_with('\n'))
    said.remove_suffix(1);
  const auto line = said.substr(said.rfind('\n') + 1);
  const auto number = line.substr(0, line.find(';'));
  if (number.empty()
      || !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
    return fail(error_kind::io,
                "sbatch did not name the job; it said: " + std::string(line));
  return std::string(number);
}

} // namespace clade

#include "tools/cli/queue/entry_text.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "tools/cli/base/command.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <utility>

namespace clade {

namespace {

/// The table has the beginning of longer names and commands, so that the reason stays in
/// sight.
constexpr std::size_t longest_name = 40;

/// "-" for those who may not see it.
std::string command_text(const ordered_json& entry) {
  const auto words = entry.find("command");
  if (words == entry.end() || !words->is_array())
    return "-";
  const auto kind = text_of_key(entry, "kind");
  auto text = kind == "command" ? std::string() : kind;
  for (const auto& word : *words)
    text += (text.empty() ? "" : " ") + word.get<std::string>();
  return shortened_middle(plain_line(text));
}

} // namespace

std::string text_of_key(const ordered_json& j, const char* key,
                        const std::string& otherwise) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? plain_line(found->get<std::string>())
                                                : otherwise;
}

std::int64_t number_of_key(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string id_of_entry(const ordered_json& e) {
  const auto& id = e.at("id");
  return id.is_string() ? id.get<std::string>() : std::to_string(id.get<std::uint64_t>());
}

const char* const entry_table_head =
    "ID      USER        STATE      PRIORITY  SLOTS  NAME              REASON\n";

std::string entry_table_row(const ordered_json& entry) {
  const auto cell = [](const std::string& text, std::size_t width) {
    return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
  };
  const auto number = [&](const char* key) {
    return std::to_string(number_of_key(entry, key));
  };
  const auto stops = entry.find("stopping");
  const bool stopping = stops != entry.end() && *stops == true;
  auto row =
      cell(id_of_entry(entry), 8) + cell(text_of_key(entry, "user"), 12)
      + cell(stopping ? "stopping" : text_of_key(entry, "state"), 11)
      + cell(number("priority"), 10) + cell(number("slots"), 7)
      + cell(shortened(text_of_key(entry, "name", command_text(entry)), longest_name), 18)
      + text_of_key(entry, "reason");
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

void print_entry_changes(const ordered_json& entries, bool json,
                         std::map<std::string, std::string>& known) {
  for (const auto& e : entries) {
    const auto row = json ? text_of(e) + "\n" : entry_table_row(e);
    auto& before = known[id_of_entry(e)];
    if (before != row)
      std::cout << row;
    before = row;
  }
  std::cout << std::flush;
}

void print_entry(const ordered_json& e) {
  const auto line = [](const char* key, const std::string& text) {
    if (!text.empty() && text != "-")
      std::cout << std::left << std::setw(11) << key << text << "\n";
  };
  line("entry", id_of_entry(e));
  for (const char* key : {"user", "name", "kind", "state", "reason"})
    line(key, text_of_key(e, key));
  line("command", command_text(e));
  line("directory", text_of_key(e, "directory"));
  for (const char* key : {"priority", "slots", "ranks", "starts", "losses"})
    if (e.contains(key)
        && (number_of_key(e, key) != 0 || key != std::string_view("ranks")))
      line(key, std::to_string(number_of_key(e, key)));
  line("device", text_of_key(e, "device"));
  const std::string on =
      joined(e.value("on", ordered_json::array()), " ", [](const ordered_json& slot) {
        return plain_line(slot.get<std::string>());
      });
  line("on", on);
  for (const char* key : {"submitted", "started", "ended"})
    if (const auto time = number_of_key(e, key); time > 0)
      line(key, time_text(time));
  for (const char* key : {"run", "folder", "program", "log"})
    line(key, text_of_key(e, key));
}

} // namespace clade

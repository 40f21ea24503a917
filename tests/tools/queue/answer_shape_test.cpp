#include "tools/queue/client/answer_shape.hpp"
#include "tools/queue/head/queue_json.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Returns the answer as a client gets it: what is not negative is a natural there.
ordered_json sent(const ordered_json& answer) {
  return ordered_json::parse(text_of(answer));
}

/// The answers of servers, by the functions that they use.
ordered_json an_entry(bool brief) {
  queue_entry e;
  e.what = {.user = "ann", .words = {"true"}, .directory = "/tmp"};
  e.slots = {"cpu:0"};
  return sent(entry_json(3, e, "waits", {.readable = !brief, .brief = brief}));
}

ordered_json a_machine() {
  auto all = machine_json({}, {}, {{.name = "cpu:0", .device = "cpu"}}, 0);
  all["machines"] = queue_machines_json({{.name = "rome", .version = "1", .slots = 2}});
  all["version"] = "1";
  return sent(all);
}

/// Values of every kind that JSON has.
const std::vector<ordered_json> all_kinds{nullptr,
                                          true,
                                          -1,
                                          1,
                                          0.5,
                                          "text",
                                          ordered_json::array(),
                                          ordered_json::array({{}}),
                                          ordered_json::array({-1, "text"}),
                                          ordered_json::object()};

/// The answer with another value in the place of each, at any depth.
void for_each_variant(const ordered_json& whole,
                      const std::function<void(const ordered_json&)>& f) {
  const auto flat = whole.flatten();
  for (const auto& [place, value] : flat.items())
    for (auto at = nlohmann::ordered_json::json_pointer(place);;
         at = at.parent_pointer()) {
      for (const auto& other : all_kinds) {
        auto variant = whole;
        variant[at] = other;
        f(sent(variant));
      }
      if (at.empty())
        break;
    }
}

} // namespace

TEST_CASE("answer shape: what a queue's server answers has it") {
  for (const bool brief : {false, true}) {
    const auto entry = an_entry(brief);
    CHECK(check_shape(entry, entry_answer));
    const ordered_json list{{"change", 7}, {"entries", ordered_json::array({entry})}};
    CHECK(check_shape(sent(list), entries_answer));
  }
  CHECK(check_shape(a_machine(), machine_answer));
  CHECK(check_shape(sent({{"ids", {1, 2}}}), ids_answer));
  CHECK(check_shape({{"later", "than this client"}}, any_answer));
}

TEST_CASE("answer shape: what is read of it can be read, whatever was answered") {
  const ordered_json entries{{"change", 7},
                             {"entries", ordered_json::array({an_entry(false)})}};
  int refused = 0;
  for_each_variant(entries, [&](const ordered_json& variant) {
    if (!check_shape(variant, entries_answer)) {
      ++refused;
      return;
    }
    CHECK_NOTHROW(variant.at("change").get<std::uint64_t>());
    for (const auto& e : variant.at("entries")) {
      CHECK_NOTHROW(e.at("id").get<std::uint64_t>());
      CHECK_NOTHROW(e.at("state").get<std::string>());
    }
  });
  CHECK(refused > 100);
  for_each_variant(a_machine(), [&](const ordered_json& variant) {
    if (!check_shape(variant, machine_answer))
      return;
    for (const char* list : {"slots", "users"})
      CHECK(variant.at(list).is_array());
  });
}

TEST_CASE("answer shape: an error names the key") {
  const ordered_json no_entry{{"change", 1},
                              {"entries", ordered_json::array({ordered_json::object()})}};
  CHECK(check_shape(sent(no_entry), entries_answer).error().message
        == "\"id\" is not a whole number from 0");
  CHECK(check_shape(ordered_json::array(), any_answer).error().message
        == "it is no object");
  CHECK(check_shape({{"ids", {-1}}}, ids_answer).error().message
        == "\"ids\" is not a list of whole numbers");
}

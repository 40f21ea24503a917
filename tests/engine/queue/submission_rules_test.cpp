#include "engine/queue/submission_rules.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Returns why a submission is refused; empty: it is taken.
std::string said(const queue_submission& s) {
  const auto checked = check_submission(s);
  return checked ? "" : checked.error().message;
}

queue_submission a_command() {
  return {.user = "ann", .words = {"true"}, .directory = "/tmp"};
}

} // namespace

TEST_CASE("submission rules: what is too large is named with its size and a way out") {
  auto s = a_command();
  CHECK(said(s) == "");
  // The directory of 4 bytes, two words, and the end of each.
  s.words.emplace_back(65'536 - 4 - 5 - 1, 'a');
  CHECK(said(s) == "");
  s.words.back() += 'a';
  CHECK(
      said(s)
      == "the command and its directory have 65537 bytes, and a queue takes 65536 at "
         "most; put what is long into a file that the machines share, and name the file "
         "instead");
  s = a_command();
  s.after.assign(10'001, 1);
  CHECK(
      said(s)
      == "it comes after 10001 entries, and a queue takes 10000 at most; submit one that "
         "comes after some of them, such as the command true, and come after that");
  for (auto [option, text] : {std::pair{"--name", &queue_submission::name},
                              std::pair{"--once", &queue_submission::once},
                              std::pair{"--device", &queue_submission::device}}) {
    s = a_command();
    s.*text = std::string(200, 'a');
    CHECK(said(s) == "");
    s.*text += 'a';
    CHECK(said(s)
          == std::string(option)
                 + " has 201 bytes, and a queue takes 200 at most; say a shorter one");
    s.*text = "\x1b[2J";
    CHECK(said(s) == std::string(option) + " has a control character");
  }
}

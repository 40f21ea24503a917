#include "tests/support/scratch.hpp"
#include "tools/queue/head/entry_tokens.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("entry tokens: a token names its entry") {
  CHECK(entry_of_token("entry-12-abc") == 12);
  CHECK(entry_of_token("entry-18446744073709551615-") == 18446744073709551615U);
  for (const auto* other :
       {"", "entry-", "entry--", "entry-12", "entry-+1-a", "entry- 1-a", "entry-1a-b",
        "entry-18446744073709551616-a", "user-1-a"})
    CHECK_FALSE(entry_of_token(other));
  const std::string drawn(16, 'a');
  CHECK(is_token_of(12, "entry-12-" + drawn));
  for (const auto& other : {"entry-1-" + drawn, "entry-12-" + drawn.substr(1),
                            "entry-12-" + drawn + "\n", drawn})
    CHECK_FALSE(is_token_of(12, other));
}

TEST_CASE("entry tokens: an entry has one from when it is first asked for") {
  const scratch_folder queue;
  CHECK_FALSE(has_token(queue.path(), 3));
  CHECK_FALSE(is_its_token(queue.path(), 3, ""));
  const auto token = given_token(queue.path(), 3).value();
  CHECK(is_token_of(3, token));
  CHECK(has_token(queue.path(), 3));
  CHECK(given_token(queue.path(), 3).value() == token);
  CHECK(is_its_token(queue.path(), 3, token));
  CHECK_FALSE(is_its_token(queue.path(), 3, token + "a"));
  CHECK_FALSE(is_its_token(queue.path(), 4, token));
  const std::string other = "entry-3-" + std::string(64, 'b');
  REQUIRE(give_token(queue.path(), 3, other));
  CHECK(given_token(queue.path(), 3).value() == other);
}

#include "tests/support/scratch.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using lines = std::vector<std::string>;

TEST_CASE("queue addresses: a copied folder learns from a server where the others are") {
  const clade::scratch_folder folder;
  const auto file = folder.path() / address_file_name;
  write_text(file, "http://127.0.0.1:1\n");
  const lines both{"http://127.0.0.1:2", "http://127.0.0.1:1"};
  CHECK(learn_addresses(folder.path(), "http://127.0.0.1:2 http://127.0.0.1:1") == both);
  CHECK(read_addresses(folder.path()) == both);
  CHECK(learn_addresses(folder.path(), "") == both);
}

TEST_CASE("queue addresses: what somebody has written there stays") {
  const clade::scratch_folder folder;
  write_text(folder.path() / address_file_name, "http://localhost:9999\n");
  CHECK(learn_addresses(folder.path(), "http://lab:1 nonsense http://lab:2")
        == lines{"http://localhost:9999", "http://lab:1", "http://lab:2"});
}

TEST_CASE("queue addresses: who asks by TLS learns of nobody without") {
  const clade::scratch_folder folder;
  write_text(folder.path() / address_file_name, "https://lab:1\n");
  CHECK(learn_addresses(folder.path(), "http://lab:3 https://lab:1 https://lab:2")
        == lines{"https://lab:1", "https://lab:2"});
}

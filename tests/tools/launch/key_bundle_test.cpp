#include "tools/launch/key_bundle.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>

using namespace clade;

namespace {

constexpr const char* pem = "-----BEGIN X-----\nTUlJ\n-----END X-----\n";

struct folder {
  std::filesystem::path path;

  folder() {
    char made[] = "/tmp/clade-test-XXXXXX";
    path = ::mkdtemp(made);
    for (const char* file : {"ca.pem", "cert.pem", "key.pem"})
      write(file, pem);
  }
  ~folder() { std::filesystem::remove_all(path); }

  void write(const char* file, const std::string& text) const {
    std::ofstream(path / file) << text;
  }
};

} // namespace

TEST_CASE("key bundle: its three files are read") {
  const folder f;
  const auto bundle = read_key_bundle(f.path);
  REQUIRE(bundle);
  CHECK(bundle->authority == pem);
  CHECK(bundle->certificate == pem);
  CHECK(bundle->key == pem);
}

TEST_CASE("key bundle: the first file that is missing is named") {
  const folder f;
  std::filesystem::remove(f.path / "cert.pem");
  const auto bundle = read_key_bundle(f.path);
  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().kind == error_kind::not_found);
  CHECK(bundle.error().message.starts_with((f.path / "cert.pem").string()
                                           + ": no such key; "));
}

TEST_CASE("key bundle: what could say more than a key is refused") {
  const folder f;
  for (const std::string wrong : {"", "hello\n", "-----BEGIN X-----\n",
                                  "-----BEGIN X-----\n$(reboot)\n-----END X-----\n",
                                  "-----BEGIN X-----\nTUlJ\n-----END X-----",
                                  "-----BEGIN X-----\n\tTUlJ\n-----END X-----\n"}) {
    f.write("key.pem", wrong);
    const auto bundle = read_key_bundle(f.path);
    REQUIRE_FALSE(bundle);
    CHECK(bundle.error().message == (f.path / "key.pem").string() + ": not a PEM file");
  }
}

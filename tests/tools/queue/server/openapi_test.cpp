#include "tools/queue/server/openapi.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("OpenAPI: a path has the methods of the document") {
  const documented_paths paths;
  CHECK(paths.methods_of("/v1/entries") == "GET, POST");
  CHECK(paths.methods_of("/v1/entries/7") == "DELETE, GET");
  CHECK(paths.methods_of("/v1/entries/7/log") == "GET");
  for (const char* none :
       {"", "/", "/v1/entries/", "/v1/entries/7/", "/v1/entries/7/logs"})
    CHECK(paths.methods_of(none).empty());
}

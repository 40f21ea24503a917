#include "tests/support/golden.hpp"
#include "tools/queue/server/openapi.hpp"

#include <nlohmann/json.hpp>

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

TEST_CASE("OpenAPI: the document of submissions and entries stays what programs read") {
  const auto document = nlohmann::ordered_json::parse(openapi_text());
  std::vector<std::string> lines;
  for (const char* schema : {"Submission", "Entry", "EntryDetails"})
    for (const auto& [key, value] : document["components"]["schemas"][schema].items())
      if (value.is_object())
        for (const auto& [name, property] : value.items())
          lines.push_back(std::string(schema) + " " + name + " " + property.dump());
      else
        lines.push_back(std::string(schema) + " " + key + " " + value.dump());
  test::check_golden(std::filesystem::path(CLADE_ROOT)
                         / "tests/tools/queue/server/openapi_golden.txt",
                     lines);
}

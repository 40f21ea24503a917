// An experiment file, with an override behind a zero byte if it has one, is refused or
// becomes an experiment whose resolved form gives the same experiment.
#include "engine/config/experiment/sections.hpp"
#include "engine/config/file/document.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

search_space load_space() {
  auto space =
      parse_search_space("[operators.dense]\nunits = [8, 16]\n[hyperparameters]\n"
                         "learning_rate = {low = 0.001, high = 0.1, log = true}\n",
                         "mlp.toml");
  hold(space, "the search space parses");
  return std::move(*space);
}

/// Reads as `load_experiment` does, but for the files.
expected<experiment> read(std::string_view input) {
  const auto zero = input.find('\0');
  auto d = parse_document(input.substr(0, zero), "x.toml");
  if (!d)
    return tl::unexpected(std::move(d).error());
  if (zero != std::string_view::npos)
    if (auto applied = apply_override(*d, input.substr(zero + 1)); !applied)
      return tl::unexpected(std::move(applied).error());
  return read_experiment(
      *d, "/folder",
      [](table_reader& t, const experiment&) {
        std::string file;
        t.read("file", file);
        t.finish();
        return load_space();
      },
      written_by::people);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto e = read(text_of(data, size));
  if (!e)
    return refused(e);
  const std::string written = to_toml(*e);
  const auto again = parse_resolved(written, "resolved");
  hold(again, "what is written can be read");
  hold(to_toml(*again) == written, "and is the same");
  hold(search_hash(*again, {}) == search_hash(*e, {}), "and is the same search");
  return 0;
}

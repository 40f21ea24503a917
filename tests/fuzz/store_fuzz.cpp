// Whatever bytes of a store are changed, and wherever it ends: what is read of it is what
// was written, or an error. An input is a list of changes: three bytes say where, one
// what, and a last one of fewer than four where the file ends.
#include "tests/fuzz/law.hpp"
#include "tests/fuzz/small_history.hpp"
#include "tests/support/scratch.hpp"

#include <algorithm>

using namespace clade;
using namespace clade::fuzz;

namespace {

struct original {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  std::vector<bytes> records;
  std::string whole;

  original() {
    {
      auto s = store::create(file);
      hold(s, "a store can be made");
      const auto entries = small_history();
      hold(s->append(entries), "and written to");
      for (const entry& e : entries)
        records.push_back(encode(e.record));
    }
    whole = read_text(file);
  }
};

/// Returns the records that are read, and whether that was all without an error.
std::pair<std::vector<bytes>, bool> read_records(const store& s) {
  std::vector<bytes> found;
  const auto all = s.for_each([&](std::uint64_t, std::int64_t, const record& r) {
    found.push_back(encode(r));
    return expected<void>();
  });
  return {found, all.has_value()};
}

std::string changed(std::string file, choices& input) {
  while (input.rest().size() >= 4) {
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i)
      at = at << 8 | input.byte();
    file[at % file.size()] = static_cast<char>(input.byte());
  }
  if (!input.empty())
    file.resize(file.size() * input.byte() / 256);
  return file;
}

bool is_written(const std::vector<bytes>& records, const record& r) {
  return std::ranges::find(records, encode(r)) != records.end();
}

/// The tables for people have no checksums: they may say anything, but must be readable
/// or refused.
void read_tables(const store& s) {
  static_cast<void>(s.overview());
  static_cast<void>(s.generations(0, 100));
  static_cast<void>(s.members(1));
  static_cast<void>(s.find_overview(2));
  static_cast<void>(s.nodes());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const original o;
  choices input(data, size);
  write_text(o.file, changed(o.whole, input));
  const auto s = store::open_to_read(o.file);
  if (!s)
    return refused(s);
  const auto [read, all] = read_records(*s);
  hold(read.size() <= o.records.size()
           && std::equal(read.begin(), read.end(), o.records.begin()),
       "the records read are the first ones written");
  hold(!all || read.size() == o.records.size(), "that some are missing is an error");
  for (candidate_id id = 1; id <= 4; ++id) {
    if (const auto c = s->find_candidate(id))
      hold(c->id == id && is_written(o.records, candidate_born{*c}),
           "a candidate is as it was written");
    if (const auto e = s->find_evaluation(id))
      hold(e->id == id && is_written(o.records, candidate_evaluated{*e}),
           "an evaluation is as it was written");
    if (const auto w = s->find_weights(id))
      hold(w->empty() || *w == blob(bytes("the weights of 2")),
           "weights are as they were written");
  }
  read_tables(*s);
  return 0;
}

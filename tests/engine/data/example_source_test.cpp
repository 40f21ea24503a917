// Laws of all sources: whatever examples are asked for, in whatever order and parts, what
// comes is what was put in, and reading stays within its budget.
#include "engine/data/source/mapped_source.hpp"
#include "engine/data/source/open_source.hpp"
#include "engine/data/source/shuffled.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <rapidcheck.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <set>

using namespace clade;

namespace {

using indices = std::vector<std::uint32_t>;

template<class T>
std::vector<T> drawn(std::size_t count, random_stream& random) {
  std::vector<T> out(count);
  for (auto& v : out)
    v = static_cast<T>(random.below(256));
  return out;
}

/// Returns equal numbers that a mapped file holds.
stored_numbers mapped(const scratch_folder& folder, const stored_numbers& numbers) {
  const auto text = std::string(reinterpret_cast<const char*>(numbers.bytes().data()),
                                numbers.bytes().size());
  const unique_fd file(
      ::open(write(folder, "numbers", text).c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = text.size();
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  const bool is_mapped = at != MAP_FAILED;
  RC_ASSERT(is_mapped);
  return {numbers,
          {static_cast<const std::byte*>(at), size},
          {at, [size](const void* p) { ::munmap(const_cast<void*>(p), size); }}};
}

/// Examples of an image, a row of numbers and a sentence of tokens, with three numbers to
/// be learnt of each.
struct made_up {
  source_description description;
  source_tables tables;
};

made_up examples_of(std::size_t count, std::int64_t side, std::uint64_t seed) {
  auto random = derive(seed, purpose::synthetic, 0, 0);
  const auto pixels = count * static_cast<std::size_t>(side * side);
  return {
      .description = {.task = regression,
                      .count = count,
                      .inputs = {{"image", {{1, side, side}}, stored_type::uint8, 255},
                                 {"table", {{3}}, stored_type::float32},
                                 {"sentence", {{2}}, stored_type::int64}},
                      .target = {.kind = target_kind::several_numbers,
                                 .shape = {{3}},
                                 .type = stored_type::float32},
                      .train = {},
                      .validation = {},
                      .test = {},
                      .test_places = {}},
      .tables = {.inputs = {{drawn<std::uint8_t>(pixels, random), 255},
                            drawn<float>(3 * count, random),
                            drawn<std::int64_t>(2 * count, random)},
                 .targets = drawn<float>(3 * count, random)}};
}

/// Returns the bytes that `which` must give, put together one example at a time.
std::vector<std::byte> wanted(std::span<const std::byte> all, std::size_t row_bytes,
                              const indices& which) {
  std::vector<std::byte> out;
  for (const auto i : which)
    out.insert(out.end(), all.begin() + static_cast<std::ptrdiff_t>(i * row_bytes),
               all.begin() + static_cast<std::ptrdiff_t>((i + 1) * row_bytes));
  return out;
}

/// Reads in parts of at most `part` examples.
std::vector<std::byte> read(const example_source& source, std::size_t input,
                            const indices& which, std::size_t part) {
  const auto row_bytes = source.description().bytes_of_input(input);
  std::vector<std::byte> out(which.size() * row_bytes);
  for (std::size_t from = 0; from < which.size(); from += part) {
    const auto count = std::min(part, which.size() - from);
    RC_ASSERT(source.read(input, std::span(which).subspan(from, count),
                          std::span(out).subspan(from * row_bytes, count * row_bytes)));
  }
  return out;
}

std::vector<std::byte> targets(const example_source& source, const indices& which) {
  std::vector<std::byte> out(which.size() * source.description().bytes_of_target());
  RC_ASSERT(source.read_targets(which, out));
  return out;
}

/// How many bytes around that address are mapped in.
std::size_t mapped_in(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      here = begin <= at && at < end;
    else if (here && line.starts_with("Rss:"))
      return std::stoull(line.substr(4)) << 10;
  }
  return 0;
}

} // namespace

TEST_CASE("sources: any examples in any order and parts are the same of all kinds") {
  REQUIRE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 60);
    const auto side = *rc::gen::inRange<std::int64_t>(1, 40);
    auto made = examples_of(count, side, *rc::gen::arbitrary<std::uint64_t>());
    const auto any = rc::gen::inRange(0U, static_cast<std::uint32_t>(count));
    const auto which = *rc::gen::container<indices>(any);
    const auto part = *rc::gen::inRange<std::size_t>(1, 80);
    // From less than one example to more than all.
    const auto budget = *rc::gen::inRange<std::size_t>(0, std::size_t{1} << 20);
    const scratch_folder folder;
    auto from_file = made.tables;
    from_file.inputs[0] = mapped(folder, made.tables.inputs[0]);
    const table_source in_memory(made.description, made.tables);
    const mapped_source in_file(made.description, from_file, budget);
    for (std::size_t input = 0; input < 3; ++input) {
      const auto right = wanted(made.tables.inputs[input].bytes(),
                                made.description.bytes_of_input(input), which);
      RC_ASSERT(read(in_memory, input, which, part) == right);
      RC_ASSERT(read(in_file, input, which, part) == right);
      RC_ASSERT(std::ranges::equal(in_memory.in_place(input),
                                   made.tables.inputs[input].bytes()));
      const auto whole = in_file.in_place(input);
      RC_ASSERT(whole.empty() == (made.tables.inputs[input].bytes().size() > budget));
    }
    const auto right =
        wanted(made.tables.targets.bytes(), made.description.bytes_of_target(), which);
    RC_ASSERT(targets(in_memory, which) == right);
    RC_ASSERT(targets(in_file, which) == right);
  }));
}

TEST_CASE("sources: blocks hold every example once, in order and within the budget") {
  REQUIRE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 60);
    const auto made = examples_of(count, 5, 1);
    const auto budget = *rc::gen::inRange<std::size_t>(0, 400);
    const table_source source(made.description, made.tables);
    for (std::size_t input = 0; input < 3; ++input) {
      const auto row_bytes = made.description.bytes_of_input(input);
      std::vector<std::byte> all;
      RC_ASSERT(for_each_block(source, input, budget, [&](auto from, auto block) {
        RC_ASSERT(all.size() == from * row_bytes);
        RC_ASSERT(block.size() <= std::max(budget, row_bytes));
        all.insert(all.end(), block.begin(), block.end());
      }));
      RC_ASSERT(std::ranges::equal(all, made.tables.inputs[input].bytes()));
    }
  }));
}

TEST_CASE("sources: what is not there is an error that names it") {
  const auto made = examples_of(4, 2, 1);
  const table_source source(made.description, made.tables);
  std::vector<std::byte> two(8), odd(7);
  const auto none = source.read(0, indices{1, 4}, two);
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "example 4 was asked for, where there are 4");
  const auto little = source.read(0, indices{1, 2}, odd);
  REQUIRE_FALSE(little);
  CHECK(little.error().message == "2 examples of 4 bytes do not fill 7");
}

TEST_CASE("sources: a file larger than the budget is read within it") {
  constexpr std::size_t count = 8192, budget = std::size_t{12} << 20;
  auto made = examples_of(count, 1, 1);
  made.description.inputs[0].shape = {{1, 64, 64}};
  std::vector<std::uint8_t> pixels(count * 64 * 64);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(31 * i + i / 4096);
  made.tables.inputs[0] = {std::move(pixels), 255};
  const scratch_folder folder;
  auto from_file = made.tables;
  from_file.inputs[0] = mapped(folder, made.tables.inputs[0]);
  const auto* at = from_file.inputs[0].bytes().data();
  const mapped_source source(made.description, from_file, budget);
  REQUIRE(from_file.inputs[0].bytes().size() > 2 * budget);
  CHECK(source.in_place(0).empty());
  auto random = derive(1, purpose::synthetic, 0, 1);
  std::size_t most = 0;
  std::vector<std::byte> batch(64 * made.description.bytes_of_input(0));
  for (int i = 0; i < 50; ++i) {
    indices which(64);
    for (auto& w : which)
      w = static_cast<std::uint32_t>(random.below(count));
    REQUIRE(source.read(0, which, batch));
    REQUIRE(batch
            == wanted(made.tables.inputs[0].bytes(), made.description.bytes_of_input(0),
                      which));
    most = std::max(most, mapped_in(at));
  }
  CHECK(most > 0);
  CHECK(most <= budget);
}

TEST_CASE("shuffled: an order of all that keeps near what a window holds") {
  REQUIRE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 3000);
    const auto window = *rc::gen::inRange<std::size_t>(0, 3000);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    auto random = derive(seed, purpose::training, 0, 0);
    auto again = derive(seed, purpose::training, 0, 0);
    const auto order = shuffled(count, window, random);
    RC_ASSERT(shuffled(count, window, again) == order);
    auto sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < count; ++i)
      RC_ASSERT(sorted[i] == static_cast<std::int64_t>(i));
    // So many pieces are in a run of the window's length, two that reach over its ends, and
    // one that is shorter.
    const auto least = std::max<std::size_t>(1, window);
    const auto piece = std::max<std::size_t>(1, window / 64);
    for (std::size_t from = 0; from < count && window < count; from += least) {
      std::set<std::size_t> pieces;
      for (std::size_t i = from; i < std::min(from + least, count); ++i)
        pieces.insert(static_cast<std::size_t>(order[i]) / piece);
      RC_ASSERT(pieces.size() <= least / piece + 3);
    }
  }));
}

TEST_CASE("shuffled: what fits into a window is shuffled as a whole") {
  auto random = derive(3, purpose::training, 0, 0);
  auto plain = derive(3, purpose::training, 0, 0);
  std::vector<std::int64_t> right(100);
  std::iota(right.begin(), right.end(), std::int64_t{0});
  for (std::size_t i = right.size(); i > 1; --i)
    std::swap(right[i - 1], right[plain.below(i)]);
  const auto window = GENERATE(100U, 101U, 1'000'000U);
  CHECK(shuffled(100, window, random) == right);
}

TEST_CASE("sources: images stay in 8 bits from the file to the source") {
  std::string csv;
  for (int i = 0; i < 40; ++i) {
    for (int p = 0; p < 4; ++p)
      csv += std::to_string((37 * i + 61 * p) % 201) + ",";
    csv += i % 2 == 0 ? "a\n" : "b\n";
  }
  const scratch_folder folder;
  const data_params params{.file = write(folder, "x.csv", csv), .shape = {{1, 2, 2}}};
  const data_cache cache{.folder = folder.path() / "cache", .least_bytes = 0};
  for (const auto& kept : {data_cache{}, cache}) {
    const auto data = load_data(params, 1, kept);
    REQUIRE(data);
    CHECK(data->features.mapped() == !kept.folder.empty());
    const auto source = open_source(params, 1, kept);
    REQUIRE(source);
    const auto& d = (*source)->description();
    REQUIRE(d.inputs.size() == 1);
    CHECK(d.inputs[0].type == stored_type::uint8);
    CHECK((*source)->in_place(0).size() == 160);
    float largest = 0;
    for (const auto i : data->train)
      for (std::size_t p = 0; p < 4; ++p)
        largest = std::max(largest, static_cast<float>((37 * i + 61 * p) % 201));
    CHECK(d.inputs[0].divisor == largest);
    for (std::size_t i = 0; i < 160; ++i)
      CHECK(data->features[i]
            == static_cast<float>((37 * (i / 4) + 61 * (i % 4)) % 201) / largest);
    CHECK(d.train == data->train);
    CHECK(d.as_problem().outputs == 2);
    std::vector<std::int64_t> label(1);
    REQUIRE(
        (*source)->read_targets(indices{3}, std::as_writable_bytes(std::span(label))));
    CHECK(label[0] == 1);
  }
}

TEST_CASE("sources: images with other numbers stay in 32 bits") {
  for (const auto* odd : {"0.5", "256", "-1"}) {
    std::string csv = std::string("1,2,3,") + odd + ",a\n";
    for (int i = 0; i < 9; ++i)
      csv += i % 2 == 0 ? "1,2,3,4,a\n" : "4,3,2,1,b\n";
    const scratch_folder folder;
    const auto data =
        load_data({.file = write(folder, "x.csv", csv), .shape = {{1, 2, 2}}}, 1, {});
    REQUIRE(data);
    CHECK(data->features.type() == stored_type::float32);
    CHECK(data->features.divisor() == 1);
  }
}

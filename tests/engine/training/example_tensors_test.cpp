#include "engine/data/source/table_source.hpp"
#include "tests/engine/training/on_cpu.hpp"

#include <ATen/ATen.h>
#include <rapidcheck.h>

#include <numeric>
#include <set>

using namespace clade;

namespace {

/// Grey images of side 4 and two classes, all for training.
source_description images(std::size_t count) {
  source_description d{.count = count,
                       .inputs = {{"image", {{1, 4, 4}}, stored_type::uint8, 203}},
                       .target = {.classes = {"a", "b"}},
                       .train = {},
                       .validation = {},
                       .test = {},
                       .test_places = {}};
  d.train.resize(count);
  std::iota(d.train.begin(), d.train.end(), 0U);
  return d;
}

std::vector<std::uint8_t> pixels(std::size_t count) {
  auto random = derive(5, purpose::synthetic, 0, count);
  std::vector<std::uint8_t> out(16 * count);
  for (auto& p : out)
    p = static_cast<std::uint8_t>(random.below(256));
  return out;
}

source_tables tables(const source_description& d) {
  std::vector<std::int64_t> labels(d.count);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::int64_t>(i % 2);
  return {.inputs = {{pixels(d.count), d.inputs[0].divisor}}, .targets = labels};
}

/// A source that has its examples somewhere else, and gives none from `missing` on.
class elsewhere final : public example_source {
public:
  explicit elsewhere(source_description d, std::size_t missing = SIZE_MAX)
      : table_(d, tables(d)),
        missing_(missing) {}

  const source_description& description() const override { return table_.description(); }
  expected<void> read(std::size_t input, std::span<const std::uint32_t> examples,
                      std::span<std::byte> into) const override {
    for (const auto i : examples)
      if (i >= missing_)
        return fail(error_kind::io, "photographs/" + std::to_string(i) + ".png is gone");
    return table_.read(input, examples, into);
  }
  expected<void> read_targets(std::span<const std::uint32_t> examples,
                              std::span<std::byte> into) const override {
    return table_.read_targets(examples, into);
  }
  std::span<const std::byte> in_place(std::size_t) const override { return {}; }

private:
  table_source table_;
  std::size_t missing_;
};

std::string refusal(source_description d) {
  const auto there =
      to_device(std::make_shared<const elsewhere>(std::move(d)), "cpu", 1 << 20);
  REQUIRE_FALSE(there);
  CHECK(there.error().kind == error_kind::invalid_input);
  return there.error().message;
}

std::vector<batch> epochs(const device_data& data, const recipe& r) {
  batch_source source(data, r, {.seed = 2, .id = 3});
  std::vector<batch> out;
  for (std::uint32_t epoch = 1; epoch <= 2; ++epoch) {
    source.start(epoch);
    for (std::int64_t i = 0; i < source.batches_per_epoch(); ++i)
      out.push_back(source.next());
  }
  return out;
}

} // namespace

TEST_CASE("example tensors: 8 bits mean exactly what the host's division gives") {
  REQUIRE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 40);
    auto d = images(count);
    d.inputs[0].divisor = static_cast<float>(*rc::gen::inRange(1, 256));
    const auto numbers = tables(d).inputs[0];
    const auto in_place =
        on_cpu(std::make_shared<const table_source>(d, tables(d))).features;
    const auto held = on_cpu(std::make_shared<const elsewhere>(d)).features;
    const auto read = on_cpu(std::make_shared<const elsewhere>(d), 16).features;
    const auto which = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(count)));
    std::vector<float> right;
    for (const auto i : which)
      for (std::size_t p = 0; p < 16; ++p)
        right.push_back(numbers[static_cast<std::size_t>(i) * 16 + p]);
    for (const auto* features : {&in_place, &held, &read}) {
      const auto rows = features->rows(at::tensor(which, at::kLong));
      RC_ASSERT(rows.scalar_type() == at::kFloat);
      RC_ASSERT(rows.size(1) == 1 && rows.size(2) == 4 && rows.size(3) == 4);
      const std::vector<float> values(rows.const_data_ptr<float>(),
                                      rows.const_data_ptr<float>() + rows.numel());
      RC_ASSERT(values == right);
    }
  }));
}

TEST_CASE("example tensors: batches are the same wherever the examples lie") {
  const auto d = images(50);
  const recipe r{.batch_size = 8, .shift = 1, .flip = true, .cutout = 2, .mixup = 0.3};
  const auto in_place = on_cpu(std::make_shared<const table_source>(d, tables(d)));
  const auto held = on_cpu(std::make_shared<const elsewhere>(d));
  const auto right = epochs(in_place, r), same = epochs(held, r);
  REQUIRE(right.size() == same.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    CHECK(at::equal(right[i].features, same[i].features));
    CHECK(at::equal(right[i].targets, same[i].targets));
  }
}

TEST_CASE(
    "example tensors: what is not held is read for each batch and shuffled in windows") {
  const auto d = images(200);
  const auto all = on_cpu(std::make_shared<const elsewhere>(d));
  const auto parts = on_cpu(std::make_shared<const elsewhere>(d), 16 * 64);
  CHECK(all.features.window() == 200);
  CHECK(parts.features.window() == 16);
  std::multiset<std::string> seen, right;
  const auto text = [](const at::Tensor& image) {
    const auto values = image.contiguous();
    return std::string(reinterpret_cast<const char*>(values.const_data_ptr<float>()),
                       values.nbytes());
  };
  for (const auto& b : epochs(parts, {.batch_size = 16}))
    for (std::int64_t i = 0; i < b.features.size(0); ++i)
      seen.insert(text(b.features[i]));
  for (const auto& b : epochs(all, {.batch_size = 16}))
    for (std::int64_t i = 0; i < b.features.size(0); ++i)
      right.insert(text(b.features[i]));
  CHECK(seen == right);
}

TEST_CASE("example tensors: an example that cannot be read is named") {
  const auto source = std::make_shared<const elsewhere>(images(20), 7);
  const auto held = to_device(source, "cpu");
  REQUIRE_FALSE(held);
  CHECK(held.error().message == "photographs/7.png is gone");
  const auto parts = on_cpu(source, 16);
  CHECK(parts.features.rows(at::tensor({6}, at::kLong)).size(0) == 1);
  CHECK_THROWS_WITH(parts.features.rows(at::tensor({6, 8}, at::kLong)),
                    Catch::Contains("photographs/8.png is gone"));
}

TEST_CASE("example tensors: what training does not learn from is refused in a sentence") {
  auto two = images(4);
  two.inputs.push_back({"table", {{3}}, stored_type::float32});
  CHECK(refusal(two) == "examples have 2 inputs each, and training learns from one");
  auto tokens = images(4);
  tokens.inputs[0] = {"sentence", {{2}}, stored_type::int64};
  CHECK(
      refusal(tokens)
      == "the examples' sentence holds tokens, and training learns from images and from "
         "tables of numbers");
  auto steps = images(4);
  steps.target.kind = target_kind::sequence;
  CHECK(refusal(steps)
        == "each example has a sequence as its target, and training learns a class, "
           "numbers or labels");
}

#include "engine/data/columns/array_layout.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

using sizes = std::vector<std::int64_t>;

std::string layout_of(const sizes& example, const sizes& shape = {},
                      array_layout wanted = array_layout::automatic) {
  const auto found = find_layout(example, {shape}, wanted);
  if (!found)
    return found.error().message;
  return *found == array_layout::channels_last ? "last" : "first";
}

/// 12 images of 2 x 3 pixels and two channels that differ in every value, as
/// [n, height, width, channels], and the same as [n, channels, height, width].
struct pictures {
  scratch_folder folder;
  std::filesystem::path last, first;
  data_params params;

  pictures() {
    std::string by_pixel, by_channel, labels;
    for (char n = 0; n < 12; ++n) {
      for (char p = 0; p < 6; ++p)
        for (char c = 0; c < 2; ++c)
          by_pixel += static_cast<char>(n * 12 + c * 6 + p);
      for (char c = 0; c < 2; ++c)
        for (char p = 0; p < 6; ++p)
          by_channel += static_cast<char>(n * 12 + c * 6 + p);
      labels += static_cast<char>(n % 2);
    }
    last = write(folder, "last.npy", npy("|u1", "(12, 2, 3, 2)", by_pixel));
    first = write(folder, "first.npy", npy("|u1", "(12, 2, 2, 3)", by_channel));
    params.target_file = write(folder, "labels.npy", npy("|u1", "(12,)", labels));
  }

  [[nodiscard]] data_set loaded(const std::filesystem::path& file, array_layout layout,
                                const sizes& shape = {}) {
    params.file = file;
    params.layout = layout;
    params.shape.sizes = shape;
    auto data = load_data(params, 1);
    if (!data)
      FAIL(data.error().message);
    return std::move(*data);
  }
};

std::vector<float> values(const data_set& data) {
  return data.features.values();
}

} // namespace

TEST_CASE("array layout: few channels, or the shape, say where they stand") {
  CHECK(layout_of({3, 32, 32}) == "first");
  CHECK(layout_of({32, 32, 3}) == "last");
  CHECK(layout_of({1, 28, 28}) == "first");
  CHECK(layout_of({28, 20, 1}) == "last");
  CHECK(layout_of({12, 12, 3}, {3, 12, 12}) == "last");
  CHECK(layout_of({3, 12, 12}, {3, 12, 12}) == "first");
  CHECK(layout_of({16, 20, 20}) == "first");
  CHECK(layout_of({20, 20, 16}) == "last");
  CHECK(layout_of({4, 4, 3}) == "last");
}

TEST_CASE("array layout: where the evidence is not enough it is asked for") {
  const auto asks = [](const std::string& said) {
    return said.starts_with("holds images as [n, ")
           && said.find("write data.layout = \"channels_last\"") != std::string::npos;
  };
  CHECK(asks(layout_of({12, 12, 12})));
  CHECK(asks(layout_of({10, 12, 14})));
  CHECK(asks(layout_of({3, 12, 4})));
  CHECK(asks(layout_of({3, 3, 3}, {3, 3, 3})));
  // A shape that was written in the order of the file.
  CHECK(asks(layout_of({12, 12, 3}, {12, 12, 3})));
  CHECK(layout_of({12, 12, 12}, {}, array_layout::channels_last) == "last");
  CHECK(layout_of({12, 12, 3}, {12, 12, 3}, array_layout::channels_first) == "first");
}

TEST_CASE("array layout: what contradicts the shape is refused") {
  CHECK(layout_of({12, 12, 3}, {4, 9, 12})
        == "holds images as [n, 12, 12, 3], which are none of shape = [4, 9, 12] "
           "[channels, height, width]");
  CHECK(layout_of({3, 12, 12}, {3, 12, 12}, array_layout::channels_last)
            .starts_with("holds images as [n, 3, 12, 12], which are none of"));
  CHECK(layout_of({28, 28}, {}, array_layout::channels_last)
            .starts_with("is an array of [n, 28, 28], to which data.layout"));
}

TEST_CASE("array layout: vectors keep the order of the file") {
  CHECK(layout_of({12, 12, 3}, {432}) == "first");
  CHECK(layout_of({28, 28}) == "first");
  CHECK(layout_of({30}) == "first");
}

TEST_CASE("array layout: moving channels puts each value where its channel is") {
  CHECK(rc::check([] {
    const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 5); };
    const tensor_shape shape{{size(), size(), size()}};
    const auto n = static_cast<std::size_t>(shape.elements());
    const auto channels = static_cast<std::size_t>(shape.sizes[0]);
    const auto places = places_in_channels_last(shape);
    RC_ASSERT(places.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto pixel = i % (n / channels), channel = i / (n / channels);
      RC_ASSERT(places[i] == pixel * channels + channel);
    }
    RC_ASSERT(
        as_image(in_file(shape, array_layout::channels_last), array_layout::channels_last)
        == shape);
  }));
}

TEST_CASE("array layout: both orders of one data set are the same examples") {
  pictures p;
  const auto first = p.loaded(p.first, array_layout::channels_first);
  const auto last = p.loaded(p.last, array_layout::channels_last);
  CHECK(first.shape.sizes == sizes{2, 2, 3});
  CHECK(last.shape == first.shape);
  CHECK(values(last) == values(first));
  CHECK(last.layout == array_layout::channels_last);
  const auto found = p.loaded(p.last, array_layout::automatic, {2, 2, 3});
  CHECK(found.layout == array_layout::channels_last);
  CHECK(values(found) == values(first));
}

TEST_CASE("array layout: new examples are read in the order of the training data") {
  pictures p;
  const auto trained = p.loaded(p.last, array_layout::channels_last);
  const auto how = fit_preprocessing(p.params, 1);
  REQUIRE(how);
  const auto read = [&](const std::filesystem::path& file) {
    return read_new_examples(file, "", p.params, *how);
  };
  const auto again = read(p.last);
  REQUIRE(again);
  CHECK(again->features == values(trained));
  CHECK(read(p.first).error().message
        == p.first.string()
               + ": holds examples of [2, 2, 3], where those of the training data are "
                 "[2, 3, 2]");
  encoder out;
  encode(out, *how);
  const auto bytes = out.take();
  decoder in(bytes);
  CHECK(decode_preprocessing(in).layout == array_layout::channels_last);
  CHECK(in.finish());
}

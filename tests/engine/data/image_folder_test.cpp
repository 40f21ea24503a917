#include "engine/data/images/image_folder.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(CLADE_ROOT) / "tests/engine/data/images" / name;
}

void put(const scratch_folder& folder, const std::string& place,
         const std::string& name) {
  const auto to = folder.path() / place;
  std::filesystem::create_directories(to.parent_path());
  std::filesystem::copy_file(sample(name), to);
}

/// Images of two classes, 8 x 4 pixels, some of them elsewhere.
void put_pets(const scratch_folder& folder, const std::string& place = "pets") {
  for (const char* name :
       {"color.png", "color.jpg", "lossy.webp", "frames.gif", "palette.bmp"})
    put(folder, place + "/cat/" + name, name);
  for (const char* name : {"turned6.jpg", "turned2.jpg", "grey.jpg", "grey.png"})
    put(folder, place + "/dog/old/" + name, name);
  put(folder, place + "/dog/alpha.PNG", "alpha.png");
}

data_params params_of(const std::filesystem::path& folder) {
  data_params params;
  params.file = folder;
  return params;
}

std::string refusal(const scratch_folder& folder, const data_params& params) {
  const auto data = load_data(params, 1, {});
  return data ? "data" : without(data.error().message, folder);
}

} // namespace

TEST_CASE("image folder: the first folder on its way is the class of an image") {
  const scratch_folder folder;
  put_pets(folder);
  put(folder, "pets/stray.png", "color.png");
  put(folder, "pets/.hidden/1.png", "color.png");
  put(folder, "pets/cat/._color.png", "color.png");
  write(folder, "pets/cat/notes.txt", "no image");
  std::filesystem::create_directories(folder.path() / "pets/empty");
  const auto found = find_classes(folder.path() / "pets", folder_kind::images);
  REQUIRE(found);
  CHECK(found->classes == std::vector<std::string>{"cat", "dog"});
  REQUIRE(found->files.size() == 10);
  CHECK(found->files.front().path == "cat/color.jpg");
  CHECK(found->files.back().path == "dog/old/turned6.jpg");
  CHECK(found->files.back().label == 1);
  CHECK(found->others == 1);
  CHECK(found->unlabelled == std::vector<std::filesystem::path>{"stray.png"});
}

TEST_CASE("image folder: it becomes examples of one shape, in bytes") {
  const scratch_folder folder;
  put_pets(folder);
  auto params = params_of(folder.path() / "pets");
  params.train = 0.4, params.validation = 0.4, params.test = 0.2;
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->examples == 10);
  CHECK(data->shape == tensor_shape{{3, 4, 8}});
  CHECK(data->features.type() == stored_type::uint8);
  CHECK(data->classes == std::vector<std::string>{"cat", "dog"});
  params.shape = {{1, 2, 2}};
  const auto small = load_data(params, 1, {});
  REQUIRE(small);
  CHECK(small->shape == params.shape);
  CHECK(small->features.size() == 40);
  CHECK(small->checksum == data->checksum);
  CHECK(checksum_of_files(params) == data->checksum);
}

TEST_CASE("image folder: images of a test set get the shape of those to train on") {
  const scratch_folder folder;
  put_pets(folder, "train");
  for (const char* name : {"grey.jpg", "grey.png"}) {
    put(folder, std::string("test/cat/") + name, name);
    put(folder, std::string("test/dog/") + name, name);
  }
  auto params = params_of(folder.path() / "train");
  params.test_file = folder.path() / "test";
  params.train = 0.8, params.test = 0;
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{3, 4, 8}});
  CHECK(data->test.size() == 4);
}

TEST_CASE("image folder: what is read from the cache is what was decoded") {
  const scratch_folder folder;
  put_pets(folder);
  const auto params = params_of(folder.path() / "pets");
  const data_cache cache{.folder = folder.path() / "cache"};
  const auto first = load_data(params, 1, cache);
  const auto again = load_data(params, 1, cache);
  const auto without = load_data(params, 1, {});
  REQUIRE((first && again && without));
  CHECK(again->features.mapped());
  CHECK(again->features == without->features);
  CHECK(again->train == without->train);
  // A file that changed is another key.
  put(folder, "pets/cat/one_more.png", "alpha.png");
  const auto more = load_data(params, 1, cache);
  REQUIRE(more);
  CHECK(more->examples == 11);
}

TEST_CASE("image folder: damaged images are left out up to a share") {
  const scratch_folder folder;
  put_pets(folder);
  write(folder, "pets/cat/broken.jpg", "\xff\xd8\xff and no more");
  auto params = params_of(folder.path() / "pets");
  CHECK(
      refusal(folder, params).starts_with("pets/cat/broken.jpg: the image is damaged ("));
  CHECK(refusal(folder, params).ends_with("unreadable = 0.1"));
  params.unreadable = 0.1;
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->examples == 10);
}

TEST_CASE("image folder: one that holds no classes says what to do") {
  const scratch_folder folder;
  std::filesystem::create_directories(folder.path() / "empty");
  CHECK(refusal(folder, params_of(folder.path() / "empty"))
            .starts_with("empty: holds no image (.jpg, .png, .webp, .gif or .bmp) and no "
                         "text (.txt); name"));
  put(folder, "flat/1.png", "color.png");
  CHECK(refusal(folder, params_of(folder.path() / "flat"))
            .starts_with("flat: holds 1 images and no folder with any"));
  std::filesystem::create_directories(folder.path() / "tables");
  write(folder, "tables/a.csv", "a,b\n");
  CHECK(refusal(folder, params_of(folder.path() / "tables"))
            .find("name a file in it, such as ")
        != std::string::npos);
  put_pets(folder);
  auto params = params_of(folder.path() / "pets");
  params.shape = {{4, 8, 8}};
  CHECK(refusal(folder, params)
            .starts_with("pets: is a folder of images, of which shape = [4, 8, 8]"));
  params.shape = {};
  params.task = regression;
  CHECK(refusal(folder, params)
        == "pets: holds images by class; say task = \"classification\"");
}

TEST_CASE("image folder: folders through which links lead around have an end") {
  const scratch_folder folder;
  put_pets(folder);
  std::filesystem::create_directory_symlink("..", folder.path() / "pets/cat/round");
  std::filesystem::create_directory_symlink("cat", folder.path() / "pets/tiger");
  const auto found = find_classes(folder.path() / "pets", folder_kind::images);
  REQUIRE(found);
  CHECK(found->classes == std::vector<std::string>{"cat", "dog", "tiger"});
  CHECK(found->files.size() == 15);
}

TEST_CASE("image folder: parts are found by the names of folders") {
  const scratch_folder folder;
  put_pets(folder, "a/train");
  put_pets(folder, "a/test");
  put_pets(folder, "a/val");
  const auto parts = parts_of_folder(folder.path() / "a");
  CHECK(parts.train == folder.path() / "a/train");
  CHECK(parts.test == folder.path() / "a/test");
  CHECK(parts.unused == folder.path() / "a/val");
  put_pets(folder, "b/deep/Train");
  put_pets(folder, "b/deep/valid");
  CHECK(parts_of_folder(folder.path() / "b").train == folder.path() / "b/deep/Train");
  CHECK(parts_of_folder(folder.path() / "b").test == folder.path() / "b/deep/valid");
  put_pets(folder, "c");
  CHECK(parts_of_folder(folder.path() / "c").train == folder.path() / "c");
  CHECK(parts_of_folder(folder.path() / "c").test.empty());
}

TEST_CASE("image folder: a look at it finds shape, classes and what is odd") {
  const scratch_folder folder;
  put_pets(folder);
  put(folder, "pets/dog/again.png", "color.png");
  put(folder, "pets/stray.png", "color.png");
  const auto p = profile_data({.file = folder.path() / "pets"});
  REQUIRE(p);
  CHECK(p->format == images_format);
  CHECK(p->rows == 11);
  CHECK(p->shape == tensor_shape{{3, 4, 8}});
  CHECK(p->image_sizes == "8 x 4 pixels");
  CHECK(p->classes.size() == 2);
  std::string all;
  for (const auto& line : suspicion_lines(*p))
    all += line + "\n";
  CHECK(all.find("1 image is of two classes at once, such as cat/color.png and "
                 "dog/again.png")
        != std::string::npos);
  CHECK(all.find("1 image is in no folder of a class and left out, such as stray.png")
        != std::string::npos);
}

TEST_CASE("image folder: shapes fit sizes and numbers of images") {
  const auto shape = [](std::size_t count, std::size_t height, std::size_t width,
                        bool grey = false) {
    std::vector<seen_image> seen(count);
    for (auto& s : seen)
      s.header = {.height = height, .width = width, .grey = grey};
    seen.front().header.height += height > 64 ? 1 : 0;
    return to_text(shape_for(seen));
  };
  CHECK(shape(60'000, 28, 28, true) == "[1, 28, 28]");
  CHECK(shape(100, 20, 60) == "[3, 20, 60]");
  CHECK(shape(200, 400, 500) == "[3, 224, 224]");
  CHECK(shape(5'000, 400, 500) == "[3, 64, 64]");
  CHECK(shape(100'000, 400, 500) == "[3, 32, 32]");
  CHECK(shape(200, 100, 100) == "[3, 96, 96]");
  CHECK(shape(5'000, 200, 800) == "[3, 32, 128]");
}

TEST_CASE("image folder: new images are scaled like those of training") {
  const scratch_folder folder;
  put_pets(folder);
  const auto params = params_of(folder.path() / "pets");
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  const auto one =
      read_new_examples(folder.path() / "pets/cat/color.png", "", params, *how);
  REQUIRE(one);
  CHECK(one->count == 1);
  CHECK(one->names == std::vector<std::string>{"color.png"});
  CHECK(one->features.front() == 1);
  CHECK_FALSE(one->targets);
  put(folder, "pets/stray.png", "color.png");
  write(folder, "pets/cat/broken.png", "");
  const auto all = read_new_examples(folder.path() / "pets", "", params, *how);
  REQUIRE(all);
  CHECK(all->count == 11);
  CHECK(all->names.front() == "stray.png");
  REQUIRE(all->notes.size() == 1);
  CHECK(all->notes.front().starts_with("1 of 12 images cannot be read"));
  REQUIRE(all->targets);
  CHECK(all->targets->values.back() == 1);
  CHECK(all->targets->blanks == 1);
}

namespace {

/// A table beside images: four red ones and four of grey.
std::string put_table(const scratch_folder& folder) {
  std::string table = "photo,weight,kind\n";
  for (int i = 0; i < 4; ++i) {
    const auto number = std::to_string(i);
    put(folder, "shots/red" + number + ".png", "color.png");
    put(folder, "shots/gray" + number + ".jpg", "grey.jpg");
    table += "red" + number + ".png," + number + ".5,red\n";
    table += "gray" + number + ".jpg,-" + number + ",gray\n";
  }
  return table;
}

data_params listed(const std::filesystem::path& table) {
  data_params params;
  params.file = table;
  params.images = "photo";
  params.image_folder = table.parent_path() / "shots";
  params.target = "kind";
  return params;
}

} // namespace

TEST_CASE("image list: a table names images and their classes or numbers") {
  const scratch_folder folder;
  auto params = listed(write(folder, "list.csv", put_table(folder)));
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->examples == 8);
  CHECK(data->shape == tensor_shape{{3, 4, 8}});
  CHECK(data->classes == std::vector<std::string>{"gray", "red"});
  CHECK(checksum_of_files(params) == data->checksum);
  CHECK(std::ranges::all_of(data->test_names, has_image_ending));
  CHECK(data->test_names.size() == data->test.size());
  params.target = "weight";
  params.task = regression;
  const auto numbers = load_data(params, 1, {});
  REQUIRE(numbers);
  CHECK(numbers->targets.size() == 8);
}

TEST_CASE("image list: what is wrong is said with its line") {
  const scratch_folder folder;
  const auto table = put_table(folder);
  auto params = listed(write(folder, "list.csv", table + "none.png,1,red\n"));
  params.unreadable = 0;
  CHECK(refusal(folder, params).starts_with("shots/none.png: "));
  params = listed(write(folder, "list.csv", table + ",1,red\n"));
  CHECK(refusal(folder, params) == "list.csv:10: column 1 (\"photo\") names no image");
  params = listed(write(folder, "list.csv", table + "red0.png,1\n"));
  CHECK(refusal(folder, params) == "list.csv:10: 2 columns instead of 3");
  params = listed(write(folder, "list.csv", table + "red0.png,much,\n"));
  CHECK(refusal(folder, params) == "data");
  params.target = "weight";
  params.task = regression;
  CHECK(refusal(folder, params).starts_with("list.csv:10: the target \"much\" is no"));
  params.images = "weight";
  CHECK(refusal(folder, params)
        == "list.csv:1: column 2 (\"weight\") is named twice, as images and as target");
}

TEST_CASE("image list: clade new finds the column and the folder") {
  const scratch_folder folder;
  const auto table = write(folder, "list.csv", put_table(folder));
  const auto p = profile_data({.file = table});
  REQUIRE(p);
  CHECK(p->images == "photo");
  CHECK(p->image_folder == folder.path() / "shots");
  CHECK(p->shape == tensor_shape{{3, 4, 8}});
  CHECK(p->rows == 8);
  CHECK(p->task == classification);
  const auto number = profile_data({.file = table, .target = "weight"});
  REQUIRE(number);
  CHECK(number->task == regression);
}

TEST_CASE("image list: new rows are predicted by their images, with or without targets") {
  const scratch_folder folder;
  const auto table = put_table(folder);
  const auto params = listed(write(folder, "list.csv", table));
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  const auto all = read_new_examples(write(folder, "new.csv", table), "", params, *how);
  REQUIRE(all);
  CHECK(all->count == 8);
  CHECK(all->names.front() == "red0.png");
  REQUIRE(all->targets);
  CHECK(all->targets->values.front() == 1);
  const auto bare = read_new_examples(
      write(folder, "shots/bare.csv", "photo\nred1.png\ngray3.jpg\n"), "", params, *how);
  REQUIRE(bare);
  CHECK(bare->count == 2);
  CHECK_FALSE(bare->targets);
}

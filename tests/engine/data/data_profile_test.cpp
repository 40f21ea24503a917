#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

data_profile profile_in(const scratch_folder& folder, const std::string& name,
                        const std::string& bytes, std::string target = "") {
  auto p =
      profile_data({.file = write(folder, name, bytes), .target = std::move(target)});
  if (!p)
    FAIL(p.error().message);
  return std::move(*p);
}

data_profile profile(const std::string& name, const std::string& bytes,
                     std::string target = "") {
  const scratch_folder folder;
  return profile_in(folder, name, bytes, std::move(target));
}

std::string error_in(const std::string& name, const std::string& bytes,
                     std::string target = "") {
  const scratch_folder folder;
  const auto p =
      profile_data({.file = write(folder, name, bytes), .target = std::move(target)});
  return p ? "no error" : without(p.error().message, folder);
}

// So many rows of text(i).
template<class Text>
std::string lines(std::size_t count, Text text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += text(i) + "\n";
  return out;
}

std::string number(std::size_t i) {
  return std::to_string(i * 2654435761U % 1000);
}

bool suspects(const data_profile& p, suspicion_kind kind,
              const std::string& column = "") {
  return std::ranges::any_of(p.suspicions, [&](const suspicion& s) {
    return s.kind == kind && s.column == column;
  });
}

} // namespace

// Files as the usual sources have them.

TEST_CASE("data profile: census rows without names, with question marks and <=50K") {
  const auto p = profile("adult.data.gz", gzip(lines(300, [](std::size_t i) {
                           return number(i) + ", " + (i % 7 == 0 ? "?" : "Private") + ", "
                                  + (i % 2 == 0 ? "Male" : "Female") + ", "
                                  + (i % 4 == 0 ? ">50K" : "<=50K");
                         })));
  CHECK(p.header == "none");
  CHECK(p.rows == 300);
  CHECK(p.target_column == 3U);
  CHECK(p.target_found == target_reason::last);
  CHECK(p.task == classification);
  CHECK(p.classes == std::vector<value_count>{{"<=50K", 225}, {">50K", 75}});
  CHECK(p.table.columns[1].blanks == 43);
  CHECK(p.split == split_kind::stratified);
  CHECK(p.label(1) == "2");
}

TEST_CASE("data profile: scikit-learn's counts name the classes") {
  const auto p = profile(
      "iris.csv", "150,2,setosa,versicolor,virginica\n" + lines(150, [](std::size_t i) {
                    return number(i) + "," + number(i + 1) + "," + std::to_string(i % 3);
                  }));
  CHECK(p.header == "counts");
  CHECK(p.task == classification);
  CHECK(p.classes.front().value == "setosa");
  CHECK(p.classes.size() == 3);
}

TEST_CASE("data profile: house prices with names, blanks and texts") {
  const auto p = profile("housing.csv",
                         "longitude,total_bedrooms,median_house_value,ocean_proximity\n"
                             + lines(400, [](std::size_t i) {
                                 return "-122." + number(i) + ","
                                        + (i % 9 == 0 ? "" : number(i)) + ","
                                        + std::to_string(50000 + 17 * i) + ".0,"
                                        + (i % 3 == 0 ? "NEAR BAY" : "INLAND");
                               }));
  CHECK(p.header == "names");
  CHECK(p.target_column == 2U);
  CHECK(p.target_found == target_reason::suggested);
  CHECK(p.task == regression);
  CHECK(p.split == split_kind::shuffled);
  CHECK(p.table.columns[3].kind == column_kind::category);
  CHECK(p.classes.empty());
}

TEST_CASE("data profile: targets in a file beside") {
  const scratch_folder folder;
  write(folder, "sugar_target.csv.gz",
        gzip(lines(200, [](std::size_t i) { return number(i) + ".5e+00"; })));
  const auto p =
      profile_in(folder, "sugar_data_raw.csv.gz", gzip(lines(200, [](std::size_t i) {
                   return number(i + 3) + "," + number(i + 5);
                 })));
  CHECK(p.target_file.filename() == "sugar_target.csv.gz");
  CHECK(!p.target_column);
  CHECK(p.task == regression);
  CHECK(p.shape == tensor_shape{{2}});
}

TEST_CASE(
    "data profile: an array of images, its labels and its test set by their names") {
  const scratch_folder folder;
  const auto images = [](std::uint32_t n) {
    return idx({n, 4, 4}, std::string(n * 16, 'a'));
  };
  const auto labels = [](std::uint32_t n) {
    std::string values;
    for (std::uint32_t i = 0; i < n; ++i)
      values += static_cast<char>(i % 5);
    return idx({n}, values);
  };
  write(folder, "train-labels-idx1-ubyte", labels(100));
  write(folder, "t10k-images-idx3-ubyte", images(20));
  write(folder, "t10k-labels-idx1-ubyte", labels(20));
  const auto p = profile_in(folder, "train-images-idx3-ubyte", images(100));
  CHECK(p.format == "IDX");
  CHECK(p.image());
  CHECK(p.shape == tensor_shape{{1, 4, 4}});
  CHECK(p.target_file.filename() == "train-labels-idx1-ubyte");
  CHECK(p.test_target_file.filename() == "t10k-labels-idx1-ubyte");
  CHECK(p.classes.size() == 5);
}

TEST_CASE("data profile: CIFAR has its labels itself") {
  std::string bytes;
  for (int i = 0; i < 30; ++i)
    bytes += static_cast<char>(i % 10) + std::string(3072, 'p');
  const auto p = profile("batch.bin", bytes);
  CHECK(p.format == "CIFAR");
  CHECK(p.shape == tensor_shape{{3, 32, 32}});
  CHECK(p.classes.size() == 10);
}

TEST_CASE("data profile: series have their classes, and a test set beside them") {
  const scratch_folder folder;
  const std::string head = "@problemName Gun\n@classLabel true a b\n@data\n";
  write(folder, "Gun_TEST.ts", head + "1,2:a\n");
  const auto p = profile_in(folder, "Gun_TRAIN.ts",
                            head + lines(120, [](std::size_t i) {
                              return fmt::format("{}{}:{}", i % 3 == 0 ? "?," : "1,2,", i,
                                                 i % 2 == 0 ? "a" : "b");
                            }));
  CHECK(p.format == "time series (.ts)");
  CHECK(p.shape == tensor_shape{{3, 1}});
  CHECK(p.series());
  CHECK(p.task == classification);
  CHECK_FALSE(p.task_guessed);
  CHECK(p.classes.size() == 2);
  CHECK(p.test_file.filename() == "Gun_TEST.ts");
  CHECK(suspicion_lines(p)
        == std::vector<std::string>{
            "series have 2 to 3 steps; each is stretched to 3",
            "40 values are missing; each is put on the line between those around it"});
  const auto numbers = profile("x.ts", "@problemName x\n@targetLabel true\n@data\n"
                                           + lines(20, [](std::size_t i) {
                                               return fmt::format("1,2:3,4:{}", i);
                                             }));
  CHECK(numbers.task == regression);
  CHECK(numbers.shape == tensor_shape{{2, 2}});
  CHECK(numbers.test_file.empty());
  CHECK(
      error_in("x.ts", head + "1,2:a\n2,x:b\n").starts_with("x.ts:5: channel 1, step 2"));
}

TEST_CASE(
    "data profile: an array of two dimensions is a table, its target the last column") {
  std::string values;
  for (int i = 0; i < 200; ++i)
    values += raw<double>({i * 0.37, i * 1.5, static_cast<double>(i % 2)});
  const auto p = profile("x.npy", npy("<f8", "(200, 3)", values));
  CHECK(p.target_column == 2U);
  CHECK(p.task == classification);
  CHECK(p.shape == tensor_shape{{2}});
  CHECK(error_in("x.npy", npy("<f8", "(2, 2, 2)", std::string(64, '\0')))
        == "x.npy: an array of [2, 2, 2] has no target column; name the file of the "
           "targets, --target FILE");
}

// The faults of data, and the way it is split.

TEST_CASE("data profile: customers with everything that is wrong with them") {
  const auto p = profile(
      "churn.csv",
      "customer,age,plan,signup,leaver,only,churned\n" + lines(300, [](std::size_t i) {
        const bool churned = i * 7919 % 10 < 3;
        return "C" + std::to_string(1000 + i) + "," + (i % 11 == 0 ? "NA" : number(i))
               + "," + (i % 3 == 0 ? "gold" : "basic") + ",2024-0"
               + std::to_string(1 + i * 31 % 9) + "-0" + std::to_string(1 + i % 9) + ","
               + (churned ? "left" : "here") + ",same," + (churned ? "yes" : "no");
      }));
  CHECK(use_of(p.table.columns[0]).ignored == ignore_reason::identifier);
  CHECK(use_of(p.table.columns[5]).ignored == ignore_reason::constant);
  CHECK(p.table.columns[3].kind == column_kind::date);
  CHECK(p.target.kind == column_kind::yes_no);
  CHECK(suspects(p, suspicion_kind::gives_target_away, "leaver"));
  CHECK(!suspects(p, suspicion_kind::gives_target_away, "plan"));
  CHECK(p.split == split_kind::stratified);
  CHECK(p.shape == tensor_shape{{4}});
  for (const suspicion& s : p.suspicions)
    CHECK(!suspicion_text(s, p).empty());
}

TEST_CASE("data profile: rows in order of a date are split by time") {
  const auto p =
      profile("sales.csv", "day,visitors,sales\n" + lines(200, [](std::size_t i) {
                             return "2024-0" + std::to_string(1 + i / 28) + "-"
                                    + std::to_string(1 + i % 28) + "," + number(i) + ","
                                    + number(i + 9) + ".5";
                           }));
  CHECK(p.split == split_kind::by_time);
  CHECK(p.split_column == "day");
}

TEST_CASE("data profile: rows of an identifier that repeats are split by it") {
  const auto p =
      profile("visits.csv", "patient_id,pulse,ill\n" + lines(300, [](std::size_t i) {
                              return "P" + std::to_string(i % 60) + "," + number(i) + ","
                                     + std::to_string(i % 60 % 2);
                            }));
  CHECK(p.split == split_kind::by_group);
  CHECK(p.split_column == "patient_id");
}

TEST_CASE("data profile: rows that repeat, small classes and blank targets are said") {
  const auto p = profile("t.csv", "a,label\n1,x\n1,x\n2,y\n3,z\n4,\n5,x\n6,y\n7,y\n");
  CHECK(suspects(p, suspicion_kind::repeated_rows));
  CHECK(suspects(p, suspicion_kind::lone_class));
  CHECK(suspects(p, suspicion_kind::blank_target));
  CHECK(suspects(p, suspicion_kind::few_rows));
}

TEST_CASE("data profile: the second column of a name has one of its own") {
  const auto p = profile("t.csv", "a,a,label\n1,2,x\n3,4,y\n");
  CHECK(suspects(p, suspicion_kind::named_twice, "a.1"));
  CHECK(p.label(0) == "a");
  CHECK(p.label(1) == "a.1");
}

TEST_CASE("data profile: a target that is not there has the nearest name") {
  const std::string text = "age,churned\n1,yes\n2,no\n";
  CHECK(error_in("t.csv", text, "churnd")
        == "t.csv: no column is the target \"churnd\"; did you mean \"churned\"?");
  CHECK(
      error_in("t.csv", "1,2\n3,4\n", "x")
      == "t.csv: no column is the target \"x\": the file has no names of columns; use a "
         "number from 1 to 2 or \"last\", or say --header names if its first line "
         "names them");
  CHECK(profile("t.csv", text, "1").target_column == 0U);
}

TEST_CASE("data profile: 480 classes of one row are one line") {
  const auto p = profile(
      "t.csv",
      "a,customer\n"
          + lines(480,
                  [](std::size_t i) { return number(i) + ",name " + std::to_string(i); }),
      "customer");
  CHECK(std::ranges::count(p.suspicions, suspicion_kind::lone_class, &suspicion::kind)
        == 1);
  CHECK(suspicion_lines(p).size() <= 3);
}

TEST_CASE("data profile: of a kind five lines are said, and the number of the others") {
  std::string head, row;
  for (int i = 0; i < 30; ++i)
    head += "c" + std::to_string(i) + ",", row += i % 2 == 0 ? "," : "x,";
  std::string text = head + "label\n";
  for (int i = 0; i < 200; ++i)
    text += (i % 4 == 0 ? row : std::string(30, ',')) + (i % 3 == 0 ? "p" : "q") + "\n";
  const auto p = profile("t.csv", text);
  const auto said = suspicion_lines(p);
  CHECK(std::ranges::count_if(said,
                              [](const std::string& line) {
                                return line.find("is blank in") != std::string::npos;
                              })
        == 5);
  CHECK(std::ranges::any_of(said, [](const std::string& line) {
    return line.starts_with("the same as of \"c1\" is true of 10 more: \"c11\", ");
  }));
}

TEST_CASE("data profile: classes and values that look alike, and infinite numbers") {
  const auto p = profile("t.csv", "a,town,label\n" + lines(300, [](std::size_t i) {
                                    return (i % 9 == 0 ? "inf" : number(i)) + ","
                                           + (i % 4 == 0 ? "Bern" : "bern") + ","
                                           + (i % 5 == 0   ? "yes\u00a0"
                                              : i % 2 == 0 ? "Yes"
                                                           : "no");
                                  }));
  CHECK(suspects(p, suspicion_kind::alike_classes));
  CHECK(suspects(p, suspicion_kind::alike_values, "town"));
  CHECK(suspects(p, suspicion_kind::infinite, "a"));
  CHECK(!suspects(p, suspicion_kind::mostly_numbers, "a"));
}

TEST_CASE("data profile: a gross outlier is named, in few rows and in many") {
  for (const std::size_t rows : {60, 20'000}) {
    const auto p = profile("t.csv", "income,age,label\n" + lines(rows, [](std::size_t i) {
                                      return (i == 7 ? "-1000000000"
                                                     : std::to_string(i * 7919 % 5003))
                                             + "," + std::to_string(i * 31 % 71) + ","
                                             + (i % 2 == 0 ? "yes" : "no");
                                    }));
    CHECK(suspects(p, suspicion_kind::outlier, "income"));
    CHECK(!suspects(p, suspicion_kind::outlier, "age"));
    REQUIRE(p.table.columns.size() == 3);
    CHECK(p.table.columns[0].outlier == -1e9);
  }
}

TEST_CASE("data profile: columns that make the target up are named") {
  const auto p =
      profile("t.csv", "a,b,c,total\n" + lines(300, [](std::size_t i) {
                         const auto a = i * 2654435761U % 997, b = i * 40503U % 811;
                         return std::to_string(a) + "," + std::to_string(b) + ","
                                + number(i + 1) + "," + std::to_string(a + 3 * b) + ".5";
                       }));
  const auto found =
      std::ranges::find(p.suspicions, suspicion_kind::make_up_target, &suspicion::kind);
  REQUIRE(found != p.suspicions.end());
  CHECK(found->names == std::vector<std::string>{"a", "b"});
}

TEST_CASE("data profile: each column that gives the target away by itself is named") {
  const auto p = profile("t.csv", "a,z,c,total\n" + lines(300, [](std::size_t i) {
                                    const auto a = i * 2654435761U % 997;
                                    return std::to_string(a) + ","
                                           + std::to_string(5000 - 3 * a) + ","
                                           + number(i + 1) + "," + std::to_string(3 * a)
                                           + ".5";
                                  }));
  std::set<std::string> named;
  for (const auto& s : p.suspicions) {
    if (s.kind == suspicion_kind::make_up_target)
      named.insert(s.names.begin(), s.names.end());
    if (s.kind == suspicion_kind::gives_target_away)
      named.insert(s.column);
  }
  CHECK(named == std::set<std::string>{"a", "z"});
}

TEST_CASE("data profile: a year that rises orders the rows, and no forecast is made") {
  const auto by_quarter = lines(160, [](std::size_t i) {
    return std::to_string(1970 + i / 4) + "," + std::to_string(1 + i % 4) + ","
           + number(i) + ".5," + number(i + 3) + ".25";
  });
  const auto p = profile("t.csv", "year,quarter,rate,sales\n" + by_quarter);
  CHECK(p.split == split_kind::by_time);
  CHECK(p.split_column == "year");
  CHECK(suspects(p, suspicion_kind::no_forecast, "year"));
  // Any other number that rises says nothing.
  CHECK(profile("t.csv", "dose,quarter,rate,sales\n" + by_quarter).split
        == split_kind::shuffled);
}

TEST_CASE("data profile: where nothing is left to learn from it says why") {
  CHECK(error_in("t.csv", "file,label\n"
                              + lines(50,
                                      [](std::size_t i) {
                                        return "cats/img " + std::to_string(i) + ".png,"
                                               + (i % 2 == 0 ? "cat" : "dog");
                                      }))
        == "t.csv: no column is left to learn from (\"file\": it names files of images, "
           "which are not read by their names); what is learnt from are numbers, "
           "categories, dates and sentences");
}

// Archives of arrays.

namespace {

std::string x_of(int rows, double first = 0.37) {
  std::string values;
  for (int i = 0; i < 2 * rows; ++i)
    values += raw<double>({first * i});
  return npy("<f8", "(" + std::to_string(rows) + ", 2)", values);
}

std::string y_of(int rows) {
  std::string values;
  for (int i = 0; i < rows; ++i)
    values +=
        i % 2 == 0 ? std::string("c\0\0\0a\0\0\0", 8) : std::string("d\0\0\0\0\0\0\0", 8);
  return npy("<U2", "(" + std::to_string(rows) + ",)", values);
}

} // namespace

TEST_CASE("data profile: Keras' four arrays hold the test set, and texts are classes") {
  const auto p = profile("d.npz", npz({{"x_test.npy", x_of(20)},
                                       {"y_test.npy", y_of(20)},
                                       {"X_train.npy", x_of(100)},
                                       {"Y_train.npy", y_of(100)},
                                       {"x_val.npy", x_of(20)}}));
  CHECK(p.array == "X_train");
  CHECK(p.target_array == "Y_train");
  CHECK(p.test_array == "x_test");
  CHECK(p.test_target_array == "y_test");
  CHECK(p.shares().test == 0);
  CHECK(p.classes == std::vector<value_count>{{"ca", 50}, {"d", 50}});
  CHECK(p.unused_arrays == std::vector<std::string>{"x_val"});
  CHECK(suspects(p, suspicion_kind::unused_arrays));
}

TEST_CASE("data profile: of millions of examples no more are kept back than tell models "
          "apart") {
  const auto shares = [](std::uint64_t rows, bool tested = false) {
    data_profile p;
    p.rows = rows;
    p.test_file = tested ? "test.csv" : "";
    const auto s = p.shares();
    return std::array{s.train, s.validation, s.test};
  };
  CHECK(shares(4'999) == std::array{0.6, 0.2, 0.2});
  CHECK(shares(5'000) == std::array{0.7, 0.1, 0.2});
  CHECK(shares(250'000) == std::array{0.7, 0.1, 0.2});
  CHECK(shares(500'000) == std::array{0.8, 0.1, 0.1});
  CHECK(shares(6'510'416) == std::array{0.986, 0.007, 0.007});
  CHECK(shares(6'510'416, true) == std::array{0.993, 0.007, 0.0});
  CHECK(shares(4'000'000'000) == std::array{0.998, 0.001, 0.001});
  data_profile images;
  images.shape = {{3, 32, 32}};
  images.rows = 6'510'416;
  CHECK(images.shares().validation == 0.001);
  CHECK(images.shares().test == 0.003);
}

TEST_CASE("data profile: targets that are not read are said, and nothing else is taken") {
  CHECK(
      error_in("d.npz", npz({{"X.npy", x_of(10)}, {"y.npy", npy("|O", "(10,)", "\x80")}}))
          .starts_with("d.npz: y.npy: byte 10: its values are objects of Python, which "
                       "are saved as a pickle"));
  CHECK(
      error_in("d.npz", npz({{"X.npy", x_of(10)}, {"kind.npy", y_of(10)}}))
      == "d.npz: no array is named like targets; say which is to be predicted, --target "
         "ARRAY, such as \"kind\"");
  CHECK(profile("d.npz", npz({{"X.npy", x_of(10)}, {"kind.npy", y_of(10)}}), "kind")
            .classes.size()
        == 2);
  CHECK(profile("d.npz", npz({{"table.npy", x_of(10)}})).target_column == 1U);
}

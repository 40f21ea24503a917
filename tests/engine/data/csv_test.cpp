#include "engine/data/tables/csv.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

// Ten rows of two classes, the features 0 to 9 and 10 to 19.
std::string rows(std::string_view first_line = "") {
  std::string text(first_line);
  for (int i = 0; i < 10; ++i)
    text += std::to_string(i) + "," + std::to_string(10 + i) + ","
            + (i % 2 == 0 ? "a" : "b") + "\n";
  return text;
}

data_set load(const std::string& bytes, data_params params = {}) {
  const scratch_folder folder;
  params.file = write(folder, "x.csv", bytes);
  auto data = load_data(params, 1);
  if (!data)
    FAIL(data.error().message);
  return std::move(*data);
}

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("csv: a header is found out or said and is no example") {
  for (const std::string_view first : {"", "x,y,class\n", "\"x\",\"y, z\",class\r\n"}) {
    const auto data = load(rows(first));
    CHECK(data.examples == 10);
    CHECK(data.shape == tensor_shape{{2}});
    CHECK(data.classes == texts{"a", "b"});
  }
  CHECK(load(rows("1,2,a\n")).examples == 11);
  CHECK(load(rows("1,2,a\n"), {.header = "names"}).examples == 10);
}

TEST_CASE("csv: the first line of scikit-learn names the classes") {
  const std::string text = "4,2,red,green\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n";
  const auto data = load(text, {.train = 1, .validation = 1, .test = 1});
  CHECK(data.examples == 4);
  CHECK(data.classes == texts{"red", "green"});
  CHECK(data.labels == std::vector<std::int64_t>{0, 1, 1, 0});
}

TEST_CASE("csv: a first line that counts other rows than there are is names of columns "
          "or a row") {
  CHECK(error_of("x.csv", "5,2,red,green\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n")
        == "x.csv:1: column 3 is \"red\", where a number must be; if this line holds the "
           "names of the columns, say header = \"names\"\n"
           "x.csv:2: 3 columns, where line 1 has 4 (and so in 3 other rows)");
}

TEST_CASE("csv: the target is a column by name or number or the last") {
  const std::string text = "kind,x,y\nb,1,2\na,3,4\nb,5,6\na,7,8\na,9,10\nb,11,12\n";
  for (const char* target : {"kind", "1"}) {
    const auto data = load(text, {.target = target});
    CHECK(data.shape == tensor_shape{{2}});
    CHECK(data.labels == std::vector<std::int64_t>{1, 0, 1, 0, 0, 1});
  }
  CHECK(load(text.substr(text.find('\n') + 1), {.target = "1"}).examples == 6);
}

TEST_CASE("csv: classes that are numbers are sorted by value and others by text") {
  std::string numbers, words;
  for (const char* c : {"10", "9", "-1"})
    for (int i = 0; i < 3; ++i) {
      numbers += std::string("1,") + c + "\n";
      words += std::string("1,c") + c + "\n";
    }
  CHECK(load(numbers).classes == texts{"-1", "9", "10"});
  CHECK(load(words).classes == texts{"c-1", "c10", "c9"});
}

TEST_CASE("csv: blank lines and a byte order mark and spaces say nothing") {
  const auto data =
      load("\xEF\xBB\xBF\n 1 ,2, a\r\n\r\n3,4,b \n5,6,a\n7,8,b\n9,1,a\n2,3,b\n\n  \n");
  CHECK(data.examples == 6);
  CHECK(data.classes == texts{"a", "b"});
}

TEST_CASE("csv: a quoted field may hold commas and quotes and newlines") {
  const auto data =
      load("x,class\n1,\"a,\"\"1\"\"\"\n2,\"b\nc\"\n3,\"a,\"\"1\"\"\"\n4,\"b\nc\"\n"
           "5,\"a,\"\"1\"\"\"\n6,\"b\nc\"\n");
  CHECK(data.classes == texts{"a,\"1\"", "b\nc"});
  CHECK(load("x,class\n1,\"c\n\"\n2,c\n3,\"c\n\"\n4,c\n5,\"c\n\"\n6,c\n").classes
        == texts{"c", "c\n"});
  CHECK(error_of("x.csv", "x,class\n1,\"b\nc\"\n2,3,\"b\nc\"\n")
        == "x.csv:4: 3 columns, where line 1 has 2");
}

TEST_CASE("csv: a row of another length is named by its line") {
  CHECK(error_of("x.csv", rows("x,y,class\n") + "1,2\n")
        == "x.csv:12: 2 columns, where line 1 has 3");
}

TEST_CASE("csv: what is no finite number is named by line and column") {
  const auto with = [](const char* row) {
    return error_of("x.csv", rows("x,y,class\n") + row);
  };
  CHECK(
      with("1,two,a\n")
      == "x.csv:12: column 2 (\"y\") is \"two\", where a number must be; if the "
         "column holds categories, say categories = [\"y\"], and to leave it out, ignore "
         "= [\"y\"]");
  CHECK(with("1,-inf,a\n")
        == "x.csv:12: column 2 (\"y\") is \"-inf\", which is not a finite number");
  CHECK(with("1,1e39,a\n")
        == "x.csv:12: column 2 (\"y\") is \"1e39\", which is beyond what 32-bit numbers "
           "hold (3.4e38)");
  CHECK(with("1,1e999,a\n")
        == "x.csv:12: column 2 (\"y\") is \"1e999\", which is beyond what 32-bit numbers "
           "hold (3.4e38)");
  CHECK(
      with("1,1.5.2,a\n")
      == "x.csv:12: column 2 (\"y\") is \"1.5.2\", where a number must be; if the "
         "column holds categories, say categories = [\"y\"], and to leave it out, ignore "
         "= [\"y\"]");
}

TEST_CASE("csv: a missing value is refused and said to be one") {
  const auto with = [](const char* row) {
    return error_of("x.csv", rows("x,y,class\n") + row, {.blanks = blank_rule::refuse});
  };
  CHECK(with("1,,a\n")
        == "x.csv:12: column 2 (\"y\") has no value; fill it in, or say blanks = "
           "\"impute\", \"mean\" or \"drop\"");
  CHECK(with("1,?,a\n")
        == "x.csv:12: column 2 (\"y\") has no value, but \"?\"; fill it in, or say "
           "blanks = \"impute\", \"mean\" or \"drop\"");
  CHECK(with("1,2,\n") == "x.csv:12: column 3 (\"class\"), the target, has no value");
  CHECK(with("1,2,nan\n") == "x.csv:12: column 3 (\"class\"), the target, is \"nan\"");
}

TEST_CASE("csv: a target that is not there is named with the nearest column") {
  const std::string text = rows("width,height,species\n");
  CHECK(error_of("x.csv", text, {.target = "specie"})
        == "x.csv:1: no column is the target \"specie\"; did you mean \"species\"?");
  CHECK(error_of("x.csv", text, {.target = "q"})
        == "x.csv:1: no column is the target \"q\"; there are \"width\", \"height\", "
           "\"species\"");
  CHECK(error_of("x.csv", rows(), {.target = "4"})
        == "x.csv:1: no column is the target \"4\"; there are \"0\", \"10\", \"a\"");
  CHECK(error_of("x.csv", rows(), {.target = "4", .header = "none"})
        == "x.csv:1: no column is the target \"4\": the file has no names of columns; "
           "use a "
           "number from 1 to 3, or \"last\"");
}

TEST_CASE("csv: a class with one member is named by its line") {
  CHECK(error_of("x.csv", rows() + "1,2,c\n")
        == "x.csv:11: class \"c\" has this one member; two are the least");
  CHECK(error_of("x.csv", "1,2.5\n2,3.5\n3,4.5\n")
        == "x.csv:1: class \"2.5\" has this one member; two are the least (and 2 "
           "other classes have one each) (to predict "
           "numbers, "
           "say task = \"regression\")");
  CHECK(error_of("x.csv", "1,a\n2,a\n3,a\n")
        == "x.csv: every example is of class \"a\"; two classes are the least");
}

TEST_CASE("csv: files without rows or features are refused") {
  CHECK(error_of("x.csv", "") == "x.csv: is empty");
  CHECK(error_of("x.csv", "\n \n") == "x.csv: is empty");
  CHECK(error_of("x.csv", "x,y,class\n") == "x.csv: has no rows");
  CHECK(error_of("x.csv", "1\n2\n")
        == "x.csv:1: one column: there must be a target and one column beside it, "
           "separated by "
           "commas");
  CHECK(error_of("x.csv", "x,class\n1,\"a\n2,b\n")
        == "x.csv:2: a quote is opened here and never closed");
  CHECK(error_of("x.csv", "x,class\n1,\"a\"b\n2,b\n")
        == "x.csv:2: text follows a closing quote");
}

TEST_CASE("csv: text in the target column is refused where numbers are predicted") {
  CHECK(error_of("x.csv", rows("x,y,class\n"), {.task = regression})
        == "x.csv:2: column 3 (\"class\") is \"a\", where a number must be; to predict "
           "texts, say task = \"classification\" (and so in 9 other rows)");
}

TEST_CASE("csv: blanks take the mean of the train part where that is the rule") {
  // y is 2 x, and blank in every fifth row; the rows are one apart in x.
  std::string text = "x,y,t\n";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i) + "," + (i % 5 == 0 ? "?" : std::to_string(2 * i)) + ","
            + std::to_string(i) + "\n";
  const auto data = load(text, {.task = regression, .blanks = blank_rule::mean});
  REQUIRE(data.examples == 50);
  double sum = 0, present = 0;
  for (const auto i : data.train)
    if (i % 5 != 0) {
      sum += data.features[2 * i + 1];
      ++present;
    }
  // The mean put in leaves the column's mean where it was, which is scaled to 0.
  CHECK(sum / present == Approx(0).margin(1e-5));
  for (std::size_t i = 0; i < 50; i += 5)
    CHECK(data.features[2 * i + 1] == Approx(0).margin(1e-5));
}

TEST_CASE("csv: rows with blanks are left out where that is the rule") {
  const data_params drop{.blanks = blank_rule::drop};
  const auto data = load(rows("x,y,class\n,1,a\n2,NA,b\n") + "1,?,a\n1,2,\n", drop);
  CHECK(data.examples == 10);
  CHECK(data.features == load(rows(), drop).features);
  CHECK(error_of("x.csv", "x,class\n,a\n?,b\n", drop) == "x.csv: every row has a blank");
  CHECK(error_of("x.csv", rows("x,y,class\n") + "1,a\n", drop)
        == "x.csv:12: 2 columns, where line 1 has 3");
}

TEST_CASE("csv: rows without a target are left out, and a class may be named NA") {
  const auto data = load(rows("x,y,class\n") + "1,2,\n3,4,\n");
  CHECK(data.examples == 10);
  CHECK(data.features == load(rows()).features);
  CHECK(load("x,class\n1,NA\n2,b\n3,NA\n4,b\n5,NA\n6,b\n").classes.size() == 2);
  data_params numbers{.task = regression};
  CHECK(load("x,t\n1,2\n2,NA\n3,3\n4,\n5,4\n6,none\n7,1\n8,2\n", numbers).examples == 5);
  CHECK(error_of("x.csv", "x,class\n1,\n2,\n") == "x.csv: no row has a target");
}

TEST_CASE("csv: a mean is put in place of numbers only") {
  const data_params mean{.blanks = blank_rule::mean};
  CHECK(error_of("x.csv", rows("x,y,class\n") + "1,2,\n", mean)
        == "x.csv:12: column 3 (\"class\"), the target, has no value");
  CHECK(error_of("x.csv", "x,t\n1,\n2,3\n",
                 {.task = regression, .blanks = blank_rule::mean})
        == "x.csv:2: column 2 (\"t\") has no value; fill it in, or say blanks = "
           "\"drop\"");
  CHECK(error_of("x.csv", "x,y,class\nu,1,a\n,2,b\n",
                 {.blanks = blank_rule::mean, .categories = {"x"}})
        == "x.csv:3: column 1 (\"x\") has no value; fill it in, or say blanks = "
           "\"impute\" or \"drop\"");
  CHECK(error_of("x.csv", "x,y,class\n,1,a\n,2,b\n,3,a\n,4,b\n,5,a\n,6,b\n", mean)
        == "x.csv: feature 1 has no value in the train part, so there is no mean to put "
           "in place of its blanks; ignore the column or say blanks = \"drop\"");
}

TEST_CASE("csv: a category becomes a column of 0 and 1 for each of its sorted values") {
  const std::string text = "size,colour,t\n1,red,1\n2,blue,2\n3,red,3\n4,green,4\n"
                           "5,blue,5\n6,red,6\n";
  for (const char* name : {"colour", "2"}) {
    const auto data = load(text, {.task = regression, .categories = {name}});
    REQUIRE(data.shape == tensor_shape{{4}});
    const std::vector<std::vector<float>> blue_green_red{{0, 0, 1}, {1, 0, 0}, {0, 0, 1},
                                                         {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    const auto features = data.features.values();
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::vector<float>(features.begin() + static_cast<long>(4 * i + 1),
                               features.begin() + static_cast<long>(4 * i + 4))
            == blue_green_red[i]);
    // The column before it is standardised as ever.
    CHECK(data.features[4] - data.features[0]
          == Approx(data.features[20] - data.features[16]));
  }
  // Without names, by number, and before and after a column of numbers.
  const auto data = load("u,1,p,0\nv,2,q,1\nu,3,q,0\nv,4,p,1\nu,5,p,0\nv,6,q,1\n",
                         {.categories = {"3", "1"}});
  REQUIRE(data.shape == tensor_shape{{5}});
  REQUIRE(data.examples == 6);
  CHECK(data.features[0] == 1);
  CHECK(data.features[1] == 0);
  CHECK(data.features[3] == 1);
  CHECK(data.features[5] == 0);
  CHECK(data.features[9] == 1);
}

TEST_CASE("csv: the categories of a test file are those of the first") {
  const scratch_folder folder;
  data_params params{.blanks = blank_rule::refuse, .categories = {"1"}};
  params.file = write(folder, "x.csv", "b,1\nc,2\na,1\nb,2\na,1\nc,2\n");
  params.test_file = write(folder, "t.csv", "c,2\na,1\n");
  const auto data = load_data(params, 1);
  REQUIRE(data);
  REQUIRE(data->features.size() == 24);
  const auto features = data->features.values();
  const std::vector<float> tested(features.begin() + 18, features.end());
  CHECK(tested == std::vector<float>{0, 0, 1, 1, 0, 0});
  write(folder, "t.csv", "c,2\nd,1\n");
  const auto other = load_data(params, 1);
  REQUIRE_FALSE(other);
  CHECK(other.error().message
        == (folder.path() / "t.csv").string() + ":2: column 1 is \"d\", which "
               + params.file.string() + " does not have there");
  // It is a blank where blanks are imputed: each value's share in the train part.
  params.blanks = blank_rule::impute;
  const auto imputed = load_data(params, 1);
  REQUIRE(imputed);
  float sum = 0;
  for (std::size_t i = 21; i < 24; ++i)
    sum += imputed->features[i];
  CHECK(sum == Approx(1));
}

TEST_CASE("csv: a category that is no column of texts is refused") {
  const auto with = [](std::vector<std::string> names) {
    return error_of("x.csv", rows("width,height,species\n"),
                    {.categories = std::move(names)});
  };
  CHECK(with({"widht"})
        == "x.csv:1: no column is the category \"widht\"; did you mean \"width\"?");
  CHECK(with({"species"})
        == "x.csv:1: column 3 (\"species\") is named twice, as target and category");
  CHECK(with({"width", "1"})
        == "x.csv:1: column 1 (\"width\") is named twice, as category");
  std::string many = "x,class\n";
  for (int i = 0; i < 1001; ++i)
    many += "v" + std::to_string(i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  CHECK(error_of("x.csv", many, {.categories = {"x"}})
        == "x.csv:1002: column 1 (\"x\") has more than 1000 different values, too many "
           "for a category");
  CHECK(
      error_of("x.npy", npy("<f4", "(2, 2)", raw<float>({1, 2, 3, 4})),
               {.blanks = blank_rule::mean})
      == "x.npy: is no table; columns, categories, ignore and blanks are for CSV files");
}

TEST_CASE("csv: spaces part fields, any number of them, where nothing else does") {
  data_params params;
  params.task = regression;
  const auto e = parse_csv(" 1  2.5 3\n4 5   6 \r\n7 8 9\n", "x.csv", params);
  REQUIRE(e);
  CHECK(e->count == 3);
  CHECK(e->features == std::vector<float>{1, 2.5, 4, 5, 7, 8});
  CHECK(e->targets == std::vector<double>{3, 6, 9});
}

TEST_CASE("csv: targets can be in a file of one column beside the rows") {
  const scratch_folder folder;
  data_params params;
  params.file = write(folder, "x.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n");
  params.target_file = write(folder, "y.csv", "kind\nred\nblue\nred\nblue\n");
  params.train = params.validation = params.test = 1;
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->classes == std::vector<std::string>{"blue", "red"});
  CHECK(data->labels == std::vector<std::int64_t>{1, 0, 1, 0});
  CHECK(data->shape == tensor_shape{{2}});
  write(folder, "y.csv", "1.5\n2\nx\n3\n");
  params.task = regression;
  const auto wrong = load_data(params, 1, {});
  REQUIRE(!wrong);
  CHECK(without(wrong.error().message, folder)
        == "x.csv:4: the target of this row, in y.csv, is \"x\", where a number must be");
  write(folder, "y.csv", "1.5\n2\n3\n");
  CHECK(without(load_data(params, 1, {}).error().message, folder)
        == "x.csv: holds 4 rows, where y.csv holds 3 targets");
}

#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

// A data set in a folder of its own, and what was fitted on it.
struct fitted {
  scratch_folder folder;
  data_params params;
  preprocessing how;

  fitted(const std::string& name, const std::string& bytes, data_params p)
      : params(std::move(p)) {
    params.file = write(folder, name, bytes);
    auto f = fit_preprocessing(params, 1);
    if (!f)
      FAIL(f.error().message);
    how = std::move(*f);
  }

  std::vector<float> read(const std::string& name, const std::string& bytes) const {
    const auto e = read_new_examples(write(folder, name, bytes), "", params, how);
    if (!e)
      FAIL(e.error().message);
    return e->features;
  }

  std::string error_of(const std::string& bytes,
                       const std::string& name = "new.csv") const {
    const auto e = read_new_examples(write(folder, name, bytes), "", params, how);
    return e ? "no error" : without(e.error().message, folder);
  }

  // The examples of the training file, read as new ones, are those of training.
  void check_itself(const std::string& name, const std::string& bytes) const {
    const auto data = load_data(params, 1, {});
    REQUIRE(data);
    CHECK(read(name, bytes) == data->features.values());
    CHECK(how.shape == data->shape);
    CHECK(how.classes == data->classes);
    CHECK(how.target_scales == data->target_scales);
    CHECK(how.checksum == data->checksum);
  }
};

std::string table(int rows) {
  std::string text = "size,kind,price,age\n";
  for (int i = 0; i < rows; ++i)
    text += (i % 7 == 3 ? "" : std::to_string(i * i % 11)) + ","
            + (i % 3 == 0   ? "flat"
               : i % 3 == 1 ? "house"
                            : "\"barn, old\"")
            + "," + std::to_string(100 + 3 * i) + "," + std::to_string(i % 5) + "\n";
  return text;
}

fitted a_table() {
  return {"train.csv",
          table(40),
          {.target = "price",
           .task = regression,
           .blanks = blank_rule::mean,
           .categories = {"kind"}}};
}

std::string counted(int rows) {
  std::string text = std::to_string(rows) + ",2,red,green\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 5) + ","
            + std::to_string(i % 2) + "\n";
  return text;
}

} // namespace

TEST_CASE("preprocessing: the training data read as new is what was trained on") {
  a_table().check_itself("again.csv", table(40));
  fitted("train.csv", counted(20), {}).check_itself("again.csv", counted(20));

  std::string pixels;
  for (int i = 0; i < 20; ++i)
    pixels += std::to_string(i) + ",0,3," + std::to_string(5 * i % 17) + ","
              + std::to_string(i % 2) + "\n";
  fitted("train.csv", pixels, {.shape = {{1, 2, 2}}}).check_itself("again.csv", pixels);

  const auto array =
      npy("<f4", "(6, 3)",
          raw<float>({1, 2, 0, 3, 4, 1, 5, 7, 0, 7, 8, 1, 9, 1, 0, 2, 4, 1}));
  fitted("train.npy", array, {}).check_itself("again.npy", array);
}

TEST_CASE("preprocessing: the target and the order of named columns do not matter") {
  const auto f = a_table();
  const auto wanted = f.read("a.csv", "size,kind,price,age\n4,flat,0,2\n,house,0,1\n");
  CHECK(f.read("b.csv", "size,kind,age\n4,flat,2\n,house,1\n") == wanted);
  CHECK(f.read("c.csv", "age,size,kind\n2,4,flat\n1,?,house\n") == wanted);
  CHECK(f.read("d.csv", "kind,price,age,size\nflat,?,2,4\nhouse,x,1,NA\n") == wanted);
  // Without names: the training data's order.
  CHECK(f.read("e.csv", "4,flat,2\n,house,1\n") == wanted);
  CHECK(f.read("f.csv", "4,flat,999,2\n,house,,1\n") == wanted);
  REQUIRE(f.how.columns.size() == 3);
  CHECK(f.how.columns[0].name == "size");
  CHECK(f.how.columns[1].name == "kind");
  CHECK(f.how.columns[1].values
        == std::vector<std::string>{"barn, old", "flat", "house"});
  CHECK(f.how.columns[2].name == "age");
  CHECK(f.how.target == "price");
}

TEST_CASE("preprocessing: an array may have the target's column or not") {
  const auto array =
      npy("<f4", "(6, 3)",
          raw<float>({0, 1, 2, 1, 3, 4, 0, 5, 7, 1, 7, 8, 0, 9, 1, 1, 2, 4}));
  const fitted f("train.npy", array, {.target = "1"});
  CHECK(f.read("with.npy", npy("<f8", "(1, 3)", raw<double>({9, 5, 7})))
        == f.read("without.npy", npy("<f8", "(1, 2)", raw<double>({5, 7}))));
  CHECK(f.error_of(npy("<f8", "(1, 4)", raw<double>({9, 5, 7, 1})), "new.npy")
        == "new.npy: an example has 4 values, where those of the training data have 2");
}

TEST_CASE("preprocessing: new data that does not fit is refused with its place") {
  const auto f = a_table();
  CHECK(f.error_of("") == "new.csv: is empty");
  CHECK(f.error_of("size,kind,age\n") == "new.csv: has no rows");
  CHECK(f.error_of("1,2\n")
        == "new.csv:1: 2 columns, where the training data has 3 and the target");
  CHECK(f.error_of("size,kind,years\n1,flat,2\n")
        == "new.csv:1: the column \"age\" of the training data is missing");
  CHECK(f.error_of("kind,years\nflat,2\n")
        == "new.csv:1: the columns \"size\", \"age\" of the training data are missing");
  CHECK(f.error_of("1,flat,2\n1,flat\n")
        == "new.csv:2: 2 columns, where the first line has 3");
  CHECK(
      f.error_of("1,flat,2\nbig,flat,2\n1,flat\nhuge,flat,x\n")
      == "new.csv:2: column 1 (\"size\") is \"big\", where a number must be (and so in 1 "
         "other row)\n"
         "new.csv:3: 2 columns, where the first line has 3\n"
         "new.csv:4: column 3 (\"age\") is \"x\", where a number must be");
  CHECK(f.error_of("1,flat,2\nbig,flat,2\n")
        == "new.csv:2: column 1 (\"size\") is \"big\", where a number must be");
  CHECK(f.error_of("1,flat,2\ninf,flat,2\n")
        == "new.csv:2: column 1 (\"size\") is \"inf\", which is not a finite number");
  CHECK(f.error_of(npy("<f4", "(1, 3)", raw<float>({1, 2, 3})), "new.npy")
        == "new.npy: is an array, but the training data has columns of texts");
}

TEST_CASE("preprocessing: what production sends is taken, and said once") {
  const auto f = a_table();
  const auto notes = [&](const std::string& text) {
    const auto e =
        read_new_examples(write(f.folder, "new.csv", text), "", f.params, f.how);
    if (!e)
      FAIL(e.error().message);
    std::string all;
    for (const auto& note : e->notes)
      all += without(note, f.folder) + "\n";
    return all;
  };
  CHECK(notes("size,kind,age\n1,flat,2\n").empty());
  CHECK(
      notes("size,colour,kind,age,door\n1,red,flat,2,3\n1,blue,flat,2,3\n")
      == "new.csv: the columns \"colour\", \"door\" are none of the training data's and "
         "are passed over\n");
  CHECK(notes("size,kind,age\n1,tent,\n1,hut,\n2,flat,n/a\n")
        == "new.csv: column 2 (\"kind\") has values that the training data does not have "
           "in 2 rows, such as \"tent\"; they are taken for blanks\n"
           "new.csv: column 3 (\"age\") has no value in 3 rows, as it always had in "
           "training; its mean there is taken\n");
  CHECK(f.read("a.csv", "size,kind,age\n1,tent,2\n") == f.read("b.csv", "1,,2\n"));
  // Another dialect than the training data's.
  CHECK(f.read("c.csv", "size;kind;age\n1,5;flat;2,5\n2,5;house;3\n")
        == f.read("d.csv", "size,kind,age\n1.5,flat,2.5\n2.5,house,3\n"));
}

namespace {

// Returns some of 60 rows, with a number and a category with blanks, yes and no, a date
// with the day first, and a column to ignore.
std::string mixed_rows(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += "C" + std::to_string(i) + ";"
            + (i % 5 == 2 ? "N/A" : std::to_string(i) + ",5") + ";"
            + (i % 4 == 1   ? ""
               : i % 2 == 0 ? "basic"
                            : "pro")
            + ";" + (i % 3 == 0 ? "Yes" : "no") + ";" + std::to_string(i % 28 + 1)
            + ".11.2024 " + std::to_string(i % 24) + ":30;"
            + (i % 2 == 0 ? "stay" : "leave") + "\n";
  return text;
}

data_params mixed_params() {
  return {.target = "churn",
          .columns = {{"plan", encoding_kind::category},
                      {"active", encoding_kind::yes_no},
                      {"since", encoding_kind::date}},
          .ignore = {"customer"}};
}

constexpr const char* mixed_names = "customer;age;plan;active;since;churn\n";

} // namespace

TEST_CASE("preprocessing: targets of new rows are there where their column is") {
  const fitted f("train.csv", mixed_names + mixed_rows(0, 60), mixed_params());
  const auto targets = [&](const std::string& text) {
    const auto e =
        read_new_examples(write(f.folder, "new.csv", text), "", f.params, f.how);
    if (!e)
      FAIL(e.error().message);
    return e->targets;
  };
  CHECK(!targets("customer;age;plan;active;since\nC1;2,5;pro;yes;1.11.2024 1:30\n"));
  const auto found = targets("churn;age;plan;active;since\n"
                             "stay;2,5;pro;yes;1.11.2024 1:30\n"
                             "leave;2,5;pro;yes;1.11.2024 1:30\n"
                             ";2,5;pro;yes;1.11.2024 1:30\n"
                             "moved;2,5;pro;yes;1.11.2024 1:30\n");
  REQUIRE(found);
  REQUIRE(found->values.size() == 4);
  CHECK(f.how.classes[static_cast<std::size_t>(found->values[0])] == "stay");
  CHECK(f.how.classes[static_cast<std::size_t>(found->values[1])] == "leave");
  CHECK(std::isnan(found->values[2]));
  CHECK(std::isnan(found->values[3]));
  CHECK(found->blanks == 1);
  CHECK(found->unknown == 1);
  CHECK(found->example == "moved");
  // By place, where no line names the columns.
  CHECK(targets(mixed_rows(60, 64))->values == std::vector<double>{1, 0, 1, 0});
}

TEST_CASE("preprocessing: columns of every kind become inputs") {
  const auto text = mixed_names + mixed_rows(0, 60);
  const fitted f("train.csv", text, mixed_params());
  f.check_itself("again.csv", text);
  REQUIRE(f.how.columns.size() == 5);
  CHECK(f.how.columns[0].inputs() == 0);
  CHECK(f.how.columns[1].inputs() == 2);
  CHECK(f.how.columns[2].values == std::vector<std::string>{"basic", "pro"});
  CHECK(f.how.columns[2].inputs() == 3);
  CHECK(f.how.columns[3].inputs() == 1);
  CHECK(f.how.columns[4].order == date_order::day_month_year);
  CHECK(f.how.columns[4].inputs() == 7);
  CHECK(f.how.decimal == ',');
  REQUIRE(f.how.inputs() == 13);
  const auto one =
      f.read("one.csv", "customer;age;plan;active;since\nX;NULL;;T;7.11.2024\n");
  REQUIRE(one.size() == 13);
  CHECK(one[0] == Approx(0).margin(1e-6)); // The mean, and that it is one.
  CHECK(one[1] == 1);
  CHECK(std::vector(one.begin() + 2, one.begin() + 5) == std::vector<float>{0, 0, 1});
  CHECK(one[5] == 1);
  // A Thursday, as the first day of 1970 was.
  CHECK(one[9] == Approx(0).margin(1e-6));
  CHECK(one[10] == Approx(1));
}

TEST_CASE("preprocessing: how columns are encoded is read back as it was written") {
  const fitted f("train.csv", mixed_names + mixed_rows(0, 60), mixed_params());
  encoder out;
  encode(out, f.how);
  const auto raw = out.take();
  decoder in(raw);
  const auto back = decode_preprocessing(in);
  REQUIRE(in.finish());
  CHECK(back.columns == f.how.columns);
  CHECK(back.decimal == ',');
  encoder again;
  encode(again, back);
  CHECK(again.take() == raw);
}

TEST_CASE("preprocessing: what was written before there were layouts is read") {
  preprocessing how;
  how.shape = {{1, 2, 2}};
  how.width = 4;
  how.classes = {"cat", "dog"};
  encoder out;
  encode(out, how);
  // An array of 18 elements, of which the last two are 1 and an empty list.
  auto written = out.take();
  REQUIRE(written.starts_with(std::string("\xDC\0\x12", 3)));
  REQUIRE(written.ends_with("\x01\x90"));
  written[2] = 16;
  written.resize(written.size() - 2);
  decoder in(written);
  const auto back = decode_preprocessing(in);
  REQUIRE(in.finish());
  CHECK(back.layout == array_layout::channels_first);
  CHECK(back.shape == how.shape);
  CHECK(back.classes == how.classes);
}

TEST_CASE("preprocessing: the order of columns says nothing") {
  const fitted f("train.csv", mixed_names + mixed_rows(0, 60), mixed_params());
  CHECK(
      f.read("a.csv", "active;since;age;plan\nno;3.11.2024;2,5;pro\nY;4.11.2024;;\n")
      == f.read("b.csv", "plan;age;since;active\npro;2,5;3.11.2024;no\n;;4.11.2024;Y\n"));
}

namespace {

std::string stamps() {
  std::string text = "stamp,label\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(202403150000 + i % 24 * 100 + i % 60) + ","
            + (i % 24 < 12 ? "day" : "night") + "\n";
  return text;
}

std::string money(char decimal, const std::string& before) {
  std::string text = "fee;weight;sold\n";
  for (int i = 0; i < 40; ++i)
    text += before + std::to_string(1 + i % 9) + decimal + std::to_string(100 + 7 * i)
            + ";" + std::to_string(20 + i % 7) + " kg;" + (i % 3 == 0 ? "no" : "yes")
            + "\n";
  return text;
}

} // namespace

TEST_CASE("preprocessing: what differs little beside its size stays apart") {
  const fitted f("train.csv", stamps(), {});
  f.check_itself("again.csv", stamps());
  const auto two = f.read("new.csv", "stamp\n202403151100\n202403151101\n");
  CHECK(two[1] - two[0] == Approx(1 / f.how.deviation[0]));
  const auto array = npy("<i8", "(4, 2)",
                         raw<std::int64_t>({202403150001, 0, 202403150002, 1,
                                            202403150003, 0, 202403150004, 1}));
  fitted("train.npy", array, {.train = 1, .validation = 1, .test = 1})
      .check_itself("again.npy", array);
}

TEST_CASE("preprocessing: numbers are the same however a new file writes them") {
  const fitted f("train.csv", money('.', "$"), {});
  f.check_itself("again.csv", money('.', "$"));
  const auto wanted = f.read("a.csv", "fee;weight\n$1.500;21 kg\n$5.000;23 kg\n");
  for (const char* text :
       {"fee;weight\n$1.5;21 kg\n$5;23 kg\n", "fee;weight\n$1,5;21 kg\n$5,0;23 kg\n",
        "fee\tweight\n1,5 $\t21\n5,0 $\t23\n", "sep=;\nfee;weight\n1.5;21 kg\n5;23 kg\n",
        "new rows;\nfee;weight\n1.5;21 kg\n5;23 kg\n"})
    CHECK(f.read("b.csv", text) == wanted);
  const auto noted = read_new_examples(
      write(f.folder, "c.csv", "fee;weight\n1.5;21 kg\n5;23 kg\n"), "", f.params, f.how);
  REQUIRE(noted);
  REQUIRE(noted->notes.size() == 1);
  CHECK(without(noted->notes.front(), f.folder)
        == "c.csv: column 1 (\"fee\") has no unit in 2 rows, where \"$\" stands in the "
           "training data; the numbers are taken as they are");
  CHECK(
      f.error_of("fee;weight\n$5;21 lb\n")
      == "new.csv:2: column 2 (\"weight\") is \"21 lb\", where a number with \"kg\" must "
         "be");
}

TEST_CASE("preprocessing: of rows without names, none is lost") {
  auto params = mixed_params();
  params.header = "names";
  const fitted f("train.csv", mixed_names + mixed_rows(0, 60), params);
  const auto rows = mixed_rows(0, 10);
  const auto read =
      read_new_examples(write(f.folder, "rows.csv", rows), "", f.params, f.how);
  REQUIRE(read);
  CHECK(read->count == 10);
  REQUIRE(!read->notes.empty());
  CHECK(
      without(read->notes.front(), f.folder)
      == "rows.csv: the first line has none of the names of the training data's columns; "
         "it is taken for a row, and the columns are taken by their place");
  CHECK(read->features == f.read("named.csv", mixed_names + rows));
  const auto named = read_new_examples(
      write(f.folder, "other.csv", "a;b;c;d;e;f\n" + rows), "", f.params, f.how);
  REQUIRE(named);
  CHECK(named->count == 10);
  CHECK(named->notes.front().ends_with(
      "it is passed over, and the columns are taken by their place"));
}

TEST_CASE("preprocessing: dates are read in the order that the new file has") {
  std::string text = "since,sold\n";
  for (int i = 0; i < 40; ++i)
    text += "2024-0" + std::to_string(1 + i % 9) + "-" + std::to_string(10 + i % 18)
            + (i % 3 == 0 ? ",no\n" : ",yes\n");
  const fitted f("train.csv", text, {.columns = {{"since", encoding_kind::date}}});
  const auto wanted = f.read("a.csv", "since\n2024-02-20\n2024-03-04\n");
  CHECK(f.read("b.csv", "since\n20.02.2024\n04.03.2024\n") == wanted);
  CHECK(f.read("c.csv", "since\n\"Feb 20, 2024\"\n\"Mar 4, 2024\"\n") == wanted);
  const auto noted = read_new_examples(
      write(f.folder, "d.csv", "since\n02/20/2024\n03/04/2024\n"), "", f.params, f.how);
  REQUIRE(noted);
  CHECK(noted->features == wanted);
  REQUIRE(noted->notes.size() == 1);
  CHECK(without(noted->notes.front(), f.folder)
        == "d.csv: column 1 (\"since\") has its dates in another order than the training "
           "data; they are read as month, day, year");
}

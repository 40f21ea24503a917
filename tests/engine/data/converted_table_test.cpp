#include "engine/data/columns/learning_task.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "tests/engine/data/files.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>

using namespace clade;
using namespace std::string_literals;

namespace {

/// The text that was made, and behind it notes and the numbers of columns of texts.
std::string to_text(const expected<converted_table>& table) {
  if (!table)
    return table.error().message;
  std::string out = table->text;
  for (const std::string& note : table->facts.notes)
    out += "(" + note + ")";
  for (std::size_t i = 0; i < table->facts.texts.size(); ++i)
    if (table->facts.texts[i])
      out += "text " + std::to_string(i + 1);
  return out;
}

/// The bytes of a database that these statements make.
std::string database(const scratch_folder& folder, const std::string& statements) {
  const auto file = folder.path() / "made.db";
  std::filesystem::remove(file);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(statements);
  return read_whole_file(file, data_limits()).value();
}

std::string rows_of(const char* format, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format(fmt::runtime(format), i, i % 7, i % 2 == 0 ? "yes" : "no");
  return out;
}

} // namespace

TEST_CASE("JSON: objects in lines, in an array or alone are rows, their names columns") {
  const char* table = "a,b.c,d\n1,true,\"x, \"\"y\"\"\"\n-2.5,,z w\n";
  CHECK(to_text(read_json_table(
            "{\"a\": 1, \"b\": {\"c\": true}, \"d\": \"x, \\\"y\\\"\"}\n\n"
            "{\"d\": \"z\\nw\", \"a\": -2.5, \"b\": null}\n",
            {}))
        == table);
  CHECK(to_text(read_json_table(
            "[{\"a\": 1, \"b\": {\"c\": true}, \"d\": \"x, \\\"y\\\"\"},\n"
            " {\"d\": \"z\\nw\", \"a\": -2.5}]",
            {}))
        == table);
  CHECK(to_text(read_json_table("\xef\xbb\xbf{\n\"a\": 1,\n\"b\": 2e3}", {}))
        == "a,b\n1,2e3\n");
  CHECK(to_text(read_json_table("{\"a\": \" \"}\n{\"a\": \"b\"}\n", {}))
        == "a\n\"\"\nb\n");
}

TEST_CASE("JSON: lists are left out with a note, and texts of codes stay texts") {
  CHECK(
      to_text(read_json_table("{\"a\": \"007\", \"b\": [1, {\"c\": [2]}], \"d\": \"7\"}\n"
                              "{\"a\": \"10\", \"b\": [], \"d\": \"0.5\"}\n",
                              {}))
      == "a,d\n007,7\n10,0.5\n(\"b\" holds lists, which are not learnt from; they are "
         "left out)text 1");
}

TEST_CASE("JSON: what is no table is refused by its row") {
  const auto refused = [](std::string_view text) {
    return to_text(read_json_table(text, {}));
  };
  CHECK(refused("{\"a\": 1}\n{\"a\": NaN}\n")
            .starts_with("row 2: is no sound JSON at byte "));
  CHECK(refused("{\"a\": 1}\n[2]\n") == "row 2: is no object with the names of columns");
  CHECK(refused("[{\"a\": 1}, 2]") == "row 2: is no object with the names of columns");
  CHECK(refused("{\"a\": {\"0\": 1}, \"b\": {\"0\": 2}}")
            .starts_with("is JSON, but no rows: "));
  std::string deep = "{\"a\": 1}\n";
  for (int i = 0; i < 100000; ++i)
    deep += "{\"a\":";
  CHECK(refused(deep + "\n") == "row 2: nests deeper than 32");
  CHECK(
      to_text(read_json_table("{\"a\": \"0123456789\"}\n{\"a\": 1}\n", {.most_bytes = 9}))
          .starts_with("is a table of more than "));
  std::string wide = "{";
  for (int i = 0; i < 65537; ++i)
    wide += fmt::format("{}\"{}\": 1", i == 0 ? "" : ", ", i);
  CHECK(refused(wide + "}") == "row 1: has a column more than 65536, which are not read");
}

TEST_CASE("SQLite: a table is read as it lies, and its kinds of values") {
  const scratch_folder folder;
  const auto bytes =
      database(folder, "create table t (i integer, \"r,\" real, s text, b blob);"
                       "insert into t values (1, 0.1, '01', x'00');"
                       "insert into t values (null, 1e300, 'a\"b', null);"
                       "create view v as select * from t;");
  CHECK(to_text(read_sqlite_table(bytes, {}))
        == "i,\"r,\",s,b\n1,0.1,01,\n,1e+300,\"a\"\"b\",\n(\"b\" holds bytes (BLOB), "
           "which are "
           "not learnt from; they are left out)text 3");
  CHECK(to_text(read_sqlite_table(bytes, {.name = "v"}))
        == "no table is \"v\", the array; there are \"t\"");
}

TEST_CASE("SQLite: of several tables one is named, and a log beside is not lost") {
  const scratch_folder folder;
  const auto bytes = database(folder, "create table one (a, b); create table two (a, b);"
                                      "insert into two values (1, 2);");
  CHECK(to_text(read_sqlite_table(bytes, {.key = "--array"}))
        == "say which table is meant, --array = \"one\"; there are \"one\", \"two\"");
  CHECK(to_text(read_sqlite_table(bytes, {.name = "two"})) == "a,b\n1,2\n");
  CHECK(to_text(read_sqlite_table(bytes.substr(0, 5000), {.name = "two"}))
            .starts_with("is an SQLite database that cannot be read ("));
  const auto file = write(folder, "x.db", bytes);
  CHECK(read_data_file(file, {.name = "two"}));
  write(folder, "x.db-wal", "log");
  CHECK(without(read_data_file(file, {.name = "two"}).error().message, folder)
            .starts_with("x.db: has changes in x.db-wal that are not in it yet; "));
}

TEST_CASE("ARFF: nominal attributes are texts, rows are in full or sparse") {
  CHECK(
      to_text(read_arff("% made\n@RELATION 'a b'\n\n@attribute 'the name' NUMERIC\n"
                        "@attribute kind {0, 1,'two, or so'}\n@attribute s string\n"
                        "@attribute d date \"yyyy-MM-dd\"\n@DATA\n"
                        "1.5, 'two, or so', \"it\\'s\", 2020-01-02\n?,0,?,?, {2}\n"
                        "{0 3, 2 word}\n{}\n",
                        {}))
      == "the name,kind,s,d\n1.5,\"two, or so\",it's,2020-01-02\n,0,,\n3,0,word,\n0,0,,\n"
         "text 2text 3");
  const auto refused = [](std::string_view rows) {
    return to_text(read_arff(
        "@relation a\n@attribute x real\n@attribute y real\n@data\n"s.append(rows), {}));
  };
  CHECK(refused("1,2\n1\n") == "row 2: 1 fields, where there are 2 attributes");
  CHECK(refused("1,'2\n") == "row 1: a quote is opened and never closed");
  CHECK(refused("{7 1}\n")
        == "row 1: \"{7 1}\" is no \"number value\" of one of 2 attributes");
  CHECK(refused("{0 1\n") == "row 1: the row of a sparse table has no } at its end");
  CHECK(
      to_text(read_arff("@relation a\n@attribute x complex\n@data\n", {}))
      == "attribute \"x\" is of the type \"complex\"; numeric, nominal, string and date "
         "are read");
  CHECK(to_text(read_arff("@relation a\n", {}))
        == "has no line @data, behind which the rows stand");
}

TEST_CASE("ARFF: a name that is a byte-order mark stays one") {
  const auto table =
      read_arff("@relation a\n@attribute \xEF\xBB\xBF numeric\n@data\n1\n", {});
  REQUIRE(table);
  CHECK(table->text == "\"\xEF\xBB\xBF\"\n1\n");
}

TEST_CASE("LIBSVM: what is not named is 0, and the label stands last") {
  CHECK(to_text(read_libsvm("+1 1:0.5 3:2 # c\n\n-1 qid:4 2:1e-3\n", {}))
        == "x1,x2,x3,label\n0.5,0,2,+1\n0,1e-3,0,-1\n");
  CHECK(to_text(read_libsvm("1 0:5\n", {})) == "x0,label\n5,1\n");
  CHECK(to_text(read_libsvm("1 1:5\n", {.least_features = 3}))
        == "x1,x2,x3,label\n5,0,0,1\n");
  CHECK(to_text(read_libsvm("1 1:5\n2 2\n", {})) == "row 2: \"2\" is no \"index:value\"");
  CHECK(to_text(read_libsvm("1,3 1:5\n", {}))
        == "row 1: has several labels, \"1,3\"; one is read");
  CHECK(to_text(read_libsvm("1 4000000000:5\n", {}))
        == "row 1: has feature 4000000000; up to 65535 are read");
}

TEST_CASE("other tables: training, a look and predictions read them as they read a CSV") {
  const scratch_folder folder;
  data_params params;
  params.file =
      write(folder, "x.jsonl",
            rows_of("{{\"code\": \"00{}\", \"n\": {}, \"target\": \"{}\"}}\n", 60));
  const auto profile = profile_data({.file = params.file});
  REQUIRE(profile);
  CHECK(profile->format == "JSON lines");
  CHECK(profile->rows == 60);
  CHECK(profile->header == "names");
  CHECK(profile->names_line == 0);
  CHECK(profile->table.columns[0].kind == column_kind::identifier);
  CHECK(profile->table.columns[1].kind == column_kind::number);
  params.ignore = {"code"};
  const auto inferred = infer_columns(params);
  REQUIRE(inferred);
  const auto data = load_data(inferred->params, 1, {});
  REQUIRE(data);
  const auto csv =
      write(folder, "x.csv", "code,n,target\n" + rows_of("00{},{},{}\n", 60));
  auto same = inferred->params;
  same.file = csv;
  const auto beside = load_data(same, 1, {});
  REQUIRE(beside);
  CHECK(data->features == beside->features);
  CHECK(data->labels == beside->labels);
}

TEST_CASE(
    "other tables: a text that looks like a number stays one where the file says so") {
  const scratch_folder folder;
  data_params params;
  params.file = write(folder, "x.arff",
                      "@relation x\n@attribute n numeric\n@attribute k "
                      "{0,1,2,3,4,5,6}\n@attribute t {yes,no}\n@data\n"
                          + rows_of("0.{},{},{}\n", 60));
  const auto inferred = infer_columns(params);
  REQUIRE(inferred);
  REQUIRE(inferred->params.columns.size() == 1);
  CHECK(inferred->params.columns[0] == column_choice{"k", encoding_kind::category});
}

TEST_CASE("other tables: an error names the row, and gzip is unpacked") {
  const scratch_folder folder;
  data_params params;
  params.file =
      write(folder, "x.jsonl.gz",
            gzip("{\"n\": 1, \"target\": \"a\"}\n{\"n\": 2, \"target\": \"b\"}\n"
                 "{\"n\": \"?!\", \"target\": \"a\"}\n"));
  CHECK(
      without(load_data(params, 1, {}).error().message, folder)
          .starts_with("x.jsonl.gz: row 3: column 1 (\"n\") is \"?!\", where a number "));
  params.array = "t";
  CHECK(without(load_data(params, 1, {}).error().message, folder)
        == "x.jsonl.gz: holds one table; remove array, which names one of several");
}

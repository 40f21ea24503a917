#include "engine/data/columns/csv_form.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::string repeated(const std::string& row, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += row;
  return out;
}

} // namespace

TEST_CASE("csv form: any number that can be read in one way only decides the mark") {
  CHECK(find_form("a;b\n1.296;7.642\n0.249;2.370\n", {}).decimal == '.');
  CHECK(find_form("a;b\n1,296;7,642\n0,249;2,370\n", {}).decimal == ',');
  // The sample shows nothing, the last row does.
  const auto late = "a;b\n" + repeated("1.296;7.642\n", 600) + "1.5;2\n";
  CHECK(find_form(late, {}).decimal == '.');
  CHECK(find_form(late, {}).unclear.empty());
  CHECK(find_form("a;b\n" + repeated("1.296;7.642\n", 600) + "1,5;2\n", {}).decimal
        == ',');
}

TEST_CASE("csv form: where nothing shows what a mark means, it is said") {
  const std::string open = "a;b\n1.296;7.642\n6.898;2.370\n";
  CHECK(find_form(open, {}).decimal == '.');
  REQUIRE(form_notes(open, find_form(open, {})).size() == 1);
  CHECK(form_notes(open, find_form(open, {})).front()
        == "whether \"1.296\" has thousands or decimals, nothing in the file shows; a "
           "point "
           "is taken to stand before the decimals; decimal = \",\" under [data] reads it "
           "the other way");
  CHECK(find_form(open, {}, ',').decimal == ',');
  CHECK(find_form(open, {}, ',').unclear.empty());
  data_params said;
  said.decimal = ",";
  CHECK(find_form(open, said).unclear.empty());
  // Whole numbers below 1000 have no mark, as those with a mark for thousands.
  CHECK(find_form("a;b\n1.296;x\n898;y\n", {}).decimal == ',');
  CHECK(find_form("a;b\n1,296;7,642\n", {}).decimal == ',');
  CHECK(find_form("a,b\n\"1,296\",7\n", {}).decimal == '.');
  CHECK(find_form("a,b\n\"1,296\",7\n", {}).unclear.empty());
}

TEST_CASE("csv form: dates tell a delimiter too") {
  CHECK(find_form("when;y\n" + repeated("31.01.00;0,5\n", 30), {}).dialect.delimiter
        == ';');
}

TEST_CASE("csv form: a column's unit is that of more than half of its numbers") {
  const auto form = find_form("a,b,c,d\n$1,5%,3 kg,1\n$2,6%,4 lb,2\n$0,7%,5,3\n", {});
  CHECK(form.units == std::vector<std::string>{"$", "%"});
  CHECK(form.number(0) == number_form{'.', "$"});
  CHECK(form.number(7) == number_form{});
}

TEST_CASE("csv form: a spreadsheet's first line names the delimiter") {
  for (const char* first :
       {"sep=;\n", "sep=;\r\n", "\xEF\xBB\xBFSEP=;\n", "\"sep=;\"\n"}) {
    const auto form = find_form(std::string(first) + "a,x;b\n1,5;2\n", {});
    CHECK(form.dialect.delimiter == ';');
    CHECK(form.passed_over == 1);
    CHECK(form_notes(std::string(first), form).empty());
  }
  CHECK(find_form("sep=x\n1\n", {}).passed_over == 0);
}

TEST_CASE("csv form: titles before a table are passed over, and said") {
  const std::string rows = "size,speed,bought\n1,2,yes\n3,4,no\n";
  for (const char* titles : {"Sales of the north,,\nas of 2026-03-01,,\n",
                             "Sales of the north\n\n", "Sales of the north,,\n,,\n"}) {
    const auto form = find_form(titles + rows, {});
    CHECK(form.passed_over == 2);
    csv_row r;
    auto read = form.rows(titles + rows);
    const std::string text = titles + rows;
    read = form.rows(text);
    REQUIRE(read.next(r).value());
    CHECK(r.line == 3);
    CHECK(r.fields.front() == "size");
    REQUIRE(form_notes(text, form).size() == 1);
    CHECK(form_notes(text, form).front().find("\"Sales of the north\"")
          != std::string::npos);
  }
  data_params third;
  third.header = "line 3";
  CHECK(find_form("1,2\n3,4\na,b\n5,6\n", third).passed_over == 2);
}

TEST_CASE("csv form: what is no title stays") {
  for (const char* text : {
           "size,speed,bought\n1,2,yes\n",         // names
           ",value\n0,5\n1,6\n",                   // pandas' index
           "a,b\nc,d\nx,\ny,z\n",                  // a row with a blank
           "x,\ny,3\nz,\n",                        // more of them
           "a b\n1 5 6\n2 7 8\n",                  // names, one too few
           "3,2,red,green\n1,2,0\n3,4,1\n5,6,1\n", // scikit-learn's counts
           "1,,\n2,3,4\n5,6,7\n",                  // a row of numbers
       })
    CHECK(find_form(text, {}).passed_over == 0);
}

TEST_CASE("csv form: a byte that is not UTF-8 among many letters is read as Latin-1") {
  const auto sound = repeated("Gr\xC3\xB6\xC3\x9F"
                              "e,j\xC3\xA4\n",
                              10);
  const auto text = to_utf8(sound + "gr\xFCn,x\n" + sound, "auto");
  REQUIRE(text);
  CHECK(text->encoding == "utf-8");
  CHECK(text->text == sound + "gr\xC3\xBCn,x\n" + sound);
  CHECK(text->bad_bytes == 1);
  CHECK(text->bad_line == 11);
  CHECK(encoding_note(*text)
        == "line 11 has a byte that is not UTF-8, as the rest of the file is; it is read "
           "as "
           "Latin-1; if letters are wrong there, mend the file");
  // The experiment says what was found, and is read in the same way.
  CHECK(to_utf8(sound + "gr\xFCn,x\n" + sound, "utf-8")->text == text->text);
  const auto latin = to_utf8("Gr\xF6\xDF"
                             "e\n",
                             "auto");
  REQUIRE(latin);
  CHECK(latin->encoding == "latin-1");
  CHECK(latin->text
        == "Gr\xC3\xB6\xC3\x9F"
           "e\n");
  CHECK(encoding_note(*to_utf8(sound, "auto")).empty());
}

TEST_CASE("csv form: a label and a sentence are parted by the first blank of a line") {
  const auto lines = repeated("0 it was , all in all , a bore\n", 6)
                     + repeated("1 a \"film to see\n", 6);
  const auto form = find_form(lines, {});
  CHECK(form.dialect == csv_dialect{' ', '\0', true});
  CHECK(delimiter_word(form.dialect) == first_blank_word);
  auto rows = form.rows("1\t a \"film\r\n\n \n0\n");
  csv_row r;
  REQUIRE(rows.next(r).value_or(false));
  CHECK(r.fields == std::vector<std::string_view>{"1", "a \"film"});
  REQUIRE(rows.next(r).value_or(false));
  CHECK(r.fields == std::vector<std::string_view>{"0", ""});
  CHECK(r.line == 4);
  CHECK_FALSE(rows.next(r).value_or(true));
  // Sorted by their labels.
  CHECK(
      find_form(repeated("0 it was a bore\n", 900) + repeated("1 it was fine\n", 900), {})
          .dialect.first_blank);
  // Sentences of which each begins otherwise, and too few lines.
  std::string others;
  for (int i = 0; i < 26; ++i)
    others += std::string(1, static_cast<char>('a' + i)) + " is the name of a letter\n";
  CHECK_FALSE(find_form(others, {}).dialect.first_blank);
  CHECK_FALSE(find_form("0 it was a bore\n1 it was fine\n", {}).dialect.first_blank);
  data_params said;
  said.delimiter = std::string(first_blank_word);
  CHECK(find_form("0 it was a bore\n", said).dialect.first_blank);
}

TEST_CASE("csv form: between tabs, quotes that part no fields are text") {
  const auto lines =
      repeated("ham\t\"so it goes\n", 3) + repeated("spam\tbuy \"it\" now\n", 9);
  CHECK(find_form(lines, {}).dialect == csv_dialect{'\t', '\0'});
  const auto quoted = repeated("ham\t\"so it\tgoes\"\n", 9);
  CHECK(find_form(quoted, {}).dialect == csv_dialect{'\t', '"'});
  CHECK(find_form("a\t\"b\nc\"\n" + repeated("1\t2\n", 9), {}).dialect
        == csv_dialect{'\t', '"'});
}

TEST_CASE("csv form: lines that end as on old Macs are lines") {
  const auto text = [](std::string bytes) {
    const auto read = text_of_file(std::move(bytes), "x.csv", "auto");
    return read ? read->text : read.error().message;
  };
  CHECK(text("a,b\r1,2\r3,4\r") == "a,b\n1,2\n3,4\n");
  CHECK(text("a,b\r\n1,2\r\n") == "a,b\r\n1,2\r\n");
  CHECK(text("a,b\n\"1\r2\",3\n") == "a,b\n\"1\r2\",3\n");
}

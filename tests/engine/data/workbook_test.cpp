#include "engine/data/converted/data_file.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/workbook_dates.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

using members = std::vector<std::pair<std::string, std::string>>;

/// A workbook of these sheets (name, rows), of which the text "007" is shared.
std::string workbook(const members& sheets, const std::string& properties = "") {
  std::string names, relations;
  members out;
  for (std::size_t i = 1; i <= sheets.size(); ++i) {
    names += fmt::format("<sheet name=\"{}\" sheetId=\"{}\" r:id=\"r{}\"/>",
                         sheets[i - 1].first, i, i);
    relations +=
        fmt::format("<Relationship Id=\"r{}\" Target=\"worksheets/s{}.xml\"/>", i, i);
    out.emplace_back(fmt::format("xl/worksheets/s{}.xml", i),
                     "<x:worksheet xmlns:x=\"y\"><x:sheetData>" + sheets[i - 1].second
                         + "</x:sheetData></x:worksheet>");
  }
  out.emplace_back("xl/workbook.xml", "<workbook>" + properties + "<sheets>" + names
                                          + "</sheets></workbook>");
  out.emplace_back("xl/_rels/workbook.xml.rels",
                   "<Relationships>" + relations + "</Relationships>");
  out.emplace_back("xl/sharedStrings.xml",
                   "<sst><si><t>na</t></si><si><r><t>0</t></r><r><t>07</t></r><rPh><t>no"
                   "</t></rPh></si></sst>");
  out.emplace_back("xl/styles.xml",
                   "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"d/m/yy "
                   "h:mm\"/></numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>"
                   "<cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf "
                   "numFmtId=\"164\"/></cellXfs></styleSheet>");
  return npz(out, true);
}

std::string to_text(const expected<converted_table>& table) {
  return table ? table->text : table.error().message;
}

std::string read(const std::string& rows, const std::string& properties = "") {
  return to_text(read_workbook(workbook({{"S", rows}}, properties), {}));
}

} // namespace

TEST_CASE("workbook: lines are the rows of the sheet, and cells keep their kinds") {
  CHECK(read("<row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>a</t></is></c><c r=\"D2\" "
             "t=\"s\">"
             "<v>0</v></c></row><row r=\"4\"><c r=\"B4\"><v>1.50</v></c><c "
             "t=\"b\"><v>1</v></c>"
             "<c r=\"D4\" t=\"s\"><v>1</v></c></row>"
             "<row><c r=\"C5\" t=\"e\"><v>#N/A</v></c><c r=\"D5\" "
             "t=\"str\"><v>x,y</v></c></row>"
             "<row r=\"9\"/>")
        == "\na,,na\n\n1.5,true,007\n,,\"x,y\"\n");
  const auto table = read_workbook(
      workbook(
          {{"S", "<row r=\"1\"><c r=\"B1\"><v>1</v></c><c r=\"C1\" t=\"s\"><v>1</v></c>"
                 "</row>"}}),
      {});
  REQUIRE(table);
  CHECK(table->facts.texts == std::vector{false, true});
}

TEST_CASE("workbook: a number is a date where its style says so") {
  const auto rows =
      "<row r=\"1\"><c s=\"1\"><v>44561</v></c><c s=\"2\"><v>44561.75</v></c><c "
      "s=\"0\"><v>44561</v></c><c s=\"1\"><v>59</v></c></row>";
  CHECK(read(rows) == "2021-12-31,2021-12-31 18:00:00,44561,1900-02-28\n");
  CHECK(read(rows, "<workbookPr date1904=\"1\"/>").starts_with("2026-01-01,"));
  CHECK(is_date_format("dd\\-mmm\\-yyyy"));
  CHECK(is_date_format("[$-409]m/d/yy h:mm AM/PM;@"));
  CHECK_FALSE(is_date_format("#,##0.00 \"days\""));
  CHECK_FALSE(is_date_format("[Red]0.00"));
  CHECK_FALSE(is_date_format("General"));
}

TEST_CASE(
    "workbook: the sheet that is shown and filled is meant, or the one that is named") {
  const std::string one = "<row r=\"1\"><c><v>1</v></c></row>";
  const auto several = workbook({{"A", one}, {"Notes", ""}, {"B", one}});
  CHECK(to_text(read_workbook(workbook({{"A", ""}, {"B", one}}), {})) == "1\n");
  CHECK(to_text(read_workbook(several, {}))
        == "say which sheet is meant, array = \"A\"; there are \"A\", \"B\"");
  CHECK(to_text(read_workbook(several, {.name = "B"})) == "1\n");
  CHECK(to_text(read_workbook(several, {.name = "b"}))
        == "no sheet is \"b\", the array; did you mean \"B\"?");
  CHECK(to_text(read_workbook(several, {.name = "Notes"}))
        == "has no sheet with a table in it");
}

TEST_CASE("workbook: what no program writes is refused") {
  CHECK(read("<row r=\"1\"><c t=\"s\"><v>2</v></c></row>")
        == "xl/worksheets/s1.xml: row 1: no string has the number \"2\"");
  CHECK(read("<row r=\"2\"/><row r=\"2\"/>")
        == "xl/worksheets/s1.xml: row \"2\" follows row 2");
  CHECK(read("<row r=\"1\"><c r=\"ZZZZ1\"/></row>")
        == "xl/worksheets/s1.xml: row 1: \"ZZZZ1\" is no cell");
  CHECK(read("<row").starts_with("xl/worksheets/s1.xml: line 1: is no sound XML ("));
  std::string deep;
  for (int i = 0; i < 200; ++i)
    deep += "<a>";
  CHECK(read(deep) == "xl/worksheets/s1.xml: nests deeper than any workbook");
  CHECK(to_text(read_workbook(
            npz({{"xl/workbook.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"}}), {}))
        == "xl/workbook.xml: declares entities, which are not read");
}

TEST_CASE("workbook: a look passes over titles, and a row is that of the sheet") {
  const scratch_folder folder;
  std::string rows =
      "<row r=\"1\"><c t=\"inlineStr\"><is><t>Sales 2026</t></is></c></row>"
      "<row r=\"3\"><c t=\"inlineStr\"><is><t>n</t></is></c><c t=\"inlineStr\">"
      "<is><t>m</t></is></c><c t=\"inlineStr\"><is><t>target</t></is></c></row>";
  for (int i = 4; i < 60; ++i)
    rows += fmt::format("<row r=\"{}\"><c><v>{}</v></c><c><v>0.{}</v></c><c "
                        "t=\"inlineStr\"><is><t>{}</t></is></c></row>",
                        i, i * i % 17, i, i % 3 == 0 ? "a" : "b");
  const auto file = write(folder, "x.xlsx", workbook({{"S", rows}}));
  const auto profile = profile_data({.file = file});
  REQUIRE(profile);
  CHECK(profile->format == "Excel");
  CHECK(profile->rows == 56);
  CHECK(profile->names_line == 3);
  data_params params;
  params.file =
      write(folder, "bad.xlsx",
            workbook({{"S", rows
                                + "<row r=\"70\"><c t=\"str\"><v>oops</v></c><c><v>1</v>"
                                  "</c><c t=\"str\"><v>a</v></c></row>"}}));
  CHECK(without(load_data(params, 1, {}).error().message, folder)
            .starts_with("bad.xlsx: row 70: column 1 (\"n\") is \"oops\""));
}

#include "engine/data/formats/data_format.hpp"

#include "engine/data/formats/npy_header.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/formats/text_kinds.hpp"

#include <algorithm>
#include <array>

namespace clade {
namespace {

std::string ending_of(std::filesystem::path name) {
  if (name.extension() == ".gz")
    name = name.stem();
  return name.extension().string();
}

bool is_workbook(const std::filesystem::path& file, std::string_view bytes) {
  const std::string ending = ending_of(file.filename());
  return ending == ".xlsx" || ending == ".xlsm" || begins_as_workbook(bytes)
         || table_kind_of(bytes) == table_kind::workbook;
}

} // namespace

data_format format_of(const std::filesystem::path& file, std::string_view bytes) {
  const std::string name = file.filename().string();
  // First: any bytes may begin a picture, another format's magic number too.
  if (name.ends_with(".bin") || name.ends_with(".bin.gz"))
    return data_format::cifar;
  if (looks_like_zip(bytes) && is_workbook(file, bytes))
    return data_format::csv;
  if (looks_like_zip(bytes) || name.ends_with(".npz") || name.ends_with(".npz.gz"))
    return data_format::npz;
  if (looks_like_npy(bytes) || name.ends_with(".npy") || name.ends_with(".npy.gz"))
    return data_format::npy;
  if (looks_like_idx(bytes) || name.ends_with("-ubyte") || name.ends_with("-ubyte.gz")
      || name.ends_with(".idx") || name.ends_with(".idx.gz"))
    return data_format::idx;
  if (looks_like_series(bytes))
    return data_format::series;
  return data_format::csv;
}

bool looks_like_data(const std::filesystem::path& file, std::string_view bytes) {
  constexpr std::array<std::string_view, 22> tables{
      ".csv",    ".tsv",     ".tab",    ".data", ".psv",     ".txt",
      ".json",   ".jsonl",   ".ndjson", ".xlsx", ".xlsm",    ".parquet",
      ".arrow",  ".feather", ".arff",   ".db",   ".sqlite3", ".svm",
      ".libsvm", ".pq",      ".sqlite", ".ts"};
  const std::string ending = ending_of(file.filename());
  return std::ranges::find(tables, ending) != tables.end()
         || (ending != ".toml" && format_of(file, bytes) != data_format::csv);
}

std::string plain_name(const std::filesystem::path& file) {
  std::filesystem::path name = file.filename();
  if (name.empty()) // "photos/"
    name = file.parent_path().filename();
  if (name.extension() == ".gz")
    name = name.stem();
  return name.stem().string();
}

} // namespace clade

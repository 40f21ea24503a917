// Binary kinds have magic numbers; kinds of text are known by how they begin. To know one
// more kind, add a row to the table below.

#include "engine/data/formats/unread_kinds.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/text_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

using namespace std::string_view_literals;

/// A beginning of a file by which a kind is known, and what to say of it.
struct known_beginning {
  std::string_view bytes;
  std::string_view kind;
  std::string_view way;
  std::size_t at = 0;
};

constexpr auto as_arrays =
    "save its arrays with numpy.savez(\"data.npz\", x=..., y=...)"sv;
constexpr auto unpack = "unpack it, and name what was in it"sv;
constexpr auto images = "name a folder that has a folder of images for each class"sv;
constexpr auto other_images =
    "save the images as PNG, and name a folder that has a folder "
    "of them for each class"sv;
constexpr auto export_csv = "save its table as CSV, and name that file"sv;

constexpr std::array<known_beginning, 38> beginnings{{
    {"FEA1", "a Feather file",
     "pandas.read_feather(FILE).to_csv(\"data.csv\", index=False) makes a CSV of it"},
    {"ORC", "an ORC file",
     "pandas.read_orc(FILE).to_csv(\"data.csv\", index=False) makes a CSV of it"},
    {"Obj\x01", "an Avro file", export_csv},
    {"\x89HDF\r\n\x1a\n", "an HDF5 file",
     "save its table as CSV (pandas.read_hdf(FILE).to_csv(\"data.csv\", index=False)), "
     "or "
     "its arrays with numpy.savez"},
    {"CDF\x01", "a NetCDF file", as_arrays},
    {"CDF\x02", "a NetCDF file", as_arrays},
    {"MATLAB 5.0 MAT-file", "a MATLAB file", as_arrays},
    {"RDX2\n", "a file of R",
     "write.csv(x, \"data.csv\", row.names = FALSE) makes a CSV"},
    {"RDX3\n", "a file of R",
     "write.csv(x, \"data.csv\", row.names = FALSE) makes a CSV"},
    {"X\n\0\0\0"sv, "a file of R",
     "write.csv(x, \"data.csv\", row.names = FALSE) makes a CSV"},
    {"<stata_dta>", "a Stata file",
     "pandas.read_stata(FILE).to_csv(\"data.csv\", index=False) makes a CSV of it"},
    {"$FL2", "an SPSS file",
     "pandas.read_spss(FILE).to_csv(\"data.csv\", index=False) makes a CSV of it"},
    {"\xc2\xea\x81\x60", "a SAS file",
     "pandas.read_sas(FILE).to_csv(\"data.csv\", index=False) makes a CSV of it", 12},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old spreadsheet or document of Office",
     export_csv},
    {"BZh", "packed with bzip2", "bunzip2 FILE unpacks it"},
    {"\xfd"
     "7zXZ\0"sv,
     "packed with xz", "unxz FILE unpacks it"},
    {"\x28\xb5\x2f\xfd", "packed with zstd", "unzstd FILE unpacks it"},
    {"\x04\x22\x4d\x18", "packed with lz4", "unlz4 FILE unpacks it"},
    {"\x1f\x9d", "packed with compress", "uncompress FILE unpacks it"},
    {"LZIP", "packed with lzip", unpack},
    {"7z\xbc\xaf\x27\x1c", "a 7z archive", unpack},
    {"Rar!\x1a\x07", "a RAR archive", unpack},
    {"ustar", "a tar archive", "tar -xf FILE unpacks it; name what was in it", 257},
    {"\x89PNG\r\n\x1a\n", "an image (PNG)", images},
    {"\xff\xd8\xff", "an image (JPEG)", images},
    {"GIF8", "an image (GIF)", images},
    {"II*\0"sv, "an image (TIFF)", other_images},
    {"MM\0*"sv, "an image (TIFF)", other_images},
    {"WEBP", "an image (WebP)", images, 8},
    {"WAVE", "a sound (WAV)", as_arrays, 8},
    {"ID3", "a sound (MP3)", as_arrays},
    {"OggS", "a sound (Ogg)", as_arrays},
    {"fLaC", "a sound (FLAC)", as_arrays},
    {"version https://git-lfs.github.com/spec/", "a pointer of Git LFS",
     "git lfs pull fetches the file that it stands for"},
    {"%PDF-", "a PDF document", export_csv},
    {"{\\rtf", "a document (RTF)", export_csv},
    {"\x7f"
     "ELF",
     "a program", "name a file of data"},
    {"\x1f\x8b", "packed twice with gzip", "gunzip FILE unpacks it once"},
}};

tl::unexpected<error> refuse(const std::filesystem::path& file, std::string message) {
  return fail_in(file.string(), {error_kind::invalid_input, std::move(message)});
}

tl::unexpected<error> refuse(const std::filesystem::path& file, std::string_view kind,
                             std::string_view way) {
  return refuse(file, fmt::format("is {}, which is not read; {}", kind, way));
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

/// Whether the first bytes may be text: a CSV can begin with "ORC" too.
bool may_be_text(std::string_view bytes) {
  constexpr std::size_t front = 4096;
  return std::ranges::none_of(bytes.substr(0, front), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r'
           && c != '\f' && c != '\v';
  });
}

bool begins_as(const known_beginning& known, std::string_view bytes) {
  constexpr std::size_t telling = 5;
  return bytes.size() >= known.at && bytes.substr(known.at).starts_with(known.bytes)
         && (known.bytes.size() >= telling
             || !std::ranges::all_of(known.bytes, is_printable) || !may_be_text(bytes));
}

/// Protocols 2 to 5; older ones are text.
bool is_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

/// A document of Office or LibreOffice that is no workbook of Excel.
bool is_spreadsheet(std::string_view bytes) {
  constexpr std::size_t front = 4096;
  const auto begin = bytes.substr(0, front);
  return looks_like_zip(bytes)
         && (begin.find("[Content_Types].xml") != std::string_view::npos
             || begin.find("opendocument.spreadsheet") != std::string_view::npos);
}

} // namespace

expected<void> refuse_unread_kind(const std::filesystem::path& file,
                                  std::string_view bytes, bool sentences) {
  // Any bytes may begin a picture, and a series is a text.
  if (const auto format = format_of(file, bytes);
      format == data_format::cifar || format == data_format::series)
    return {};
  if (table_kind_of(bytes))
    return {};
  if (is_spreadsheet(bytes))
    return refuse(file,
                  "is a spreadsheet; save its sheet as .xlsx or CSV, and name that file");
  if (is_pickle(bytes))
    return refuse(file,
                  "is a pickle of Python, a program that is never run here; save "
                  "the table with to_csv(\"data.csv\", index=False), or arrays with "
                  "numpy.savez(\"data.npz\", x=..., y=...)");
  for (const auto& known : beginnings)
    if (begins_as(known, bytes))
      return refuse(file, known.kind, known.way);
  if (looks_like_zip(bytes))
    return {}; // The reader of archives says what is in it.
  if (const auto text = text_kind_of(bytes); text && !(text->sentences && sentences))
    return refuse(file, text->kind, text->way);
  return {};
}

std::filesystem::path file_of_data_in(const std::filesystem::path& folder) {
  constexpr std::size_t most_files = 5000;
  constexpr int deepest = 2;
  std::filesystem::path found;
  std::size_t seen = 0;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::skip_permission_denied, failed);
  for (; !failed && at != std::filesystem::recursive_directory_iterator()
         && seen < most_files;
       at.increment(failed), ++seen) {
    if (at.depth() >= deepest)
      at.disable_recursion_pending();
    if (looks_like_data(at->path(), "") && (found.empty() || at->path() < found))
      found = at->path();
  }
  return found;
}

} // namespace clade

// header := 93 'NUMPY' major minor length dict                (length: u16 in version 1,
//                                                             u32 after)
// dict   := { 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//                                                             as Python writes it

#include "engine/data/formats/npy_header.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t max_dimensions = 8;

tl::unexpected<error> wrong(std::size_t byte, std::string message) {
  return fail(error_kind::invalid_input,
              fmt::format("byte {}: {}", byte, std::move(message)));
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t n = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    n = n << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return n;
}

// Reads the one Python literal that numpy writes; the first thing that is not in its
// grammar ends it, and `position` says where.
struct header_reader {
  std::string_view text;
  std::size_t position = 0;
  bool bad = false;

  bool take(std::string_view token) {
    while (position < text.size() && text[position] == ' ')
      ++position;
    if (!text.substr(position).starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  void expect(std::string_view token) { bad = bad || !take(token); }

  std::string_view quoted() {
    const char* quote = take("'") ? "'" : "\"";
    if (*quote == '"')
      expect("\"");
    const std::size_t end = text.find(*quote, position);
    if (bad || end == std::string_view::npos) {
      bad = true;
      return {};
    }
    const std::string_view word = text.substr(position, end - position);
    position = end + 1;
    return word;
  }

  /// A type, or a list of named ones as it stands.
  std::string descr() {
    if (!take("["))
      return std::string(quoted());
    const std::size_t first = position - 1, end = text.find(']', position);
    bad = bad || end == std::string_view::npos;
    if (bad)
      return {};
    position = end + 1;
    return std::string(text.substr(first, position - first));
  }

  std::int64_t number() {
    std::int64_t n = 0;
    take(" ");
    const std::size_t start = position;
    for (; position < text.size() && text[position] >= '0' && text[position] <= '9';
         ++position) {
      if (n > (std::int64_t{1} << 58)) {
        bad = true;
        return 0;
      }
      n = n * 10 + (text[position] - '0');
    }
    bad = bad || position == start;
    return n;
  }
};

std::vector<std::int64_t> read_shape(header_reader& in) {
  std::vector<std::int64_t> shape;
  in.expect("(");
  while (!in.bad && !in.take(")")) {
    shape.push_back(in.number());
    if (in.bad || shape.size() > max_dimensions) {
      in.bad = true;
      break;
    }
    if (!in.take(",")) {
      in.expect(")");
      break;
    }
  }
  return shape;
}

std::optional<npy_header> read_header(header_reader& in) {
  npy_header h;
  int seen = 0;
  in.expect("{");
  while (!in.bad && !in.take("}")) {
    const std::string_view key = in.quoted();
    in.expect(":");
    if (key == "descr") {
      h.descr = in.descr();
      seen |= 1;
    } else if (key == "fortran_order") {
      h.fortran_order = in.take("True");
      if (!h.fortran_order)
        in.expect("False");
      seen |= 2;
    } else if (key == "shape") {
      h.shape = read_shape(in);
      seen |= 4;
    } else {
      in.bad = true;
    }
    if (!in.take(",") && !in.bad) {
      in.expect("}");
      break;
    }
  }
  if (in.bad || seen != 7)
    return std::nullopt;
  return h;
}

} // namespace

bool looks_like_npy(std::string_view bytes) {
  return bytes.starts_with(npy_magic);
}

expected<npy_header> read_npy_header(std::string_view bytes) {
  if (!looks_like_npy(bytes))
    return wrong(0, "not a .npy file: it would begin with \\x93NUMPY");
  const auto version = bytes.size() > 6 ? static_cast<unsigned char>(bytes[6]) : 1;
  if (version < 1 || version > 3)
    return wrong(6, fmt::format(".npy of version {}; 1 to 3 are read", version));
  const std::size_t start = version == 1 ? 10 : 12;
  const auto too_early = [&] {
    return wrong(bytes.size(),
                 "the file ends here, too early: within its header; it was cut "
                 "off, fetch it again");
  };
  if (bytes.size() < start)
    return too_early();
  const std::size_t length = little_endian(bytes.substr(8, start - 8));
  if (bytes.size() - start < length)
    return too_early();
  header_reader in{bytes.substr(start, length)};
  auto header = read_header(in);
  if (!header)
    return wrong(start + in.position, "the header is not one that numpy writes");
  header->descr_at = start;
  header->values_at = start + length;
  return std::move(*header);
}

} // namespace clade

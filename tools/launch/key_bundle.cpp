#include "tools/launch/key_bundle.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace clade {

namespace {

bool belongs_in_pem(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || std::string_view("+/= -\n").find(c) != std::string_view::npos;
}

expected<std::string> read_pem(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return fail(error_kind::not_found,
                file.string()
                    + ": no such key; a run that listens makes its keys at its "
                      "start, and clade keys makes others");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.starts_with("-----BEGIN ") || !text.ends_with("-----\n")
      || text.find("\n-----END ") == std::string::npos
      || !std::ranges::all_of(text, belongs_in_pem))
    return fail(error_kind::corrupt, file.string() + ": not a PEM file");
  return text;
}

} // namespace

expected<key_bundle> read_key_bundle(const std::filesystem::path& folder) {
  key_bundle bundle;
  for (const auto& [file, text] :
       {std::pair{"ca.pem", &bundle.authority},
        std::pair{"cert.pem", &bundle.certificate}, std::pair{"key.pem", &bundle.key}}) {
    auto read = read_pem(folder / file);
    if (!read)
      return tl::unexpected(read.error());
    *text = std::move(*read);
  }
  return bundle;
}

} // namespace clade

#include "tests/engine/data/files.hpp"

#include <zlib.h>

namespace clade {

std::filesystem::path write(const scratch_folder& folder, const std::string& name,
                            const std::string& bytes) {
  write_text(folder.path() / name, bytes);
  return folder.path() / name;
}

std::string gzip(std::string_view bytes) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

std::string idx(const std::vector<std::uint32_t>& sizes, std::string_view values) {
  std::string out{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      out += static_cast<char>(size >> shift);
  return out.append(values);
}

std::string npy(std::string_view descr, std::string_view shape, std::string_view values) {
  std::string header = "{'descr': '" + std::string(descr)
                       + "', 'fortran_order': False, 'shape': " + std::string(shape)
                       + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out.append(header).append(values);
}

std::string error_of(const std::string& name, const std::string& bytes,
                     data_params params) {
  const scratch_folder folder;
  params.file = write(folder, name, bytes);
  const auto data = load_data(params, 1);
  if (data)
    return "no error";
  std::string text = data.error().message;
  const std::string prefix = folder.path().string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

} // namespace clade

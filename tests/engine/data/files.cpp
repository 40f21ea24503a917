#include "tests/engine/data/files.hpp"

#include <zip.h>
#include <zlib.h>

#include <stdexcept>

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
  out.resize(z.total_out);
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

std::string npz(const std::vector<std::pair<std::string, std::string>>& members,
                bool compressed) {
  zip_error_t why;
  zip_error_init(&why);
  zip_source_t* file = zip_source_buffer_create(nullptr, 0, 0, &why);
  zip_t* archive = zip_open_from_source(file, ZIP_TRUNCATE, &why);
  if (archive == nullptr)
    throw std::runtime_error(zip_error_strerror(&why));
  zip_source_keep(file);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto at = zip_file_add(archive, name.c_str(), source, 0);
    const auto method = compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), method, 0);
  }
  zip_stat_t is;
  if (zip_close(archive) != 0 || zip_source_stat(file, &is) != 0)
    throw std::runtime_error("no archive was made");
  std::string out(is.size, '\0');
  zip_source_open(file);
  zip_source_read(file, out.data(), out.size());
  zip_source_close(file);
  zip_source_free(file);
  return out;
}

std::string npz64(const std::string& name, const std::string& bytes) {
  const auto number = [](std::uint64_t n, std::size_t size) {
    std::string out;
    for (; size > 0; --size, n >>= 8)
      out += static_cast<char>(n & 255);
    return out;
  };
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
                         static_cast<uInt>(bytes.size()));
  // Version, flags, method, time, date, CRC.
  const std::string common =
      number(45, 2) + number(0, 4) + number(0, 2) + number(0x21, 2) + number(crc, 4);
  const std::string local = "PK\x03\x04" + common + number(0xFFFFFFFF, 4)
                            + number(0xFFFFFFFF, 4) + number(name.size(), 2)
                            + number(20, 2) + name + number(1, 2) + number(16, 2)
                            + number(bytes.size(), 8) + number(bytes.size(), 8) + bytes;
  const std::string central = "PK\x01\x02" + number(45, 2) + common
                              + number(bytes.size(), 4) + number(bytes.size(), 4)
                              + number(name.size(), 2) + std::string(16, '\0') + name;
  return local + central + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2)
         + number(central.size(), 4) + number(local.size(), 4) + number(0, 2);
}

std::string without(std::string text, const scratch_folder& folder) {
  const std::string prefix = folder.path().string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

std::string error_of(const std::string& name, const std::string& bytes,
                     data_params params) {
  const scratch_folder folder;
  params.file = write(folder, name, bytes);
  const auto data = load_data(params, 1);
  return data ? "no error" : without(data.error().message, folder);
}

} // namespace clade

#include "actors/head/data_source.hpp"

#include "engine/data/file_bytes.hpp"

#include <algorithm>
#include <fstream>

namespace clade {
namespace {

constexpr std::size_t piece_bytes = 1 << 20;

} // namespace

expected<std::vector<data_file>> data_files(const data_params& data) {
  std::vector<data_file> files;
  for (const auto* path :
       {&data.file, &data.target_file, &data.test_file, &data.test_target_file}) {
    if (path->empty()
        || std::ranges::find(files, path->string(), &data_file::path) != files.end())
      continue;
    const auto sum = checksum_of_file(*path);
    if (!sum)
      return tl::unexpected(sum.error());
    files.push_back({.path = path->string(),
                     .size = std::filesystem::file_size(*path),
                     .checksum = to_text(*sum)});
  }
  return files;
}

chunk data_source_state::read(const fetch_chunk& request) const {
  if (std::ranges::find(files, request.path, &data_file::path) == files.end())
    return {"it is no data file of this run", {}};
  std::ifstream in(request.path, std::ios::binary);
  chunk piece;
  piece.data.resize(piece_bytes);
  in.seekg(static_cast<std::streamoff>(request.offset));
  in.read(piece.data.data(), static_cast<std::streamsize>(piece.data.size()));
  if (in.bad() || in.gcount() < 0 || (in.fail() && !in.eof()))
    return {"it cannot be read", {}};
  piece.data.resize(static_cast<std::size_t>(in.gcount()));
  return piece;
}

data_source_actor::behavior_type
data_source_behavior(data_source_actor::stateful_pointer<data_source_state> self,
                     std::vector<data_file> files) {
  self->state.files = std::move(files);
  return {[self](const fetch_chunk& request) { return self->state.read(request); }};
}

} // namespace clade

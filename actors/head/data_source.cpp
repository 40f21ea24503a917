#include "actors/head/data_source.hpp"

#include "engine/data/folders/class_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace clade {
namespace {

chunk read(const read_piece& request) {
  auto data = request.from.read(request.offset, piece_bytes);
  return data ? chunk{{}, std::move(*data)} : chunk{data.error().message, {}};
}

} // namespace

expected<std::vector<data_file>> data_files(const data_params& data) {
  std::vector<data_file> files;
  for (const auto* path :
       {&data.file, &data.target_file, &data.test_file, &data.test_target_file}) {
    if (path->empty()
        || std::ranges::find(files, path->string(), &data_file::path) != files.end())
      continue;
    const auto sum = checksum_of_data(*path);
    if (!sum)
      return tl::unexpected(sum.error());
    files.push_back({.path = path->string(),
                     .size = is_folder(*path) ? 0 : std::filesystem::file_size(*path),
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

piece_written write(const write_piece& request) {
  auto& to = *request.to;
  const auto& p = request.part;
  const auto failed = [&](error why) {
    to.writer.reset(); // Its file goes with it.
    return piece_written{{why.message}, {}, std::move(why)};
  };
  if (!to.writer) {
    std::error_code ignored; // If there is no folder, the file cannot be made.
    std::filesystem::create_directory(to.file.parent_path(), ignored);
    auto made = blob_writer::create(to.file, to.id, to.size);
    if (!made)
      return failed(std::move(made).error());
    to.writer.emplace(std::move(*made));
  }
  auto& w = *to.writer;
  if (p.offset > w.written() || p.data.size() > to.size - p.offset)
    return {{fmt::format("a piece is missing before byte {}", p.offset)}, {}};
  const auto known = std::min<std::size_t>(w.written() - p.offset, p.data.size());
  if (known == p.data.size())
    return {{{}, w.written()}, {}};
  if (auto put = w.append(std::span(p.data).subspan(known)); !put)
    return failed(std::move(put).error());
  if (w.written() < to.size)
    return {{{}, w.written()}, {}};
  auto whole = w.finish();
  if (!whole)
    return failed(std::move(whole).error());
  if (whole->checksum() != to.checksum) {
    to.writer.reset();
    return {{"what came has another checksum than was announced"}, {}};
  }
  return {{{}, to.size}, std::move(*whole)};
}

data_source_actor::behavior_type
data_source_behavior(data_source_actor::stateful_pointer<data_source_state> self,
                     std::vector<data_file> files) {
  self->state.files = std::move(files);
  return {[self](const fetch_chunk& request) { return self->state.read(request); },
          [](const read_piece& request) { return read(request); },
          [](const write_piece& request) { return write(request); }};
}

} // namespace clade

#include "actors/head/data_source.hpp"

#include "engine/data/columns/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace clade {
namespace {

chunk read(const read_piece& request) {
  auto data = request.from.read(request.offset, piece_bytes);
  return data ? chunk{{}, std::move(*data)} : chunk{data.error().message, {}};
}

/// Adds a folder, and how it is sent.
void add_folder(sent_data& to, data_file file, folder_bundle bundle) {
  file.size = bundle.size();
  file.folder = true;
  to.bundles.emplace(file.path, std::move(bundle));
  to.files.push_back(std::move(file));
}

expected<void> add_path(sent_data& to, const std::filesystem::path& path) {
  const auto sum = checksum_of_data(path);
  if (!sum)
    return tl::unexpected(sum.error());
  data_file file{.path = path.string(), .checksum = to_text(*sum)};
  if (is_folder(path))
    return folder_bundle::of(path).map([&](folder_bundle&& bundle) {
      add_folder(to, std::move(file), std::move(bundle));
    });
  file.size = std::filesystem::file_size(path);
  to.files.push_back(std::move(file));
  return {};
}

expected<void> add_listed_images(sent_data& to, const data_params& data) {
  const auto images = images_of_tables(data);
  if (!images)
    return tl::unexpected(images.error());
  if (!*images)
    return {};
  const auto& [folder, files] = **images;
  if (auto bundle = folder_bundle::of(folder, files))
    add_folder(to,
               {.path = folder.string(),
                .checksum = to_text(checksum_of(folder, files)),
                .listed = true},
               std::move(*bundle));
  return {};
}

} // namespace

expected<sent_data> data_to_send(const data_params& data) {
  sent_data out;
  for (const auto* path :
       {&data.file, &data.target_file, &data.test_file, &data.test_target_file}) {
    if (path->empty()
        || std::ranges::find(out.files, path->string(), &data_file::path)
               != out.files.end())
      continue;
    if (auto added = add_path(out, *path); !added)
      return tl::unexpected(std::move(added).error());
  }
  return add_listed_images(out, data).map([&] { return std::move(out); });
}

chunk data_source_state::read(const fetch_chunk& request) const {
  const auto file = std::ranges::find(data.files, request.path, &data_file::path);
  if (file == data.files.end())
    return {"it is no data file of this run", {}};
  if (file->folder) {
    auto piece = data.bundles.at(file->path).read(request.offset, piece_bytes);
    return piece ? chunk{{}, std::move(*piece)} : chunk{piece.error().message, {}};
  }
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
                     sent_data data) {
  self->state.data = std::move(data);
  return {[self](const fetch_chunk& request) { return self->state.read(request); },
          [](const read_piece& request) { return read(request); },
          [](const write_piece& request) { return write(request); }};
}

} // namespace clade

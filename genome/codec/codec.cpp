#include "genome/codec/codec.hpp"

#include "genome/genes/innovation.hpp"
#include "genome/genes/wiring.hpp"

#include <fmt/format.h>
#include <msgpack.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

// Clade's values in msgpack:
//
//     value     integer | double | string
//     settings  {name: value, ...}                      sorted by name
//     genome    [[node, ...], [edge, ...], settings]    sorted by innovation
//     node      [innovation, operator, settings]
//     edge      [from, to, flags, innovation?, weight?, delay?]
//                                                       ends by their place among the
//                                                       nodes
//     flags     1 enabled | 2 recurrent | 4 innovation follows, as it is not the hash of
//               its place | 8 weight follows, as it is not 1 | 16 delay follows, as it is
//               more than 1
//
// The encoder is msgpack's own packer, but for doubles, of which it turns whole ones into
// integers. The bytes are read in decoder.cpp.

namespace clade {

namespace {

struct string_sink {
  std::string& out;
  void write(const char* data, std::size_t size) { out.append(data, size); }
};

msgpack::packer<string_sink> pack_into(string_sink& sink) {
  return {sink};
}

std::uint32_t narrow(std::size_t size) {
  assert(size <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(size);
}

constexpr std::uint64_t enabled = 1, recurrent = 2, own_innovation = 4, weighs = 8,
                        waits_longer = 16, all_flags = 31;

std::uint64_t flags_of(const edge_gene& e) {
  std::uint64_t flags = e.enabled ? enabled : 0;
  flags |= e.recurrent() ? recurrent : 0;
  flags |= e.id != innovation_of_edge(e.from, e.to, e.delay) ? own_innovation : 0;
  flags |= e.weight != 1 ? weighs : 0;
  flags |= e.delay > 1 ? waits_longer : 0;
  return flags;
}

/// Returns how many fields an edge with these flags has.
std::size_t fields_of(std::uint64_t flags) {
  return std::size_t{3} + ((flags & own_innovation) != 0) + ((flags & weighs) != 0)
         + ((flags & waits_longer) != 0);
}

} // namespace

encoder& encoder::array(std::size_t size) {
  string_sink sink{buffer_};
  pack_into(sink).pack_array(narrow(size));
  return *this;
}

encoder& encoder::map(std::size_t size) {
  string_sink sink{buffer_};
  pack_into(sink).pack_map(narrow(size));
  return *this;
}

encoder& encoder::integer(std::int64_t v) {
  string_sink sink{buffer_};
  pack_into(sink).pack_int64(v);
  return *this;
}

encoder& encoder::natural(std::uint64_t v) {
  string_sink sink{buffer_};
  pack_into(sink).pack_uint64(v);
  return *this;
}

encoder& encoder::real(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  buffer_ += static_cast<char>(0xcb);
  for (int shift = 56; shift >= 0; shift -= 8)
    buffer_ += static_cast<char>(bits >> shift & 0xff);
  return *this;
}

encoder& encoder::boolean(bool v) {
  string_sink sink{buffer_};
  auto packer = pack_into(sink);
  v ? packer.pack_true() : packer.pack_false();
  return *this;
}

encoder& encoder::text(std::string_view v) {
  string_sink sink{buffer_};
  pack_into(sink).pack_str(narrow(v.size())).pack_str_body(v.data(), narrow(v.size()));
  return *this;
}

encoder& encoder::binary(std::span<const char> v) {
  binary_header(v.size());
  buffer_.append(v.data(), v.size());
  return *this;
}

encoder& encoder::binary_header(std::size_t size) {
  string_sink sink{buffer_};
  pack_into(sink).pack_bin(narrow(size));
  return *this;
}

encoder& encoder::nil() {
  string_sink sink{buffer_};
  pack_into(sink).pack_nil();
  return *this;
}

encoder& encoder::encode(const value& v) {
  if (const auto* whole = std::get_if<std::int64_t>(&v))
    return integer(*whole);
  if (const auto* number = std::get_if<double>(&v))
    return real(*number);
  return text(std::get<std::string>(v));
}

encoder& encoder::encode(const std::vector<setting>& v) {
  map(v.size());
  for (const setting& s : v)
    text(s.name).encode(s.value);
  return *this;
}

encoder& encoder::encode(const genome& v) {
  array(3).array(v.nodes.size());
  for (const node_gene& node : v.nodes)
    array(3)
        .natural(static_cast<std::uint64_t>(node.id))
        .text(node.op)
        .encode(node.settings);
  array(v.edges.size());
  for (const edge_gene& edge : v.edges) {
    const std::uint64_t flags = flags_of(edge);
    array(fields_of(flags));
    natural(index_of(v, edge.from)).natural(index_of(v, edge.to)).natural(flags);
    if ((flags & own_innovation) != 0)
      natural(static_cast<std::uint64_t>(edge.id));
    if ((flags & weighs) != 0)
      real(edge.weight);
    if ((flags & waits_longer) != 0)
      natural(edge.delay);
  }
  return encode(v.hyperparameters);
}

std::vector<setting> decoder::settings() {
  const std::size_t size = map();
  std::vector<setting> settings;
  settings.reserve(size);
  for (std::size_t i = 0; i < size && !failed_; ++i) {
    std::string name = text();
    settings.push_back({std::move(name), value()});
  }
  return settings;
}

node_gene decoder::node() {
  array(3);
  node_gene n;
  n.id = innovation{natural()};
  n.op = text();
  n.settings = settings();
  return n;
}

edge_gene decoder::edge(const std::vector<node_gene>& nodes) {
  const std::size_t start = offset_, fields = array();
  const std::uint64_t from = natural(), to = natural(), flags = natural();
  const bool contradicts = (flags & waits_longer) != 0 && (flags & recurrent) == 0;
  if (flags > all_flags || fields != fields_of(flags) || contradicts
      || from >= nodes.size() || to >= nodes.size()) {
    fail(fmt::format("byte {}: not an edge between the genome's nodes", start));
    return {};
  }
  edge_gene e;
  e.from = nodes[from].id;
  e.to = nodes[to].id;
  e.enabled = (flags & enabled) != 0;
  const bool has_own = (flags & own_innovation) != 0;
  if (has_own)
    e.id = innovation{natural()};
  e.weight = (flags & weighs) != 0 ? real() : 1.0;
  const auto delay =
      (flags & waits_longer) != 0 ? natural() : std::uint64_t{(flags & recurrent) != 0};
  // More is refused with the genome.
  e.delay = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(delay, std::uint64_t{longest_delay} + 1));
  if (!has_own)
    e.id = innovation_of_edge(e.from, e.to, e.delay);
  return e;
}

clade::genome decoder::genome() {
  const auto whole = data_;
  const std::size_t start = offset_;
  data_ = data_.first(std::min(data_.size(), start + max_genome_bytes));
  clade::genome g;
  array(3);
  // The smallest node or edge has 4 bytes.
  const std::size_t nodes = array();
  g.nodes.reserve(std::min(nodes, (data_.size() - offset_) / 4));
  for (std::size_t i = 0; i < nodes && !failed_; ++i)
    g.nodes.push_back(node());
  const std::size_t edges = array();
  g.edges.reserve(std::min(edges, (data_.size() - offset_) / 4));
  for (std::size_t i = 0; i < edges && !failed_; ++i)
    g.edges.push_back(edge(g.nodes));
  g.hyperparameters = settings();
  data_ = whole;
  if (failed_)
    return {};
  if (auto sound = check_structure(g); !sound) {
    fail(fmt::format("genome at byte {}: {}", start, sound.error().message));
    return {};
  }
  return g;
}

bytes encode(const genome& g) {
  encoder e;
  e.encode(g);
  return e.take();
}

expected<genome> decode_genome(std::span<const char> data) {
  if (data.size() > max_genome_bytes)
    return fail(error_kind::corrupt,
                fmt::format("a genome of {} bytes; at most {} are taken", data.size(),
                            max_genome_bytes));
  decoder d(data);
  genome g = d.genome();
  if (auto done = d.finish(); !done)
    return tl::unexpected(std::move(done.error()));
  return g;
}

} // namespace clade

// A file of safetensors.cpp, whose header begins, without a space,
//
//     {"__metadata__":{"clade_format":"2","clade_checksum":"DIGITS",
//
// and has among its metadata "clade_model" and, of a regression's champion,
// "clade_errors" (test_details.hpp) and, of tables of series, "clade_forecast"
// (stored_forecast.hpp), all in hexadecimal digits. The checksum is XXH3,
// 128 bits, of the whole file with zeros in its place: a flipped bit anywhere is found.
// The model is, in hexadecimal digits,
//
//     model  = [ genome, search space: text (TOML), header: text, array: text,
//                target: text, preprocessing (preprocessing_codec.cpp), [tensor...] ]
//              | [ [genome | nil...], ... as above, true ]
//              | [ [genome | nil...], ... as above, true, [place, trees, depth] ]
//              | [ [genome | nil...], ... as above, true, [place, trees, depth] | nil,
//                  [place of a mirrored member...] ]
//              | [ ... as the last, [place, dilations, groups, thresholds] ]
//     tensor = [ its name in the run, its name in this file ]
//
// An ensemble has a list of members, of which nil is the linear model, or the boosted trees
// or random convolutions where their place in the list and their sizes are given. Its
// probabilities are bounded where it has the tensor "mixture.least".
//
// The network is decoded from the genome as in the run, and held against the tensors'
// shapes before anything is made of it. No two tensors may share bytes, or a small file
// would become large weights.

#include "engine/export/model/model_file.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/export/model/stored_forecast.hpp"
#include "genome/base/json_depth.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/files/load_search_space.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <new>

namespace clade {
namespace {

static_assert(std::endian::native == std::endian::little, "values are little-endian");

using json = nlohmann::json;

constexpr std::string_view before_checksum = R"(","clade_checksum":")";
constexpr std::size_t length_bytes = 8, checksum_digits = 32;
constexpr std::size_t most_version_digits = 9;
// safetensors takes no longer header.
constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t most_sizes = 8;
// The limit is for one example: the trainer had many at once.
constexpr std::uint64_t most_activation_bytes = std::uint64_t{1} << 32;

// The places of the parts in a file that begins as Clade's do.
struct beginning {
  std::uint64_t version = 0;
  std::size_t checksum = 0; ///< The place at which its digits begin.
};

tl::unexpected<error> no_model() {
  return fail(error_kind::invalid_input,
              "is no model of Clade's; clade export RUN --safetensors FILE writes one");
}

tl::unexpected<error> damaged(const std::string& what) {
  return fail(error_kind::corrupt, "is a damaged model: " + what);
}

// If a version is not known to this program, no more than the version is looked at.
expected<beginning> find_beginning(std::string_view file) {
  if (file.size() < length_bytes || !file.substr(length_bytes).starts_with(model_mark))
    return no_model();
  beginning found;
  const auto at = length_bytes + model_mark.size();
  const auto digits = file.substr(at, most_version_digits);
  const auto [end, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), found.version);
  if (status != std::errc{} || found.version == 0)
    return damaged("it has no version");
  if (found.version > model_format)
    return fail(error_kind::conflict,
                fmt::format("is a model of format {}, which a newer Clade wrote; this "
                            "one reads no more than {}",
                            found.version, model_format));
  const auto then = at + static_cast<std::size_t>(end - digits.data());
  found.checksum = then + before_checksum.size();
  if (!file.substr(then).starts_with(before_checksum)
      || file.size() < found.checksum + checksum_digits)
    return damaged("it has no checksum");
  return found;
}

// Puts zeros into the checksum's place, and returns what it must be.
std::string take_checksum(bytes& file, std::size_t place) {
  file.replace(place, checksum_digits, checksum_digits, '0');
  return to_text(hash128(file));
}

std::optional<bytes> from_hexadecimal(std::string_view text) {
  bytes out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto pair = text.substr(i, 2);
    unsigned char byte = 0;
    const auto [end, status] =
        std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (status != std::errc{} || end != pair.data() + 2)
      return std::nullopt;
    out += static_cast<char>(byte);
  }
  return out;
}

// The part of a file behind its header, in tensors.
class tensor_bytes {
public:
  tensor_bytes(const json& header, std::string_view data)
      : header_(header),
        data_(data),
        left_(data.size()) {}

  expected<weight_tensor> take(const std::string& name) {
    const auto at = header_.find(name);
    if (at == header_.end() || !at->is_object() || at->value("dtype", json()) != "F32")
      return damaged(fmt::format("the tensor {} is missing", in_quotes(name)));
    const auto shape = naturals(at->value("shape", json()));
    const auto place = naturals(at->value("data_offsets", json()));
    if (!shape || shape->size() > most_sizes || !place || place->size() != 2)
      return damaged(fmt::format("the tensor {} has no shape or place", in_quotes(name)));
    const auto from = (*place)[0], to = (*place)[1];
    const auto count = product(*shape);
    if (from > to || to > data_.size() || to - from > left_ || !count
        || *count != (to - from) / sizeof(float) || (to - from) % sizeof(float) != 0)
      return damaged(
          fmt::format("the values of {} do not fill its shape", in_quotes(name)));
    left_ -= to - from;
    weight_tensor t{.shape = {shape->begin(), shape->end()}};
    t.values.resize(*count);
    if (*count != 0)
      std::memcpy(t.values.data(), data_.data() + from, to - from);
    return t;
  }

private:
  static std::optional<std::vector<std::uint64_t>> naturals(const json& list) {
    if (!list.is_array())
      return std::nullopt;
    std::vector<std::uint64_t> out;
    for (const auto& v : list) {
      if (!v.is_number_unsigned() || v.get<std::uint64_t>() > INT64_MAX)
        return std::nullopt;
      out.push_back(v.get<std::uint64_t>());
    }
    return out;
  }

  static std::optional<std::uint64_t> product(const std::vector<std::uint64_t>& sizes) {
    std::uint64_t n = 1;
    for (const auto size : sizes)
      if (__builtin_mul_overflow(n, size, &n))
        return std::nullopt;
    return n;
  }

  const json& header_;
  std::string_view data_;
  std::uint64_t left_; ///< Bytes that belong to no tensor yet.
};

// The content of "clade_model".
struct stored_model {
  genome genes;
  std::vector<mixture_member> members;
  std::string search_space;
  preprocessing how;
  data_params reading;
  std::vector<std::pair<std::string, std::string>> tensors;
};

void decode_trees(decoder& in, std::vector<mixture_member>& members) {
  in.array(3);
  const auto place = in.natural();
  tree_sizes sizes{.trees = in.integer()};
  sizes.depth = in.integer();
  if (place >= members.size() || !are_possible(sizes))
    in.fail("trees of impossible size or place");
  else
    members[place] = sizes;
}

void decode_convolutions(decoder& in, std::vector<mixture_member>& members) {
  in.array(4);
  const auto place = in.natural();
  convolution_sizes sizes{.dilations = in.integer()};
  sizes.groups = in.integer();
  sizes.thresholds = in.integer();
  if (place >= members.size() || !are_possible(sizes))
    in.fail("random convolutions of impossible size or place");
  else
    members[place] = sizes;
}

void decode_smoothing(decoder& in, std::vector<mixture_member>& members) {
  const auto place = in.natural();
  if (place >= members.size() || !std::holds_alternative<linear_member>(members[place]))
    in.fail("smoothing of an impossible place");
  else
    members[place] = smoothing_member();
}

void decode_mirrored(decoder& in, std::vector<mixture_member>& members) {
  for (const auto place : decode_list(in, [](decoder& d) { return d.natural(); })) {
    auto* one =
        place < members.size() ? std::get_if<candidate_member>(&members[place]) : nullptr;
    if (one == nullptr)
      return in.fail("a mirrored member of an impossible place");
    one->mirrored = true;
  }
}

expected<stored_model> decode_origin(const bytes& raw) {
  decoder in(raw);
  stored_model m;
  const auto fields = in.array();
  if (fields < 7 || fields > 12)
    in.fail(fmt::format("a model of {} fields", fields));
  if (fields > 7)
    m.members = decode_list(in, [](decoder& d) {
      return d.is_nil() ? mixture_member()
                        : mixture_member(candidate_member{.genes = d.genome()});
    });
  else
    m.genes = in.genome();
  m.search_space = in.text();
  m.reading.header = in.text();
  m.reading.array = in.text();
  m.reading.target = in.text();
  m.how = decode_preprocessing(in);
  m.reading.task = m.how.task;
  m.tensors = decode_list(in, [](decoder& d) {
    d.array(2);
    auto name = d.text();
    return std::pair(std::move(name), d.text());
  });
  if (fields > 7)
    in.boolean();
  if (fields > 8 && !in.is_nil())
    decode_trees(in, m.members);
  if (fields > 9)
    decode_mirrored(in, m.members);
  if (fields > 10 && !in.is_nil())
    decode_convolutions(in, m.members);
  if (fields > 11)
    decode_smoothing(in, m.members);
  if (auto whole = in.finish(); !whole)
    return damaged(whole.error().message);
  return m;
}

mixed_answers mixed_in(const stored_model& m) {
  const bool bounded = std::ranges::any_of(
      m.tensors, [](const auto& t) { return t.first == "mixture.least"; });
  return mixed_for(m.how.task, bounded);
}

expected<network> network_of(const stored_model& m) {
  auto n =
      parse_search_space(m.search_space, "its search space")
          .and_then([&](const search_space& space) {
            if (!m.members.empty())
              return decode_mixture(space, m.members, m.how.as_problem(), mixed_in(m));
            return check(space.rules, m.genes).and_then([&] {
              return decode(space, m.genes, m.how.as_problem());
            });
          });
  if (!n)
    return damaged(n.error().message);
  if (n->cost().activation_bytes > most_activation_bytes)
    return damaged("no machine has trained a network of that size");
  return n;
}

expected<trained_network> assemble(stored_model m, tensor_bytes tensors) {
  auto n = network_of(m);
  if (!n)
    return tl::unexpected(n.error());
  std::vector<weight_tensor> weights;
  for (auto& [name, stored] : m.tensors) {
    auto t = tensors.take(stored);
    if (!t)
      return tl::unexpected(t.error());
    t->name = std::move(name);
    weights.push_back(std::move(*t));
  }
  if (const auto fits = export_network(*n, weights); !fits)
    return damaged(fits.error().message);
  return trained_network{.network = std::move(*n),
                         .weights = std::move(weights),
                         .how = std::move(m.how),
                         .reading = std::move(m.reading)};
}

std::optional<bytes> stored_bytes(const json& metadata, const char* key) {
  const auto stored = metadata.is_object() ? metadata.value(key, json()) : json();
  return stored.is_string() ? from_hexadecimal(stored.get_ref<const std::string&>())
                            : std::nullopt;
}

expected<error_quantiles> decode_errors(const json& metadata) {
  if (!metadata.is_object() || !metadata.contains("clade_errors"))
    return error_quantiles();
  const auto raw = stored_bytes(metadata, "clade_errors").value_or(bytes());
  decoder in(raw);
  auto errors = decode_error_quantiles(in);
  if (auto whole = in.finish(); !whole)
    return damaged(whole.error().message);
  return errors;
}

expected<trained_network> decode_whole(const bytes& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  if (length > most_header_bytes || length > file.size() - length_bytes)
    return damaged("its header has no end");
  const auto text = std::string_view(file).substr(length_bytes, length);
  const auto header = parse_shallow<json>(text);
  if (!header.is_object())
    return damaged("its header is no JSON");
  const auto metadata = header.value("__metadata__", json());
  const auto raw = stored_bytes(metadata, "clade_model");
  if (!raw)
    return damaged("it has no network");
  auto errors = decode_errors(metadata);
  if (!errors)
    return tl::unexpected(errors.error());
  return decode_origin(*raw)
      .and_then([&](stored_model m) -> expected<trained_network> {
        if (metadata.contains("clade_forecast")) {
          const auto forecast = stored_bytes(metadata, "clade_forecast");
          if (auto read = decode_forecast(forecast.value_or(bytes()), m.reading); !read)
            return damaged(read.error().message);
        }
        return assemble(std::move(m),
                        {header, std::string_view(file).substr(length_bytes + length)});
      })
      .map([&](trained_network&& n) {
        n.errors = std::move(*errors);
        return std::move(n);
      });
}

} // namespace

namespace {

template<class Member>
std::optional<std::size_t> place_of(std::span<const mixture_member> members) {
  const auto found = std::ranges::find_if(members, [](const mixture_member& one) {
    return std::holds_alternative<Member>(one);
  });
  return found == members.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - members.begin()));
}

std::vector<std::size_t> mirrored_places(std::span<const mixture_member> members) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (const auto* one = std::get_if<candidate_member>(&members[i]);
        one != nullptr && one->mirrored)
      places.push_back(i);
  return places;
}

/// The facts of members beyond the list of them. Its fields end with the last that says
/// something, so that earlier versions read all that they know.
struct member_places {
  explicit member_places(std::span<const mixture_member> all)
      : members(all),
        trees(place_of<tree_sizes>(all)),
        convolutions(place_of<convolution_sizes>(all)),
        smoothing(place_of<smoothing_member>(all)),
        mirrored(mirrored_places(all)) {}

  [[nodiscard]] std::size_t fields() const {
    return smoothing ? 4 : convolutions ? 3 : !mirrored.empty() ? 2 : trees ? 1 : 0;
  }
  void write(encoder& out) const;

  std::span<const mixture_member> members;
  std::optional<std::size_t> trees, convolutions, smoothing;
  std::vector<std::size_t> mirrored;
};

void member_places::write(encoder& out) const {
  if (trees) {
    const auto& sizes = std::get<tree_sizes>(members[*trees]);
    out.array(3).natural(*trees).integer(sizes.trees).integer(sizes.depth);
  } else if (fields() > 1) {
    out.nil();
  }
  if (fields() > 1) {
    out.array(mirrored.size());
    for (const auto place : mirrored)
      out.natural(place);
  }
  if (convolutions) {
    const auto& sizes = std::get<convolution_sizes>(members[*convolutions]);
    out.array(4).natural(*convolutions).integer(sizes.dilations);
    out.integer(sizes.groups).integer(sizes.thresholds);
  } else if (fields() > 3) {
    out.nil();
  }
  if (smoothing)
    out.natural(*smoothing);
}

} // namespace

bytes encode_origin(const exported_model& m) {
  encoder out;
  const auto& members = m.origin->members;
  const member_places places(members);
  // An ensemble has its members in the place of the genome, and a field more, so that
  // earlier versions refuse it.
  out.array(members.empty() ? 7 : 8 + places.fields());
  if (members.empty())
    out.encode(m.origin->genes);
  else
    out.array(members.size());
  for (const auto& member : members)
    if (const auto* one = std::get_if<candidate_member>(&member))
      out.encode(one->genes);
    else
      out.nil();
  out.text(m.origin->search_space);
  const auto& reading = m.origin->reading;
  out.text(reading.header).text(reading.array).text(reading.target);
  encode(out, m.how);
  out.array(m.run_tensors.size());
  for (const auto& t : m.run_tensors)
    out.array(2).text(t.name).text(m.weights[t.index].name);
  if (!members.empty()) {
    out.boolean(true);
    places.write(out);
  }
  return out.take();
}

bytes encode_errors(const exported_model& m) {
  encoder out;
  encode(out, m.origin->errors);
  return out.take();
}

std::string to_hexadecimal(std::string_view raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * raw.size());
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    (out += digits[byte >> 4]) += digits[byte & 15];
  }
  return out;
}

bool seal(bytes& file) {
  const auto found = find_beginning(file);
  if (!found)
    return false;
  const auto checksum = take_checksum(file, found->checksum);
  file.replace(found->checksum, checksum_digits, checksum);
  return true;
}

expected<trained_network> decode_model(bytes file) {
  const auto found = find_beginning(file);
  if (!found)
    return tl::unexpected(found.error());
  const auto noted = file.substr(found->checksum, checksum_digits);
  if (take_checksum(file, found->checksum) != noted)
    return damaged("its checksum does not match; export it again");
  return decode_whole(file);
}

expected<trained_network> read_model(const std::filesystem::path& file) {
  const auto unreadable = [&] {
    return fail_in(file.string(),
                   {errno == ENOENT ? error_kind::not_found : error_kind::invalid_input,
                    std::string("cannot be read: ") + std::strerror(errno)});
  };
  try {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    bytes all(length_bytes + model_mark.size(), '\0');
    in.read(all.data(), static_cast<std::streamsize>(all.size()));
    if (in.bad() || (!in && errno != 0))
      return unreadable();
    all.resize(static_cast<std::size_t>(in.gcount()));
    if (in && all.ends_with(model_mark)) {
      std::error_code failed;
      const auto size = std::filesystem::file_size(file, failed);
      const auto known = all.size();
      if (!failed && size > known) {
        all.resize(size);
        in.read(all.data() + known, static_cast<std::streamsize>(size - known));
        if (in.bad())
          return unreadable();
        all.resize(known + static_cast<std::size_t>(in.gcount()));
      }
    }
    auto model = decode_model(std::move(all));
    if (!model)
      return fail_in(file.string(), std::move(model).error());
    return model;
  } catch (const std::bad_alloc&) {
    return fail_in(file.string(), {error_kind::io, "not enough memory to hold it"});
  }
}

} // namespace clade

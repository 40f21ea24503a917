// https://github.com/huggingface/safetensors: the header is an object with, for each
// tensor, "dtype", "shape" and "data_offsets" [from, to) behind the header, without gaps,
// and "__metadata__", texts by name. Spaces fill it up to a multiple of 8 bytes. Tensors
// of 8 bytes a value come first, so that every one is aligned.

#include "engine/export/source/safetensors.hpp"

#include "engine/export/model/model_file.hpp"
#include "engine/export/model/stored_forecast.hpp"
#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/row_source.hpp"

#include <nlohmann/json.hpp>

#include <bit>

namespace clade {
namespace {

static_assert(std::endian::native == std::endian::little, "values are little-endian");

using json = nlohmann::ordered_json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

class tensor_file {
public:
  template<class Number>
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           const std::vector<Number>& values) {
    const auto from = data_.size();
    data_.append(reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(Number));
    header_[name] = {{"dtype", sizeof(Number) == 8 ? "F64" : "F32"},
                     {"shape", shape},
                     {"data_offsets", {from, data_.size()}}};
  }

  [[nodiscard]] bytes finish(json metadata) {
    json all = json::object();
    all["__metadata__"] = std::move(metadata);
    all.update(header_);
    std::string text = dump(all);
    text.append((8 - text.size() % 8) % 8, ' ');
    bytes out(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
      out[i] = static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
    return out + text + data_;
  }

private:
  json header_ = json::object();
  bytes data_;
};

json metadata_of(const exported_model& m) {
  json out = json::object();
  if (m.origin) {
    // They come first, in this order (model_file.cpp); `seal` puts the checksum in.
    out["clade_format"] = std::to_string(model_format);
    out["clade_checksum"] = to_text(genome_hash{});
  }
  out["format"] = "pt";
  out["model"] = title_of(m);
  for (const auto& [name, text] : decoder_of(m.how).safetensors_metadata(m.how))
    out[name] = text;
  json categories = json::object();
  for (std::size_t c = 0; c < m.how.columns.size(); ++c)
    if (m.how.columns[c].kind == encoding_kind::category)
      categories[std::to_string(c)] = m.how.columns[c].values;
  if (!categories.empty())
    out["categories"] = dump(categories);
  if (m.origin)
    out["clade_model"] = to_hexadecimal(encode_origin(m));
  if (m.origin && m.origin->errors.known())
    out["clade_errors"] = to_hexadecimal(encode_errors(m));
  if (m.origin && m.origin->reading.forecast != forecast_params())
    out["clade_forecast"] = to_hexadecimal(encode_forecast(m.origin->reading));
  return out;
}

} // namespace

bytes encode_safetensors(const exported_model& m) {
  tensor_file file;
  const auto columns = static_cast<std::int64_t>(m.how.inputs());
  if (!m.how.mean.empty()) {
    file.add("input_mean", {columns}, m.how.mean);
    file.add("input_deviation", {columns}, m.how.deviation);
  }
  if (!m.how.limit.empty())
    file.add("input_limit", {columns},
             std::vector<float>(m.how.limit.begin(), m.how.limit.end()));
  const auto fills = fills_of(m.how);
  if (!fills.empty() && takes_doubles(m.how))
    file.add("input_blank", {columns}, fills);
  else if (!fills.empty())
    file.add("input_blank", {columns}, std::vector<float>(fills.begin(), fills.end()));
  if (m.how.largest > 0)
    file.add("input_largest", {}, std::vector<float>{m.how.largest});
  for (const auto& w : m.weights)
    file.add(w.name, w.shape, w.values);
  auto out = file.finish(metadata_of(m));
  if (m.origin)
    seal(out);
  return out;
}

} // namespace clade

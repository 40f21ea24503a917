#pragma once

#include "engine/export/model/model.hpp"
#include "genome/codec/codec.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// The version of what Clade puts into a safetensors file beside the tensors.
inline constexpr std::uint64_t model_format = 2;

/// All that predicting takes.
struct trained_network {
  clade::network network;
  /// The weights, as the trainer names and orders them.
  std::vector<weight_tensor> weights;
  preprocessing how;
  /// How files of new examples are read: `header`, `array`, `target`, `task` and
  /// `forecast`.
  data_params reading;
  error_quantiles errors{}; ///< The errors, as in `model_origin`.
};

/// How a file of Clade's begins behind the header's length; then the version in decimal.
inline constexpr std::string_view model_mark = R"({"__metadata__":{"clade_format":")";

/// Returns the text of the metadata's "clade_model" for a model with an origin (grammar
/// at the top of model_file.cpp), in hexadecimal digits as it stands there.
[[nodiscard]] bytes encode_origin(const exported_model& m);
/// The same of "clade_errors", which only a model with errors has.
[[nodiscard]] bytes encode_errors(const exported_model& m);
[[nodiscard]] std::string to_hexadecimal(std::string_view raw);

/// Puts the checksum of such a file into its place, whatever stands there. False: the
/// bytes do not begin as a file of Clade's does.
bool seal(bytes& file);

/// Total: any bytes of which `encode_safetensors` made none are an error: of kind
/// invalid_input where they do not begin as a file of Clade's does, conflict for a newer
/// version, else corrupt. In memory and time bounded by the bytes.
[[nodiscard]] expected<trained_network> decode_model(bytes file);

/// The same from a file, of which no more than its first bytes are read if it is none of
/// Clade's; errors name it.
[[nodiscard]] expected<trained_network> read_model(const std::filesystem::path& file);

} // namespace clade

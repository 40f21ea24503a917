#pragma once

#include "engine/export/model/model.hpp"
#include "genome/codec/codec.hpp"

namespace clade {

/// The weights, named as model.py names them, and the numbers of the preprocessing beside
/// them (`input_tensors`), in the safetensors format: 8 bytes of header length, a JSON
/// header, values in little-endian order. Values that are no tensors (classes,
/// categories, the target's scale) are in the header's metadata, and, for a model with an
/// origin, all that `read_model` needs (model_file.hpp). The same bytes for the same
/// model.
[[nodiscard]] bytes encode_safetensors(const exported_model& m);

} // namespace clade

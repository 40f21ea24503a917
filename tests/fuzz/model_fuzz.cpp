// A model's file is decoded to a network that its weights fit and new examples can be
// prepared for, or is refused. The first byte chooses: the file as it is; the file with a
// right checksum, as no mutation could find it; or the rest as what "clade_model" says,
// beside the tensors of a model that is right.
#include "engine/export/model/model_file.hpp"
#include "engine/export/source/safetensors.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/models.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

// The tiny model's file with another "clade_model", and the header's length that follows.
bytes beside_tensors(std::string_view model) {
  static const auto m = test::a_tiny_model();
  static const bytes whole = encode_safetensors(m);
  static const auto at = whole.find(to_hexadecimal(encode_origin(m)));
  static const auto behind = whole.find('"', at);
  bytes file = whole.substr(0, at) + to_hexadecimal(model) + whole.substr(behind);
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(whole[i]);
  length += file.size() - whole.size();
  for (std::size_t i = 0; i < 8; ++i)
    file[i] = static_cast<char>(length >> (8 * i));
  hold(seal(file), "the file begins as a model does");
  return file;
}

void hold_laws(const trained_network& m) {
  hold(export_network(m.network, m.weights), "weights fit their network");
  hold(m.network.layers.front().out.elements()
           == static_cast<std::int64_t>(m.how.inputs()),
       "what is prepared is what the network takes");
  if (m.how.task == classification)
    hold(m.network.layers.back().out.elements()
             == static_cast<std::int64_t>(m.how.classes.size()),
         "the network tells the classes apart");
  if (m.how.width > 4096 || m.how.inputs() > 4096)
    return;
  const raw_rows rows{.origin = "x",
                      .count = 1,
                      .values = std::vector<float>(m.how.inputs(), 0),
                      .lines = {}};
  const auto prepared = prepare(rows, m.how);
  hold(prepared, "a row without a blank is prepared");
  hold(prepared->size() == m.how.inputs(), "it is whole");
  std::string line;
  for (std::size_t i = 0; i < m.how.width; ++i)
    line += i == 0 ? "0" : ",0";
  const auto read = parse_new_csv(line, "x.csv", m.reading.header, m.how);
  if (!read)
    refused(read);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  const auto kind = input.below(3);
  bytes file(input.rest());
  if (kind == 1)
    seal(file);
  if (kind == 2)
    file = beside_tensors(input.rest());
  const auto m = decode_model(std::move(file));
  if (!m) {
    hold(m.error().kind == error_kind::invalid_input
             || m.error().kind == error_kind::conflict
             || m.error().kind == error_kind::corrupt,
         "what is no model is for the user to mend");
    return refused(m);
  }
  hold_laws(*m);
  return 0;
}

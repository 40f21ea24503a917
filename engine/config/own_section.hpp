#pragma once

#include "engine/config/keys.hpp"

namespace clade {

/// Shows an evaluator's own keys to a visitor of keys.hpp.
template<class Visitor>
class own_section final : public own_keys {
public:
  explicit own_section(Visitor& v) : visitor_(v) {}

  void key(described_key k, double& v) override { visitor_.key(k, v); }
  void key(described_key k, std::uint32_t& v) override { visitor_.key(k, v); }
  void key(described_key k, std::chrono::microseconds& v) override { visitor_.key(k, v); }
  void unusual(described_key k, double& v, double usual) override {
    visitor_.unusual(k, v, usual);
  }
  void list(described_key k, std::vector<std::string>& v) override {
    visitor_.list(k, v);
  }
  void path(described_key k, std::filesystem::path& v) override { visitor_.path(k, v); }
  void folder(described_key k, std::filesystem::path& v) override {
    visitor_.folder(k, v);
  }

private:
  Visitor& visitor_;
};

/// Shows the own keys of an evaluator whose values stay as they are.
template<class Visitor>
void visit_copy(Visitor& v, const evaluator_spec& spec) {
  own_section<Visitor> keys(v);
  spec.clone()->visit(keys);
}

} // namespace clade

#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

namespace clade {

/// Shows the keys that one strategy or one kind of evaluator alone has to a visitor of
/// keys.hpp.
template<class Visitor>
class own_section final : public own_keys {
public:
  explicit own_section(Visitor& v) : visitor_(v) {}

  void key(described_key k, double& v) override { visitor_.key(k, v); }
  void key(described_key k, std::uint32_t& v) override { visitor_.key(k, v); }
  void key(described_key k, std::chrono::microseconds& v) override { visitor_.key(k, v); }
  void unusual(described_key k, std::size_t& v, std::size_t usual) override {
    visitor_.unusual(k, v, usual);
  }
  void unusual(described_key k, double& v, double usual) override {
    visitor_.unusual(k, v, usual);
  }
  void unusual(described_key k, std::string& v, const std::string& usual) override {
    visitor_.unusual(k, v, usual);
  }
  void unusual_strategies(described_key k, std::vector<std::string>& v,
                          const std::vector<std::string>& usual) override {
    visitor_.unusual_strategies(k, v, usual);
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

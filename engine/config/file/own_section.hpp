#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

#include <type_traits>

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
  void unusual(described_key k, bool& v, bool usual) override {
    visitor_.unusual(k, v, usual);
  }
  void unusual(described_key k, std::chrono::microseconds& v,
               std::chrono::microseconds usual) override {
    visitor_.unusual(k, v, usual);
  }
  void unusual_list(described_key k, std::vector<std::string>& v,
                    const std::vector<std::string>& usual) override {
    visitor_.unusual_list(k, v, usual);
  }
  void unusual_strategies(described_key k, std::vector<std::string>& v,
                          const std::vector<std::string>& usual) override {
    visitor_.unusual_strategies(k, v, usual);
  }
  void list(described_key k, std::vector<std::string>& v) override {
    visitor_.list(k, v);
  }
  void lists(described_key k,
             std::map<std::string, std::vector<std::string>>& v) override {
    visitor_.lists(k, v);
  }
  void numbers(described_key k, std::vector<std::uint32_t>& v) override {
    visitor_.numbers(k, v);
  }
  void texts(described_key k, std::vector<named_text>& v) override {
    visitor_.texts(k, v);
  }
  void table(described_key k, bool written,
             const std::function<void(own_keys&)>& inner) override {
    visitor_.table(k, written, [&](auto& visitor) {
      own_section<std::remove_reference_t<decltype(visitor)>> keys(visitor);
      inner(keys);
    });
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

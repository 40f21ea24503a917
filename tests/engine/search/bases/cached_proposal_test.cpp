#include "engine/search/bases/cached_proposal.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

/// Counts how often it is asked; or fails.
class dear_one final : public proposal {
public:
  explicit dear_one(std::shared_ptr<int> asked, bool fails = false)
      : asked_(std::move(asked)),
        fails_(fails) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    ++*asked_;
    if (fails_)
      return fail(error_kind::internal, "no more");
    auto random = derive(rules.seed, purpose::sample, order.id, order.attempt);
    auto made = sample(rules.space, rules.problem, random);
    made->changes = {{.after = "thought of"}};
    made->from = {1};
    return made;
  }

private:
  std::shared_ptr<int> asked_;
  bool fails_;
};

struct world {
  search_space space = small_space();
  clade::problem problem = small_problem();
  mutation_params mutation{};
  [[nodiscard]] breeding_rules rules() const { return {space, problem, mutation, 7}; }
};

genome_hash network_of(const proposal& p, const world& w, std::uint64_t attempt) {
  const auto made = p.make(w.rules(), {.id = 3, .attempt = attempt});
  REQUIRE(made);
  CHECK(made->from == std::vector<std::size_t>{1});
  CHECK(made->changes.front().after == "thought of");
  return canonical_hash(made->child);
}

} // namespace

TEST_CASE("asked once: further attempts are mutants of the first, and cost no question") {
  const world w;
  const auto asked = std::make_shared<int>(0);
  const cached_proposal p(std::make_shared<const dear_one>(asked));
  std::set<genome_hash> networks;
  for (std::uint64_t attempt = 0; attempt < 8; ++attempt)
    networks.insert(network_of(p, w, attempt));
  CHECK(*asked == 1);
  CHECK(networks.size() > 4);
  CHECK(network_of(p, w, 0) == network_of(dear_one(std::make_shared<int>(0)), w, 0));
}

TEST_CASE("asked once: an attempt is the same whichever came before it") {
  const world w;
  const auto asked = std::make_shared<int>(0);
  const cached_proposal forward(std::make_shared<const dear_one>(asked)),
      backward(std::make_shared<const dear_one>(asked));
  std::vector<genome_hash> first, second;
  for (std::uint64_t attempt = 0; attempt < 4; ++attempt) {
    first.push_back(network_of(forward, w, attempt));
    second.insert(second.begin(), network_of(backward, w, 3 - attempt));
  }
  CHECK(first == second);
}

TEST_CASE("asked once: a proposal that failed has failed for good") {
  const world w;
  const auto asked = std::make_shared<int>(0);
  const cached_proposal p(std::make_shared<const dear_one>(asked, true));
  for (std::uint64_t attempt = 0; attempt < 3; ++attempt)
    CHECK(p.make(w.rules(), {.id = 3, .attempt = attempt}).error().message == "no more");
  CHECK(*asked == 1);
}

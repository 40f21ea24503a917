#include "tools/serve/evaluation_server.hpp"

#include "engine/report/base/json_parts.hpp"
#include "engine/search/core/selection.hpp"
#include "genome/base/json_depth.hpp"
#include "genome/genes/hash.hpp"
#include "tools/serve/genome_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// A whole number from 1 to `most`, if the object has that key.
expected<std::optional<std::uint64_t>> read_number(const json& j, const char* key,
                                                   std::uint64_t most) {
  const auto found = j.find(key);
  if (found == j.end() || found->is_null())
    return std::nullopt;
  if (!found->is_number_unsigned() || *found == 0 || found->get<std::uint64_t>() > most)
    return wrong(fmt::format("{} must be a whole number from 1 to {}", key, most));
  return found->get<std::uint64_t>();
}

constexpr std::array<std::string_view, 7> known_keys{
    "describe", "layers", "output", "hyperparameters", "id", "epochs", "test"};

/// A line asks for one thing; what it says beside that would be passed over.
expected<void> check_keys(const json& says) {
  if (auto known = refuse_unknown_keys(says, "the line", known_keys); !known)
    return known;
  const auto describe = says.find("describe");
  if (describe != says.end() && !describe->is_boolean())
    return wrong("describe must be true or false");
  const bool test = says.contains("test");
  for (const auto& [key, content] : says.items())
    if (key != "describe" && test && key != "test")
      return wrong(fmt::format("{{\"test\": ID}} is asked alone, without \"{}\"", key));
  return {};
}

std::string result_line(const evaluation& e, genome_hash network,
                        double processor_seconds) {
  return text_of({{"id", e.id},
                  {"outcome", to_text(e.outcome)},
                  {"metrics", metrics_json(e.metrics)},
                  {"parameters", e.parameters},
                  {"network", to_text(network)},
                  {"equal_to", some(e.equal_to)},
                  {"reason", some(e.reason)},
                  {"seconds", e.seconds},
                  {"processor_seconds", processor_seconds}});
}

} // namespace

struct evaluation_server::request {
  json says;
  std::optional<candidate_id> id;
  std::optional<std::uint32_t> epochs;
};

evaluation_server::evaluation_server(params p, evaluating by)
    : params_(std::move(p)),
      by_(std::move(by)) {}

expected<evaluation_server::request>
evaluation_server::parse(std::string_view line) const {
  if (line.size() > max_line_bytes)
    return wrong(fmt::format("the line has more than {} bytes", max_line_bytes));
  request r{.says = parse_shallow<json>(line), .id = {}, .epochs = {}};
  if (!r.says.is_object())
    return wrong("the line is not one JSON object, such as {\"layers\": [...], "
                 "\"hyperparameters\": {...}}, {\"test\": 7} or {\"describe\": true}");
  if (auto known = check_keys(r.says); !known)
    return tl::unexpected(std::move(known).error());
  const char* key = r.says.contains("test") ? "test" : "id";
  const auto id = read_number(r.says, key, std::uint64_t{1} << 53);
  if (!id)
    return tl::unexpected(id.error());
  r.id = *id;
  const auto epochs = read_number(r.says, "epochs", 1'000'000);
  if (!epochs)
    return tl::unexpected(epochs.error());
  if (*epochs)
    r.epochs = static_cast<std::uint32_t>(**epochs);
  return r;
}

std::string evaluation_server::describe() const {
  return text_of(
      {{"space", to_json(params_.space)},
       {"objective",
        {{"metric", params_.goal.metric}, {"maximize", params_.goal.maximize}}},
       {"epochs", params_.epochs}});
}

/// Weights are asked for whenever an evaluation may be one of the best.
void evaluation_server::keep_best(candidate_id id, blob weights) {
  auto& one = trained_.at(id);
  const auto f = fitness_of(one.result, params_.goal);
  if (!f.ok || weights.empty())
    return;
  one.weights = std::move(weights);
  individual rated;
  rated.id = id;
  rated.fitness = f;
  best_.insert(std::ranges::upper_bound(best_, rated, fitter), rated);
  if (best_.size() <= kept_best)
    return;
  trained_.at(best_.back().id).weights = {};
  best_.pop_back();
}

expected<std::string> evaluation_server::evaluate(const request& r) {
  auto g = genome_from_json(r.says, params_.space, params_.problem);
  if (!g)
    return tl::unexpected(std::move(g).error());
  const auto id = r.id.value_or(trained_.empty() ? 1 : trained_.rbegin()->first + 1);
  if (trained_.contains(id))
    return wrong(fmt::format(
        "id {} was evaluated before; leave it out for the next free one", id));
  const auto epochs = r.epochs.value_or(params_.epochs);
  const auto network = canonical_hash(*g);
  trained t{.genome = std::move(*g),
            .epochs = epochs,
            .result = {},
            .network = network,
            .weights = {}};
  if (const auto known = known_.find({network, epochs}); known != known_.end()) {
    t.result = copy_for(id, trained_.at(known->second).result);
    const auto line = result_line(t.result, network, 0);
    trained_.emplace(id, std::move(t));
    return line;
  }
  const auto before = by_.processor_seconds();
  auto done = by_.evaluate({.id = id,
                            .genome = t.genome,
                            .budget = {.epochs = r.epochs.value_or(0)},
                            .keep_weights_above = weights_threshold(best_, kept_best)});
  const auto took = by_.processor_seconds() - before;
  done.evaluation.id = id;
  const auto line = result_line(done.evaluation, network, took);
  t.result = std::move(done.evaluation);
  trained_.emplace(id, std::move(t));
  known_.emplace(std::pair(network, epochs), id);
  keep_best(id, std::move(done.weights));
  return line;
}

expected<std::string> evaluation_server::test(const request& r) {
  const auto found = r.id ? trained_.find(*r.id) : trained_.end();
  if (found == trained_.end())
    return wrong("test must be the id of an evaluation, such as {\"test\": 7}");
  const auto& asked = found->second.result;
  if (asked.outcome != outcome::succeeded)
    return wrong(
        fmt::format("{} {}: there is nothing to test", *r.id, to_text(asked.outcome)));
  const auto original = asked.equal_to == 0 ? *r.id : asked.equal_to;
  const trained& t = trained_.at(original);
  const auto tested = t.weights.load().and_then([&](const shared_bytes& weights) {
    return by_.examine(
        {.id = original, .genome = t.genome, .budget = {.epochs = t.epochs}}, *weights);
  });
  if (!tested)
    return tl::unexpected(tested.error());
  return text_of({{"id", *r.id},
                  {"metrics", metrics_json(tested->metrics)},
                  {"parameters", tested->parameters}});
}

std::string evaluation_server::answer(std::string_view line) {
  const auto r = parse(line);
  if (!r)
    return text_of({{"error", r.error().message}});
  if (r->says.value("describe", false))
    return describe();
  const auto done = r->says.contains("test") ? test(*r) : evaluate(*r);
  if (done)
    return *done;
  json says{{"error", done.error().message}};
  if (r->id)
    says["id"] = *r->id;
  return text_of(says);
}

} // namespace clade

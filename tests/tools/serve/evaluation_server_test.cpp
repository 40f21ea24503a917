#include "genome/genes/hash.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/small_space.hpp"
#include "tools/serve/evaluation_server.hpp"
#include "tools/serve/genome_json.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <rapidcheck/catch.h>

using namespace clade;
using json = nlohmann::ordered_json;

namespace {

constexpr const char* adam = R"("hyperparameters":{"optimiser":"adam",
  "learning_rate":0.01,"batch_size":32,"warm_up":4})";

std::string line_of(const std::string& layers, const std::string& more = "") {
  return "{\"layers\":" + layers + more + "," + adam + "}";
}

std::string dense(int units) {
  return R"({"op":"dense","settings":{"activation":"relu","units":)"
         + std::to_string(units) + "}}";
}

/// The loss falls with the units of the first layer, a training takes a second, and the
/// test finds what validation found.
struct desk_at_work {
  double clock = 0;
  std::vector<candidate_id> trained, examined, weighed;
  evaluation_server desk{
      {.space = small_space(), .problem = small_problem(), .goal = {}, .epochs = 9},
      {.evaluate =
           [this](job j) {
             trained.push_back(j.id);
             clock += 1;
             evaluated_job done;
             done.evaluation.id = j.id;
             const auto& settings = j.genome.nodes.back().settings;
             const auto* units = find(settings, "units");
             const double accuracy =
                 units == nullptr
                     ? 0.5
                     : static_cast<double>(std::get<std::int64_t>(*units)) / 100;
             if (j.budget.epochs == 3) {
               done.evaluation.outcome = outcome::diverged;
               done.evaluation.reason = "loss is NaN";
               return done;
             }
             done.evaluation.metrics = {{"validation.accuracy", accuracy},
                                        {"validation.loss", 1 - accuracy}};
             if (accuracy > j.keep_weights_above)
               done.weights = bytes{'w'};
             return done;
           },
       .examine = [this](job j, const bytes& weights) -> expected<examination> {
         (weights.empty() ? examined : weighed).push_back(j.id);
         return examination{
             .subject = "", .id = j.id, .metrics = {{"test.accuracy", 0.25}}};
       },
       .processor_seconds = [this] { return clock; }}};

  json ask(const std::string& line) { return json::parse(desk.answer(line)); }
  std::string error(const std::string& line) {
    const auto said = ask(line);
    return said.contains("error") ? said["error"].get<std::string>() : said.dump();
  }
};

genome read(const std::string& line) {
  auto g = genome_from_json(json::parse(line), small_space(), small_problem());
  if (!g)
    FAIL(g.error().message);
  return std::move(*g);
}

} // namespace

TEST_CASE("desk: a list of layers is a chain, or what its inputs say") {
  const auto chain = read(line_of("[" + dense(16) + "," + dense(8) + "]"));
  CHECK(chain.nodes.size() == 4);
  CHECK(chain.edges.size() == 3);
  const auto same =
      read(line_of("[" + dense(16) + "," + R"({"op":"dense","inputs":[1],"settings":)"
                   + R"({"activation":"relu","units":8.0}}])"));
  CHECK(to_text(canonical_hash(chain)) == to_text(canonical_hash(same)));
  const auto skip =
      read(line_of("[" + dense(16) + "," + dense(8) + "]",
                   R"(,"output":{"inputs":[0,2],"settings":{"merge":"concat"}})"));
  CHECK(skip.edges.size() == 4);
  CHECK(to_text(canonical_hash(skip)) != to_text(canonical_hash(chain)));
}

TEST_CASE("desk: what the space does not allow is said in a sentence") {
  desk_at_work d;
  const auto with = [&](const std::string& layers, const std::string& more = "") {
    return d.error(line_of(layers, more));
  };
  CHECK(with(R"([{"op":"conv"}])") == "layers[0]: the space has no operator \"conv\"");
  CHECK(with(R"([{"op":"dropout","settings":{"rate":0.9}}])").find("rate cannot be 0.9")
        != std::string::npos);
  CHECK(with(R"([{"op":"dropout","settings":{"rate":[0.1]}}])")
        == "layers[0].settings.rate must be a number or a text");
  CHECK(with(R"([{"op":"dropout"}])").find("rate is missing") != std::string::npos);
  CHECK(with("[" + dense(8) + "]", R"(,"output":{"inputs":[2]})")
        == "output.inputs must be from 0, the input, to 1, the layer before");
  CHECK(with("[" + dense(8) + "]", R"(,"output":{"inputs":[1,1]})")
        == "output.inputs names a layer twice");
  CHECK(with("[1]") == "layers[0] must be an object with an \"op\", {\"op\": \"conv\"}");
  std::string many = dense(8);
  for (int i = 0; i < 8; ++i)
    many += "," + dense(8);
  CHECK(with("[" + many + "]") == "layers: there are 9, and limits.max_nodes is 8");
  CHECK(d.error(R"({"layers":[],"hyperparameters":{"optimiser":"adam"}})")
        == "hyperparameters: learning_rate is missing");
  CHECK(d.error(R"({"layers":[],"hyperparameters":3})")
        == "hyperparameters must be an object, {\"name\": value}");
  CHECK(d.trained.empty());
}

TEST_CASE(
    "desk: an evaluation has its id, its time and its network, and equals are copied") {
  desk_at_work d;
  const auto first = d.ask(line_of("[" + dense(32) + "]", R"(,"id":7)"));
  CHECK(first["id"] == 7);
  CHECK(first["outcome"] == "succeeded");
  CHECK(first["metrics"]["validation.accuracy"] == 0.32);
  CHECK(first["processor_seconds"] == 1);
  CHECK(first["equal_to"].is_null());
  const auto second = d.ask(line_of("[" + dense(32) + "]"));
  CHECK(second["id"] == 8);
  CHECK(second["equal_to"] == 7);
  CHECK(second["processor_seconds"] == 0);
  CHECK(second["network"] == first["network"]);
  CHECK(d.ask(line_of("[" + dense(32) + "]", R"(,"epochs":4)"))["equal_to"].is_null());
  CHECK(d.trained == std::vector<candidate_id>{7, 9});
  CHECK(d.error(line_of("[" + dense(8) + "]", R"(,"id":7)"))
        == "id 7 was evaluated before; leave it out for the next free one");
  const auto failed = d.ask(line_of("[" + dense(16) + "]", R"(,"epochs":3)"));
  CHECK(failed["outcome"] == "diverged");
  CHECK(failed["reason"] == "loss is NaN");
  CHECK(d.error(R"({"test":)" + failed["id"].dump() + "}")
        == "10 diverged: there is nothing to test");
}

TEST_CASE("desk: the best are tested with their weights, others trained again") {
  desk_at_work d;
  for (const int units : {8, 16, 32, 64})
    for (const int epochs : {1, 2})
      (void)d.ask(
          line_of("[" + dense(units) + "]", ",\"epochs\":" + std::to_string(epochs)));
  CHECK(d.ask(R"({"test":1})")["metrics"]["test.accuracy"] == 0.25);
  CHECK(d.ask(R"({"test":8})")["id"] == 8);
  (void)d.ask(R"({"test":3})");
  CHECK(d.examined == std::vector<candidate_id>{1});
  CHECK(d.weighed == std::vector<candidate_id>{8, 3});
  CHECK(d.error(R"({"test":99})")
        == "test must be the id of an evaluation, such as {\"test\": 7}");
}

TEST_CASE("desk: it describes the space, the objective and the epochs") {
  desk_at_work d;
  const auto said = d.ask(R"({"describe":true})");
  CHECK(said["epochs"] == 9);
  CHECK(said["objective"]["metric"] == "validation.accuracy");
  const auto& space = said["space"];
  CHECK(space["limits"]["max_nodes"] == 8);
  CHECK(space["operators"][0]["name"] == "dense");
  CHECK(space["operators"][0]["settings"][0].dump()
        == R"({"name":"units","type":"choice","options":[8,16,32,64],"ordered":true})");
  CHECK(space["hyperparameters"][1].dump()
        == R"({"name":"momentum","type":"real","low":0.5,"high":0.99,"log":false,)"
           R"("when":{"parameter":"optimiser","values":["sgd"]}})");
  CHECK(space["hyperparameters"][4].dump()
        == R"({"name":"warm_up","type":"whole","low":0,"high":10,"step":2,"log":false})");
}

TEST_CASE("desk: lines that are no question are answered by an error, in JSON") {
  desk_at_work d;
  for (const char* line :
       {"", "{", "[]", "null", "7", "\"x\"", "\xff\xfe", "{\"a\":1", "{}x"})
    CHECK(d.error(line).starts_with("the line is not one JSON object"));
  CHECK(d.error(std::string(evaluation_server::max_line_bytes + 1, ' '))
        == "the line has more than 1048576 bytes");
  CHECK(d.error(std::string(100'000, '[')).starts_with("the line is not one"));
  CHECK(d.error(R"({"layers":[],"id":0})")
        == "id must be a whole number from 1 to 9007199254740992");
  CHECK(d.error(R"({"test":-1})")
        == "test must be a whole number from 1 to 9007199254740992");
  CHECK(d.error(R"({"layers":[],"epochs":1.5})")
        == "epochs must be a whole number from 1 to 1000000");
  CHECK(d.error("{}") == "hyperparameters: optimiser is missing");
}

TEST_CASE("desk: what nobody would read is refused with the nearest name") {
  desk_at_work d;
  CHECK(d.error(line_of("[" + dense(8) + "]", R"(,"epoch":3)"))
        == "the line has an unknown key \"epoch\"; did you mean \"epochs\"?");
  CHECK(d.error(R"({"layers":[{"op":"dense","setings":{"units":8}}]})")
        == "layers[0] has an unknown key \"setings\"; did you mean \"settings\"?");
  CHECK(d.error(R"({"layers":[],"output":{"input":[0]}})")
        == "output has an unknown key \"input\"; did you mean \"inputs\"?");
  CHECK(d.error(R"({"test":1,"epochs":3})")
        == "{\"test\": ID} is asked alone, without \"epochs\"");
  CHECK(d.error("{\"" + std::string(100'000, 'x') + "\":1}").size() < 300);
  CHECK(d.error(R"({"describe":1})") == "describe must be true or false");
  CHECK(d.error(R"({"describe":false})") == "hyperparameters: optimiser is missing");
  CHECK(d.ask(line_of("[" + dense(8) + "]", R"(,"describe":false)"))["id"] == 1);
}

TEST_CASE("desk: every random chain of the space is read back as the same network") {
  rc::prop("a chain's text says all that decides it", [](std::uint64_t seed) {
    auto space = small_space();
    space.rules.max_skips = 0;
    auto random = derive(seed, purpose::sample, 0, 0);
    const auto sampled = sample(space, small_problem(), random);
    RC_ASSERT(sampled.has_value());
    const auto& g = sampled->child;
    json layers = json::array();
    const auto settings = [](const std::vector<setting>& some) {
      json out = json::object();
      for (const auto& s : some)
        out[s.name] = std::visit([](const auto& v) { return json(v); }, s.value);
      return out;
    };
    for (const auto id : topological_order(g))
      if (id != input_innovation && id != output_innovation)
        layers.push_back({{"op", find_node(g, id)->op},
                          {"settings", settings(find_node(g, id)->settings)}});
    const auto back = genome_from_json(
        {{"layers", layers}, {"hyperparameters", settings(g.hyperparameters)}}, space,
        small_problem());
    RC_ASSERT(back.has_value());
    RC_ASSERT(canonical_hash(*back) == canonical_hash(g));
  });
}

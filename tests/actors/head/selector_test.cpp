#include "tests/actors/head/selector_fixture.hpp"

using namespace clade;
using namespace clade::test;

TEST_CASE("selector: candidates are handed out only when the disk has their birth") {
  selector_fixture f(true);
  CHECK(f.count<candidate_born>() == 4);
  CHECK(f.nodes->candidates.empty());
  f.let_write();
  CHECK(f.nodes->candidates.size() == 4);
}

TEST_CASE(
    "selector: a generation begins only when the disk has all evaluations of the last") {
  selector_fixture f(true);
  f.let_write();
  f.evaluate_all();
  CHECK(f.count<candidate_born>() == 4);
  CHECK(f.count<generation_closed>() == 0);
  f.let_write(); // The first evaluation; the others came meanwhile and share the next
                 // append.
  CHECK(f.count<candidate_evaluated>() == 4);
  CHECK(f.count<generation_closed>() == 0);
  f.let_write();
  CHECK(f.count<generation_closed>() == 1);
  CHECK(f.count<candidate_born>() == 4);
  f.let_write();
  CHECK(f.count<candidate_born>() > 4);
}

TEST_CASE("selector: a run ends with its champion examined and recorded") {
  selector_fixture f;
  f.evaluate_all();
  f.evaluate_all();
  REQUIRE(f.over());
  REQUIRE(f.count<run_finished>() == 1);
  const auto& last = std::get<run_finished>(f.drive->written.back());
  CHECK(last.champion == 1);
  CHECK(f.progress().finished.has_value());
  // Champion and linear model; the best random candidate is the champion itself.
  CHECK(f.nodes->tests == 2);
  CHECK(last.examinations.size() == 2);
}

TEST_CASE("selector: the champion's weights are on the disk when the run ends") {
  selector_fixture f;
  // Each is fitter than all before it.
  for (int generation = 0; generation < 2; ++generation)
    for (const auto& c : std::exchange(f.nodes->candidates, {}))
      f.evaluate(c.id, static_cast<double>(c.id) / 100, "weights");
  REQUIRE(f.over());
  const auto champion = std::get<run_finished>(f.drive->written.back()).champion;
  CHECK(f.drive->weights.contains(champion));
  CHECK(f.drive->weights.size() < f.count<candidate_evaluated>());
}

TEST_CASE(
    "selector: a disk that fails ends the run at once with nothing more handed out") {
  selector_fixture f(true);
  f.drive->fails = error{error_kind::io, "disk full"};
  f.let_write();
  CHECK(f.over());
  CHECK(f.progress().failure == error{error_kind::io, "disk full"});
  CHECK(f.nodes->candidates.empty());
}

TEST_CASE("selector: told to stop it records what is in training and pauses") {
  selector_fixture f;
  REQUIRE(f.nodes->candidates.size() == 4);
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"interrupted"});
  f.system.settle();
  CHECK_FALSE(f.over());
  f.evaluate(1, 0.5);
  CHECK(f.over());
  CHECK(f.count<candidate_evaluated>() == 1);
  REQUIRE(std::holds_alternative<run_paused>(f.drive->written.back()));
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "interrupted");
}

TEST_CASE("selector: told to leave it does not wait for what is handed back") {
  selector_fixture f;
  f.nodes->takes_back = {2, 3};
  caf::anon_send(f.selector, stop_run{.reason = "SIGTERM", .hands_back = true});
  f.system.settle();
  caf::anon_send(f.selector, withdrawn{{4}});
  f.system.settle();
  CHECK_FALSE(f.over());
  caf::anon_send(f.selector, withdrawn{{1}});
  f.system.settle();
  REQUIRE(f.over());
  CHECK(f.count<candidate_evaluated>() == 0);
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "SIGTERM");
}

TEST_CASE("selector: a search that is complete ends though its time is used") {
  selector_fixture f;
  f.evaluate_all();
  auto rest = std::exchange(f.nodes->candidates, {});
  REQUIRE_FALSE(rest.empty());
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  for (const auto& c : rest)
    f.evaluate(c.id, 0.01);
  CHECK(f.over());
  CHECK(f.count<run_finished>() == 1);
  CHECK(f.count<run_paused>() == 0);
  CHECK(f.nodes->tests > 0);
}

TEST_CASE("selector: a search that is not complete pauses when its time is used") {
  selector_fixture f;
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  CHECK_FALSE(f.over());
  f.evaluate(1, 0.5);
  REQUIRE(f.over());
  CHECK(f.nodes->tests == 0);
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "wall time used");
}

TEST_CASE("selector: an interrupt pauses a search that was to end") {
  selector_fixture f;
  f.nodes->takes_back = {2, 3, 4};
  caf::anon_send(f.selector, stop_run{"wall time used", true});
  f.system.settle();
  caf::anon_send(f.selector, stop_run{"interrupted"});
  f.system.settle();
  f.evaluate(1, 0.5);
  REQUIRE(f.over());
  CHECK(std::get<run_paused>(f.drive->written.back()).reason == "interrupted");
}

TEST_CASE("selector: a search in which all fail alike pauses with the reason") {
  selector_fixture f(false, {}, 10);
  for (const auto& c : std::exchange(f.nodes->candidates, {}))
    f.crash(c.id, "no folder for #" + std::to_string(c.id));
  REQUIRE(f.over());
  CHECK(f.count<generation_closed>() == 1);
  CHECK(f.nodes->candidates.empty());
  REQUIRE(std::holds_alternative<run_paused>(f.drive->written.back()));
  CHECK(std::get<run_paused>(f.drive->written.back()).reason
        == "all 10 failed alike: crashed: no folder for #1");
  CHECK(f.progress().failures == "all 10 failed alike: crashed: no folder for #1");
}

TEST_CASE("selector: a search in which candidates fail for many reasons goes on") {
  selector_fixture f(false, {}, 10);
  for (const auto& c : std::exchange(f.nodes->candidates, {}))
    f.crash(c.id, c.id == 7 ? "another reason" : "no such folder");
  CHECK_FALSE(f.over());
  CHECK(f.progress().failures == "9 of 10 failed so: crashed: no such folder");
}

namespace {

std::string tell(selector_fixture& f, instruction order) {
  std::string answer = "no answer";
  caf::scoped_actor self(*f.system);
  auto asked = self->request(f.selector, caf::infinite, told{std::move(order), "ada"});
  f.system.settle();
  asked.receive([&](const std::string& a) { answer = a; }, [](caf::error&) {});
  return answer;
}

} // namespace

TEST_CASE("selector: what a person orders is recorded before it is done") {
  selector_fixture f(true);
  f.let_write(); // The births.
  REQUIRE(f.drive->waiting == 0);
  CHECK(tell(f, {.kind = instruction_kind::hold}).empty());
  CHECK_FALSE(f.nodes->held);
  f.let_write();
  CHECK(f.nodes->held);
  REQUIRE(f.count<operator_command>() == 1);
  CHECK(tell(f, {.kind = instruction_kind::hold}) == "the run is held already");
  CHECK(tell(f, {.kind = instruction_kind::go_on}).empty());
  f.let_write();
  CHECK_FALSE(f.nodes->held);
  CHECK(tell(f, {.kind = instruction_kind::go_on}) == "the run is not held");
}

TEST_CASE(
    "selector: notes and tags are recorded while it stops, and refused at the end") {
  selector_fixture f;
  const auto tag = [](candidate_id id, const char* text) {
    return instruction{.kind = instruction_kind::tag, .number = id, .text = text};
  };
  CHECK(tell(f, tag(1, "good")).empty());
  CHECK(tell(f, tag(1, "good")) == "#1 has the tag good already");
  CHECK(tell(f, tag(99, "good")) == "there is no candidate #99");
  CHECK(tell(f, {.kind = instruction_kind::stop_after}).empty());
  CHECK(tell(f, {.kind = instruction_kind::note, .number = 0, .text = "slow"}).empty());
  CHECK(f.count<operator_command>() == 3);
  for (candidate_id id = 1; id <= 4; ++id)
    f.evaluate(id, 0.1 * static_cast<double>(id));
  REQUIRE(f.over());
  CHECK(tell(f, tag(2, "good")) == "the run is at its end");
}

TEST_CASE("selector: only an open candidate is dropped") {
  selector_fixture f;
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 2}).empty());
  CHECK(f.nodes->dropped == std::vector<candidate_id>{2});
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 77}) == "#77 is not open");
  f.evaluate(1, 0.5);
  CHECK(tell(f, {.kind = instruction_kind::drop, .number = 1}) == "#1 is not open");
}

TEST_CASE("selector: told to stop after the generation it pauses when that is closed") {
  selector_fixture f;
  CHECK(tell(f, {.kind = instruction_kind::stop_after}).empty());
  for (candidate_id id = 1; id <= 4; ++id) {
    CHECK_FALSE(f.over());
    f.evaluate(id, 0.1 * static_cast<double>(id));
  }
  CHECK(f.over());
  CHECK(f.count<generation_closed>() == 1);
  CHECK(std::get<run_paused>(f.drive->written.back()).reason
        == "stopped by ada after generation 0");
  CHECK(tell(f, {.kind = instruction_kind::stop}) == "the run is at its end");
}

TEST_CASE("selector: slots that cannot be are refused and not recorded") {
  selector_fixture f;
  CHECK(tell(f, {.kind = instruction_kind::slots, .text = "cpu:3"})
        == "nobody can look at it");
  CHECK(f.count<operator_command>() == 0);
}

TEST_CASE("selector: a search whose candidates all fail ends without a champion") {
  selector_fixture f;
  for (int generation = 0; generation < 2; ++generation)
    for (const auto& c : std::exchange(f.nodes->candidates, {})) {
      evaluations message;
      message.batch.push_back({evaluation{.id = c.id, .outcome = outcome::diverged}, {}});
      caf::anon_send(f.selector, message);
      f.system.settle();
    }
  REQUIRE(f.over());
  CHECK(std::get<run_finished>(f.drive->written.back()).champion == 0);
  CHECK(f.nodes->tests == 0);
}

TEST_CASE("selector: after the search the best are trained to the end, as one model") {
  selector_fixture f(false, {.model = "ensemble", .members = 2, .folds = 2});
  f.evaluate_all();
  f.evaluate_all();
  REQUIRE(f.count<final_planned>() == 1);
  CHECK_FALSE(f.over());
  REQUIRE(f.nodes->candidates.size() == 4);
  CHECK(f.nodes->candidates[1].fold == data_fold{1, 2});
  CHECK(f.progress().plan_open == 4);
  f.evaluate_all();
  REQUIRE(f.over());
  CHECK(f.count<model_composed>() == 1);
  const auto& last = std::get<run_finished>(f.drive->written.back());
  CHECK(std::ranges::count(last.examinations, "final model", &examination::subject) == 1);
  // A run that is recorded can be folded by whoever reads it.
  CHECK(f.progress().finished.has_value());
}

namespace {

std::vector<model_composed> interims_in(const std::vector<record>& written) {
  std::vector<model_composed> all;
  for (const auto& r : written)
    if (const auto* interim = std::get_if<interim_composed>(&r))
      all.push_back(interim->model);
  return all;
}

} // namespace

TEST_CASE("selector: there is a model to use from the first success on") {
  selector_fixture f(false, {.model = "ensemble", .members = 2, .folds = 2});
  CHECK(f.nodes->interims.empty());
  f.evaluate_all();
  CHECK(f.nodes->interims == std::vector<std::size_t>{1, 4});
  REQUIRE(interims_in(f.drive->written).size() == 2);
  CHECK(interims_in(f.drive->written).front().members.front().id == 1);
  f.evaluate_all();
  CHECK(f.nodes->interims.size() == 3);
  f.evaluate_all();
  REQUIRE(f.over());
  CHECK(f.count<model_composed>() == 1);
  CHECK(interims_in(f.drive->written).size() == f.nodes->interims.size());
}

TEST_CASE("selector: a run that ends with one network needs no interim model") {
  selector_fixture f;
  f.evaluate_all();
  f.evaluate_all();
  REQUIRE(f.over());
  CHECK(f.nodes->interims.empty());
}

TEST_CASE("selector: an interim model that fails leaves the one before, and says why") {
  selector_fixture f(false, {.model = "ensemble", .members = 2, .folds = 2});
  f.evaluate_all();
  f.nodes->refuses_interims = true;
  f.evaluate_all();
  const auto all = interims_in(f.drive->written);
  REQUIRE(all.size() == 3);
  CHECK(all.back().members == all.at(1).members);
  CHECK(all.back().left_out == std::vector<std::string>{"a node process ended"});
  f.evaluate_all();
  CHECK(f.over());
}

TEST_CASE("selector: the final model waits for an interim one that is under way") {
  selector_fixture f(false, {.model = "ensemble", .members = 2, .folds = 2});
  f.nodes->holds_interims = true;
  f.evaluate_all();
  REQUIRE(f.nodes->interims.size() == 1);
  f.evaluate_all();
  f.evaluate_all();
  CHECK(f.nodes->interims.size() == 1); // One at a time.
  CHECK(f.nodes->compositions.empty());
  CHECK_FALSE(f.over());
  caf::anon_send(f.dispatcher, tick{});
  f.system.settle();
  CHECK(f.nodes->compositions.size() == 1);
  REQUIRE(f.over());
  CHECK(f.count<model_composed>() == 1);
}

TEST_CASE("selector: what cannot be put together is put together from fewer models") {
  // In the last resort from the champion alone, without anybody's help.
  const std::size_t too_many = GENERATE(5, 2, 1);
  selector_fixture f(false, {.model = "ensemble", .members = 2, .folds = 1});
  f.nodes->too_many = too_many;
  f.evaluate_all();
  f.evaluate_all();
  f.evaluate_all();
  REQUIRE(f.over());
  REQUIRE(f.count<model_composed>() == 1);
  const auto composed = std::ranges::find_if(f.drive->written, [](const record& r) {
    return std::holds_alternative<model_composed>(r);
  });
  const auto& model = std::get<model_composed>(*composed);
  const auto& last = std::get<run_finished>(f.drive->written.back());
  REQUIRE(!model.members.empty());
  CHECK(model.members.size() < 5);
  CHECK(model.members.front().id == last.champion);
  CHECK(std::ranges::count(last.examinations, "final model", &examination::subject) == 1);
  CHECK(f.nodes->compositions.front() >= 5);
  CHECK(std::ranges::is_sorted(f.nodes->compositions, std::greater()));
  CHECK_FALSE(model.left_out.empty());
  if (too_many == 1) {
    CHECK(model.members.size() == 1);
    CHECK(model.left_out.front()
          == "all models but the champion: they could not be put together: two node "
             "processes ended");
  }
}

TEST_CASE("selector: a search whose time is used drops what is open and ends") {
  selector_fixture f(false, {.model = "ensemble", .members = 1});
  f.evaluate(1, 0.5);
  caf::anon_send(f.selector, end_search{"the clock"});
  f.system.settle();
  REQUIRE(f.count<final_planned>() == 1);
  CHECK(f.nodes->dropped == std::vector<candidate_id>{2, 3, 4});
  CHECK(f.nodes->candidates.back().id == 5);
  evaluations message;
  for (const candidate_id id : {2, 3, 4})
    message.batch.push_back({{.id = id, .outcome = outcome::dropped}, {}});
  caf::anon_send(f.selector, message);
  f.system.settle();
  CHECK_FALSE(f.over());
  // It is told once more when the time is nearly used: what was planned is dropped too.
  caf::anon_send(f.selector, end_search{"the clock", true});
  f.system.settle();
  CHECK(f.nodes->dropped.back() == 5);
  f.evaluate(5, 0.6);
  CHECK(f.over());
  CHECK(f.count<candidate_born>() == 5);
}

TEST_CASE("selector: without [final] the end of the search is nobody's to say") {
  selector_fixture f;
  caf::anon_send(f.selector, end_search{"the clock"});
  f.system.settle();
  CHECK(f.count<final_planned>() == 0);
  CHECK(f.nodes->dropped.empty());
}

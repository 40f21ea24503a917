#include "tests/tools/machine/made_up_machine.hpp"
#include "tools/machine/slots.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

/// "cuda:0 cores 0-1 memory 400; ..."
std::string to_text(const std::vector<slot>& slots) {
  std::string text;
  for (const auto& s : slots)
    text += (text.empty() ? "" : "; ") + s.name + " cores "
            + (s.cores.empty() ? "any" : cores_text(s.cores)) + " memory "
            + std::to_string(s.memory_bytes);
  return text;
}

std::string slots_of(const std::string& text, const machine& m) {
  const auto slots = parse_slots(text, m);
  return slots ? to_text(*slots) : slots.error().message;
}

} // namespace

TEST_CASE("slots: auto is one for each GPU, and none on cores beside them") {
  CHECK(slots_of("auto", a_machine(2, 4))
        == "cuda:0 cores 0-1 memory 800; cuda:1 cores 2-3 memory 800");
}

TEST_CASE("slots: auto without GPUs is one for each core that there is time for") {
  auto m = a_machine(0, 3);
  CHECK(
      slots_of("auto", m)
      == "cpu:0 cores 0 memory 400; cpu:1 cores 1 memory 400; cpu:2 cores 2 memory 400");
  m.core_quota = 1.5;
  CHECK(slots_of("auto", m) == "cpu:0 cores 0-2 memory 1200");
}

TEST_CASE("slots: several share a card and its memory when asked for") {
  CHECK(slots_of("cuda:0*2", a_machine(2, 2))
        == "cuda:0/0 cores 0 memory 400; cuda:0/1 cores 1 memory 400");
  CHECK(slots_of("cuda*2", a_machine(2, 1))
        == "cuda:0/0 cores any memory 400; cuda:0/1 cores any memory 400; "
           "cuda:1/0 cores any memory 400; cuda:1/1 cores any memory 400");
  CHECK(slots_of("cuda:1*1", a_machine(2, 1)) == "cuda:1 cores 0 memory 800");
}

TEST_CASE("slots: parts are added up") {
  CHECK(slots_of("cpu:1,cuda:1,1", a_machine(2, 7))
        == "cuda:1 cores 0-1 memory 800; cpu:0 cores 2-3 memory 600; "
           "cpu:1 cores 4-6 memory 600");
}

TEST_CASE("slots: more than there are cores are not bound to any") {
  CHECK(slots_of("3", a_machine(0, 2))
        == "cpu:0 cores any memory 400; cpu:1 cores any memory 400; "
           "cpu:2 cores any memory 400");
}

TEST_CASE("slots: none is an empty list, and nothing else is") {
  CHECK(parse_slots("none", a_machine(2, 2)) == std::vector<slot>{});
  CHECK_FALSE(parse_slots("", a_machine(2, 2)));
  CHECK_FALSE(parse_slots("0", a_machine(2, 2)));
  CHECK_FALSE(parse_slots("none,1", a_machine(2, 2)));
}

TEST_CASE("slots: a process sees its own card only, by UUID, and has one thread") {
  const auto gpu = parse_slots("cuda:1", a_machine(2, 2));
  REQUIRE(gpu);
  CHECK(gpu->at(0).device == "cuda:0");
  CHECK(gpu->at(0).label == "NVIDIA H200 GPU-1932f937");
  CHECK(gpu->at(0).environment
        == std::vector<std::string>{"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                                    "ONEDNN_PRIMITIVE_CACHE_CAPACITY=200",
                                    "CUDA_VISIBLE_DEVICES=" + a_gpu(1).uuid});
  const auto core = parse_slots("1", a_machine(2, 2));
  REQUIRE(core);
  CHECK(core->at(0).device == "cpu");
  CHECK(core->at(0).label.empty());
  CHECK(core->at(0).environment.back() == "CUDA_VISIBLE_DEVICES=");
}

TEST_CASE("slots: what does not exist is named, and what does") {
  CHECK(slots_of("cuda:3", a_machine(2, 1))
        == "slots \"cuda:3\": this machine has cuda:0 and cuda:1");
  CHECK(slots_of("cuda:1,2", a_machine(1, 1))
        == "slots \"cuda:1,2\": this machine has cuda:0 only");
  CHECK(slots_of("cuda:9*2", a_machine(8, 1))
        == "slots \"cuda:9*2\": this machine has cuda:0 to cuda:7");
  for (const char* text : {"cuda", "cuda:0", "cuda*2"})
    CHECK(slots_of(text, a_machine(0, 1))
          == "slots \"" + std::string(text) + "\": this machine has no GPU");
  auto hidden = a_machine(0, 1);
  hidden.hidden_gpus = 4;
  CHECK(slots_of("cuda:0", hidden)
        == "slots \"cuda:0\": CUDA_VISIBLE_DEVICES leaves none of this machine's 4 GPUs");
  CHECK(parse_slots("cuda:3", a_machine(2, 1)).error().kind == error_kind::invalid_input);
}

TEST_CASE("slots: a card that is named twice is refused") {
  for (const std::string text : {"cuda:0,cuda:0", "cuda,cuda:0", "cuda:0,cuda"})
    CHECK(slots_of(text, a_machine(1, 1))
          == "slots \"" + text
                 + "\": cuda:0 is named twice; cuda:0*2 is two slots on it");
}

TEST_CASE("slots: GPUs that nobody can ask for stop only those who want them") {
  auto m = a_machine(0, 1);
  m.gpu_trouble = "libnvidia-ml.so.1: nvmlInit_v2: Driver Not Loaded";
  CHECK(slots_of("1", m) == "cpu:0 cores 0 memory 1200");
  CHECK(slots_of("cuda:0", m) == "slots \"cuda:0\": " + m.gpu_trouble);
  CHECK(slots_of("auto", m)
        == "slots \"auto\": " + m.gpu_trouble + "; slots \"cpu:N\" do without GPUs");
  CHECK(parse_slots("auto", m).error().kind == error_kind::io);
}

TEST_CASE("slots: what is not written as it should be is refused with how to") {
  for (const std::string text : {"", "gpu", "cuda:", "cuda:x", "cuda:0*", "cuda:0*0",
                                 "cuda*", "cudax", "cpu:", "cpu:0", "cpu:2*2", "-1", "1,",
                                 ",1", "cuda:0,,1", "auto,1", "99999999999"})
    CHECK(slots_of(text, a_machine(2, 2))
          == "slots \"" + text
                 + "\": write auto, none, a number of CPU slots, cpu:N, or GPUs such as "
                   "cuda, cuda:0,cuda:1 or cuda:0*2");
  CHECK(slots_of("1000,1000", a_machine(0, 1))
        == "slots \"1000,1000\": more than 1024 slots");
}

TEST_CASE("slots: of any demand, each has its name, its cores and its share of memory") {
  CHECK(rc::check("what is shared is divided and never exceeded", [] {
    const auto gpus = *rc::gen::inRange(0U, 5U), cores = *rc::gen::inRange(1U, 20U),
               each = *rc::gen::inRange(1U, 4U), on_cores = *rc::gen::inRange(1U, 9U);
    const auto m = a_machine(gpus, cores);
    const auto slots = parse_slots((gpus > 0 ? "cuda*" + std::to_string(each) + "," : "")
                                       + std::to_string(on_cores),
                                   m);
    RC_ASSERT(slots.has_value());
    RC_ASSERT(slots->size() == std::size_t{gpus} * each + on_cores);
    std::set<std::string> names;
    std::vector<unsigned> bound;
    std::uint64_t memory = 0;
    for (const auto& s : *slots) {
      RC_ASSERT(names.insert(s.name).second);
      RC_ASSERT(s.cores.empty() == (slots->size() > cores));
      bound.insert(bound.end(), s.cores.begin(), s.cores.end());
      memory += s.device == "cpu" ? s.memory_bytes : 0;
    }
    RC_ASSERT(bound.empty() || bound == m.cores);
    RC_ASSERT(memory <= m.memory_free);
  }));
}

TEST_CASE("slots: no text brings the reader down") {
  CHECK(rc::check("it is a list or a sentence", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element(
        'c', 'u', 'd', 'a', 'p', ':', '*', ',', '0', '1', '2', '9', '-', ' '));
    const auto slots = parse_slots(text, a_machine(2, 2));
    if (slots)
      RC_ASSERT(!slots->empty());
    else
      RC_ASSERT(slots.error().message.starts_with("slots \"" + text + "\": "));
  }));
}

TEST_CASE("slots: a node process is told what its slot is") {
  const slot s{.name = "cuda:1/0",
               .device = "cuda:0",
               .environment = {"A=1"},
               .cores = {2, 3},
               .memory_bytes = 400,
               .label = "NVIDIA H200 GPU-1932f937"};
  const auto process = node_process(
      {.program = "/bin/clade", .connect = "h:1", .keys = "/k", .worker = 7}, s);
  CHECK(process.command
        == std::vector<std::string>{
            "/bin/clade", "node",   "--connect", "h:1",
            "--keys",     "/k",     "--slot",    "cuda:1/0",
            "--device",   "cuda:0", "--memory",  "400",
            "--worker",   "7",      "--grace",   "30000",
            "--give-up",  "600000", "--label",   "NVIDIA H200 GPU-1932f937"});
  CHECK(process.environment == s.environment);
  CHECK(process.cores == s.cores);
}

TEST_CASE("slots: more trainings than cores are told, and far too many refused") {
  const auto said = [](const std::string& text, const machine& m) {
    const auto crowd = crowding(*parse_slots(text, m), m);
    return crowd ? *crowd : crowd.error().message;
  };
  CHECK(said("2", a_machine(0, 2)).empty());
  CHECK(said("3", a_machine(0, 2))
        == "3 CPU slots on 2 cores: each training is slowed down, and the search gains "
           "nothing by more than 2");
  CHECK(
      said("99", a_machine(0, 2))
      == "99 CPU slots on 2 cores: none of the trainings would get on; write at most 8, "
         "such as --slots 2, which is fastest");
  CHECK(crowding(*parse_slots("8", a_machine(0, 2)), a_machine(0, 2)));
  CHECK(said("cuda*9", a_machine(2, 1)).empty());
}

// Writes the inputs that fuzzers start from: a few of each kind, small, valid or nearly.
// usage: fuzz_corpus FOLDER      writes FOLDER/corpus/NAME/*
#include "actors/transport/team/team_hello.hpp"
#include "engine/config/experiment/experiment.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "engine/export/model/model_file.hpp"
#include "engine/export/source/safetensors.hpp"
#include "engine/queue/queue_event.hpp"
#include "engine/telemetry/picture/wire.hpp"
#include "engine/training/weights/loop_position.hpp"
#include "genome/base/whole_file.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/fuzz/messages.hpp"
#include "tests/fuzz/small_history.hpp"
#include "tests/support/models.hpp"
#include "tests/support/scratch.hpp"

#include <cstdio>

using namespace clade;

namespace {

std::filesystem::path corpus;

void write(const std::string& fuzzer, const std::string& name, const std::string& input) {
  std::filesystem::create_directories(corpus / fuzzer);
  write_text(corpus / fuzzer / name, input);
}

template<class T>
T must(expected<T> made) {
  if (made)
    return std::move(*made);
  std::fprintf(stderr, "%s\n", made.error().message.c_str());
  std::exit(1);
}

std::filesystem::path in_repository(const std::string& file) {
  return std::filesystem::path(CLADE_ROOT) / file;
}

void write_images() {
  const auto folder = in_repository("tests/engine/data/images");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    write("image", entry.path().filename().string(),
          must(read_whole_file(entry.path(), {.most_bytes = 1 << 20})));
}

void write_genomes() {
  write("genome", "small", encode(test::a_genome()));
  for (const char* name : {"image", "mlp"}) {
    const auto space = must(
        load_search_space(in_repository("search_spaces/" + std::string(name) + ".toml")));
    const problem p{.input = space.input == layout::image ? tensor_shape{{3, 8, 8}}
                                                          : tensor_shape{{16}},
                    .outputs = 4};
    for (std::uint64_t i = 0; i < 3; ++i) {
      auto random = derive(1, purpose::sample, 0, i);
      genome g = must(sample(space, p, random)).child;
      for (int step = 0; step < 4; ++step)
        g = mutate(space, p, g, {}, random).child;
      write("genome", name + std::to_string(i), encode(g));
    }
  }
  genome recurrent = test::a_genome();
  recurrent.edges.push_back({.id = innovation{77},
                             .from = output_innovation,
                             .to = innovation{2},
                             .delay = 3,
                             .weight = -0.5});
  write("genome", "recurrent", encode(test::sorted(recurrent)));
}

void write_queue_events() {
  const std::vector<queue_event> events{
      entry_submitted{.id = 4,
                      .what = {.user = "ann",
                               .kind = entry_kind::run,
                               .words = {"x.toml"},
                               .directory = "/",
                               .priority = 2,
                               .after = {1}}},
      entry_started{.id = 1, .slots = {"cpu:1"}},
      entry_stopping{.id = 2, .cause = stop_cause::preempted, .who = "#1"},
      entry_ended{.id = 2, .state = entry_state::failed, .reason = "lost"},
      entry_lost{.id = 2}};
  for (const auto& e : events)
    write("queue_event", std::to_string(kind_of(e)), encode(e));
}

void write_records() {
  std::array<int, std::variant_size_v<record>> seen{};
  for (const entry& e : fuzz::small_history())
    if (const auto kind = e.record.index(); ++seen[kind] <= 2)
      write("record", std::to_string(kind + 1) + "-" + std::to_string(seen[kind]),
            encode(e.record));
  write("record", "10-1",
        encode(run_forked{.origin = "x-20260131-140500",
                          .identity = 9,
                          .sequence = 14,
                          .generation = 1,
                          .changes = {"experiment.seed=8"},
                          .experiment = "[experiment]\nname = \"y\"\n",
                          .seed = 8,
                          .search = {3, 4}}));
}

void write_loop_position() {
  const std::vector<weight_tensor> one{
      {.name = "n2.weight", .shape = {2}, .values = {1, 2}}};
  const training_position training{.key = 7,
                                   .epochs = 2,
                                   .weights = one,
                                   .best = {{"validation.loss", 0.5}},
                                   .lowest_loss = 0.5,
                                   .since_lowest = 1,
                                   .optimiser = "adam",
                                   .steps = 9,
                                   .moments = one,
                                   .average = one,
                                   .generators = {"g"}};
  write("loop_position", "whole",
        encode(loop_position{
            .training = training,
            .best = one,
            .epoch = 3,
            .next_batch = 4,
            .assessed = true,
            .total_loss = 1,
            .train_loss = 0.7,
            .curve = {{.number = 1, .metrics = {{"train.loss", 0.7}}, .seconds = 0.1}}}));
}

void write_weights() {
  const std::vector<weight_tensor> two{
      {.name = "n2.weight", .shape = {2, 3}, .values = {1, 2, 3, -4, 0.5F, 0}},
      {.name = "n2.bias", .shape = {0}, .values = {}}};
  write("weights", "whole", '\0' + encode_weights(two));
  encoder body;
  body.array(1).array(4).text("w").text("float32").array(1).integer(1);
  body.binary(std::string("\0\0\x80\x3f", 4));
  write("weights", "wrapped", '\1' + body.take());
}

// The first byte is what model_fuzz.cpp takes the rest for.
void write_models() {
  auto m = test::a_tiny_model();
  write("model", "whole", '\0' + encode_safetensors(m));
  write("model", "sealed", '\1' + encode_safetensors(m));
  write("model", "origin", '\2' + encode_origin(m));
  m.how.task = regression;
  m.how.columns.clear();
  m.how.width = 3;
  write("model", "numbers", '\1' + encode_safetensors(m));
  write("model", "other", '\2' + encode_origin(m));
}

void write_text_formats() {
  for (const char* name :
       {"image", "mlp", "hyperparameters", "cells", "nas201", "grammar"})
    write("search_space", name,
          read_text(in_repository("search_spaces/" + std::string(name) + ".toml")));
  write("search_space", "forms",
        "merge = [\"add\"]\n[operators.dense]\nunits = {low = 4, high = 64, step = 4}\n"
        "weight = 0.5\n[hyperparameters]\nrate = {low = 1e-4, high = 0.1, log = true}\n"
        "optimiser = [\"sgd\", \"adam\"]\n"
        "momentum = {low = 0.5, high = 0.9, when = {optimiser = \"sgd\"}}\n"
        "decay = {choice = [0.1, 0.01], ordered = true}\n");
  for (const char* name : {"digits", "synthetic"}) {
    const auto file = in_repository("experiments/" + std::string(name) + ".toml");
    write("experiment", name, read_text(file));
    write("resolved", name, to_toml(must(load_experiment(file))));
  }
  write("experiment", "overridden",
        std::string("[experiment]\nname = \"x\"\n[data]\nfile = \"x.csv\"\n"
                    "split = {train = 8, validation = 1, test = 1}\n"
                    "[search_space]\nfile = \"x.toml\"\n[limits]\n"
                    "evaluation_memory = \"1.5GiB\"\nwall_time = \"1h30min\"\n"
                    "[slots]\nlocal = [\"cuda:0\", \"cpu:2\"]\n")
            + '\0' + "evolution.population = 48");
  write("experiment", "whole",
        "[experiment]\nname = \"x\"\n[data]\nfile = \"x.csv\"\n"
        "[search_space]\nfile = \"x.toml\"\n[training]\n"
        "learning_rate = 9007199254740993\n");
  write("search_space", "whole",
        "[operators.dense]\n[hyperparameters]\n"
        "x = {low = 9007199254740993, high = 1e16}\n"
        "y = {low = -9223372036854775808, high = 9223372036854775807}\n");
  write("units", "time", "1h30min 2.5s");
  write("units", "size", "1.5GiB");
  write("text", "words",
        "It's a \"well-made\" film , Gr\xc3\xb6\xc3\x9f"
        "e 42!\xff");
  write("text", "scripts",
        "\xe5\xa5\xbd\xe6\x9b\xb8 \xd0\xa6\xd0\x95\xd0\x9d\xd0\x90\xe2\x80\x94\xce\xa9");
  write("help_options", "argparse",
        "usage: train.py [-h] [--epochs EPOCHS]\n  -b N, --batch-size N  how many\n");
  write("help_options", "prose", "see --epochs. or ---x, a--b --lr=0.1|--n_folds\n");
  write("slots", "mixed", "cuda:0,cuda:1,cpu:2,3");
  write("slots", "auto", "auto");
  write("slots", "many", "1024,cpu:1");
  write("endpoint", "loopback", "127.0.0.1:4711");
  write("endpoint", "six", "[::1]:0");
}

const std::string npy_of_six =
    std::string("\x93NUMPY\x01\x00\x46\x00", 10)
    + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n"
    + std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\0\0",
                  24);
const std::string idx_of_six =
    std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\1\2\3\4\5\6", 18);
const std::string table = "\xEF\xBB\xBF"
                          "a,b,class\r\n1,x,\"one\"\n2.5,y,two\n\n"
                          "-3e2,\"x\",\"o\"\"ne\"\nNA,y,two\n0,x,one\n4,y,one\n7,x,two\n";
const std::string iris = "6,2,setosa,versicolor\n5.1,3.5,0\n4.9,3.0,0\n4.7,3.2,1\n"
                         "4.6,3.1,1\n5.0,3.6,0\n5.4,3.9,1\n";
const std::string zipped_words("\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\xca\xc9\x48\xce\x06\x00"
                               "\xf3\x3c\xa1\x0e\x05\0\0\0",
                               25);

void write_programs() {
  // The first byte chooses lines or TensorBoard's events (program_answer_fuzz.cpp).
  write(
      "program_answer", "reports",
      std::string(1, '\0')
          + "{\"epoch\": 1, \"a\": 0.5, \"b\": NaN}\nnoise\n{\"a\": 0.9, \"c\": -1e3}\n");
  write("program_answer", "events",
        std::string("\1\x0e\0\0\0\0\0\0\0\0\0\0\0\x10\x02\x2a\x0a\x0a\x08\x0a\1a\x15", 23)
            + std::string("\0\0\0\x3f\0\0\0\0", 8));
  encoder folder;
  folder.array(2).natural(1).array(3);
  folder.array(3).text("a").natural(0).binary(bytes());
  folder.array(3).text("a/weights").natural(1).binary(bytes("1234"));
  folder.array(3).text("run").natural(2).binary(bytes("#!/bin/sh\n"));
  write("checkpoint_folder", "three", folder.take());
}

void write_preprocessing() {
  const auto add = [](const std::string& name, const preprocessing& how) {
    encoder out;
    encode(out, how);
    write("preprocessing", name, out.take());
  };
  add("categories", test::a_preprocessing());
  preprocessing table{.task = regression, .shape = {{8}}, .width = 3};
  table.columns = {{.name = "age", .blank_input = true},
                   {.name = "active", .kind = encoding_kind::yes_no},
                   {.name = "since", .kind = encoding_kind::date}};
  table.decimal = ',';
  table.mean.assign(8, 0.5);
  table.deviation.assign(8, 2);
  add("table", table);
  preprocessing images{.shape = {{3, 2, 2}}, .layout = array_layout::channels_last};
  images.sizes = {{2, 2, 3}};
  images.width = 12;
  images.largest = 255;
  images.classes = {"cat", "dog"};
  add("images", images);
}

void write_data() {
  // The bytes before a table choose how it is read (csv_fuzz.cpp, data_set_fuzz.cpp).
  write("csv", "names", std::string(5, '\0') + table);
  write("csv", "categories", std::string("\4\0\0\1\2", 5) + table);
  write("csv", "mean", std::string("\0\0\1\1\0", 5) + "1,2\n?,3\n4,5e-1\n");
  write("csv", "counts", std::string(5, '\0') + iris);
  // The same in new_csv_fuzz.cpp.
  write("new_csv", "numbers", std::string(2, '\0') + "1,2,3\n4,5e-1,6\n");
  write("new_csv", "names", std::string("\1\0", 2) + "c,a,b\n1,2,3\n");
  write("new_csv", "texts", std::string("\x3F\0", 2) + "a,b,c,t\n1,x,?,0\n2,\"y\",3,1\n");
  write("new_csv", "sentences", std::string("\x0A\5", 2) + "x a b and so\n7 b b\n");
  write("new_csv", "counts", std::string("\0\3", 2) + "2,3,u,v\n1,2,3\n4,5,6\n");
  write("npy", "six", npy_of_six);
  write("npy", "none",
        std::string("\x93NUMPY\x03\x00\x40\0\0\0", 12)
            + "{'shape': (0,), 'fortran_order': False, 'descr': '>i2'}"
            + std::string(9, ' '));
  write("idx", "six", idx_of_six);
  write("idx", "doubles", std::string("\0\0\x0e\x01\0\0\0\x01\x3f\xf0\0\0\0\0\0\0", 16));
  write("gzip", "any", '\0' + zipped_words);
  write("gzip", "made", "\x06\xff" + table);
  write("cifar", "ten", std::string("\0\1\7\2\7\1\0", 7));
  write("cifar", "hundred", std::string("\1\1\7\2\x13\x63\0", 7));
  // The first five bytes are the choices of forecast_fuzz.cpp.
  std::string rows;
  for (int i = 0; i < 24; ++i)
    rows += std::to_string(5 + i % 3) + ",2024-01-" + std::to_string(1 + i) + ",a,1\n";
  write("forecast", "days", std::string("\1\3\1\1\1", 5) + rows);
  write("forecast", "plain", std::string("\0\0\0\0\0", 5) + "1\n2\n4\n8\n16\n32\n64\n\n");
  // The first three bytes are the choices of long_table_fuzz.cpp.
  write("long_table", "classes",
        std::string("\0\1\0", 3) + "a,1,p,3\na,2.5,p,1\nb,?,q,2024\n,1,r,1\n");
  write("long_table", "numbers",
        std::string("\1\1\1", 3)
            + "1.5,1,p,2024-01-01,u\n,2,p,2024-01-04,u\n2,3,p,2024-01-01,v\n");
  write("long_table", "plain", std::string("\0\0\0", 3) + "a,1,p\na,2,p\nb,3,q\n");
  const auto number = [](std::uint64_t n) {
    return std::string(reinterpret_cast<const char*>(&n), sizeof n);
  };
  write("folder_bundle", "two",
        number(2) + number(5) + number(3) + "a/1" + number(0) + number(5) + "b/c/2"
            + "words");
  write("folder_bundle", "outside", number(1) + number(1) + number(4) + "../x" + "y");
  // The first two bytes are the lengths of two texts.
  write("text_folder", "three", "\5\6words\"a\", b\nmore\r\n");
  write("text_folder", "latin",
        "\4\4caf\xe9\xff\xfe"
        "a\1\xef\xbb\xbf\xc3\xa4");
  // The first three bytes are the choices of series_fuzz.cpp.
  write("series", "classes", std::string("\0\2\0", 3) + "1,2:3:a\n4:5,?:b\n");
  write("series", "numbers", std::string("\1\1\3", 3) + "1,2:3\n4,5,6:7\n");
  write("series", "relational", std::string("\0\3\2", 3) + "'1,2\\n3',a\n'?\\n5,6',b\n");
  write("series", "steps", std::string("\1\4\0", 3) + "1,2,3,0.5\n4,?,?,2\n");
  const std::string no_choices(5, '\0');
  write("data_set", "table", no_choices + iris);
  write("data_set", "blanks",
        std::string("\0\0\0\1\1", 5)
            + "x,2,a\ny,?,b\nx,3,a\ny,4,b\n"
              "x,5,a\ny,6,b\nx,1,a\n");
  write("data_set", "numbers",
        std::string("\0\0\1\0\0", 5) + "1,2,3\n4,5,6\n7,8,9\n0,1,2\n");
  write("data_set", "array", std::string("\1\0\1\0\0", 5) + npy_of_six);
  write("data_set", "idx", std::string("\2\0\1\0\0", 5) + idx_of_six);
  data_set d;
  d.shape.sizes = {2};
  d.examples = 3;
  d.labels = {0, 1, 1};
  d.classes = {"one", "two"};
  d.train = {0};
  d.validation = {2};
  d.test = {1};
  d.test_places = {4};
  write("cached_form", "classes", cached_form(d));
  d.task = regression;
  d.targets = {0.5F, -1, 2};
  d.labels.clear();
  d.classes.clear();
  d.numbers = {true, true, true};
  auto form = cached_form(d);
  write("cached_form", "numbers", form);
  form[form.find("\1\1\1")] = '\2';
  write("cached_form", "other-truths", form);
}

// Writes one message of each kind that is empty, alone and as it is sent: one value, of
// this type.
void write_messages() {
  for (const auto& [name, make] : fuzz::message_kinds()) {
    const auto empty = fuzz::save(*make());
    if (!empty)
      continue;
    const std::string type = "@<>+" + name;
    write("messages", name.substr(7), name + " " + *empty);
    const auto sent =
        std::string("\0\0", 2) + static_cast<char>(type.size()) + type + *empty;
    caf::message received;
    if (!fuzz::load(sent, received) || received.size() != 1)
      std::exit(1);
    write("messages", "any-" + name.substr(7), sent);
  }
}

// The first byte is what wire_fuzz.cpp takes it for.
void write_wire() {
  const auto at_record = [](std::uint64_t sequence, const record& r) {
    const auto parts = encode(published{record_event{sequence, 1'700'000'000'000, r}});
    return '\0' + std::string(1, static_cast<char>(parts[1].size())) + parts[1]
           + parts[2];
  };
  run_picture p;
  auto history = fuzz::small_history();
  std::get<run_started>(history.front().record).experiment =
      to_toml(must(load_experiment(in_repository("experiments/synthetic.toml"))));
  genome_view seen{.born = {}, .evaluated = {}, .lineage = {}, .goal = {}};
  for (const auto& e : history) {
    if (!apply(p, 1'700'000'000'000, e.record))
      std::exit(1);
    if (p.sequence == 4 || p.sequence == 8)
      write("wire", "snapshot" + std::to_string(p.sequence),
            '\6' + encode_snapshot("x", p));
    if (const auto* born = std::get_if<candidate_born>(&e.record))
      seen.born = born->born;
    if (const auto* done = std::get_if<candidate_evaluated>(&e.record))
      seen.evaluated = done->evaluated;
  }
  write("wire", "snapshot", '\6' + encode_snapshot("x", p));
  write("wire", "record", at_record(3, history[2].record));
  write("wire", "last", at_record(p.sequence, history.back().record));
  write("wire", "epoch",
        '\1' + encode(published{epoch_event{"cpu:0", 4, 2, 15, {{"loss", 0.5}}}})[1]);
  slots_view v;
  v.slots.push_back({.name = "a/cpu:0", .label = "core", .ready = true, .training = 9});
  write("wire", "slots", '\2' + encode(published{v})[1]);
  write("wire", "alive", '\3' + encode(published{alive{7}})[1]);
  write("wire", "candidates", '\5' + encode(request{rows_request{3, 100}}));
  seen.lineage.push_back({.id = 3, .origin = "sampled", .parents = {1}, .reason = "x"});
  write("wire", "candidate", '\7' + encode_answer(seen));
  candidate_row row{.line = p.best.front(), .index = 1, .parents = {1}};
  row.hyperparameters = seen.born.genome->hyperparameters;
  row.metrics = {{"validation.accuracy", 0.5}};
  write("wire", "told",
        '\11' + encode_told({.kind = instruction_kind::slots, .text = "cpu:4"}, "ann"));
  write("wire", "rows", '\10' + encode_answer(std::vector{row}));
}

void write_team_hellos() {
  const auto text = [](const team_hello& hello) {
    const auto bytes = encode(hello);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto first = text({.task = 1, .generation = 2, .checksum = 3, .members = 2});
  write("team_hello", "one", first);
  write("team_hello", "two",
        first
            + text({.task = 1, .generation = 3, .checksum = 3, .own = 1, .members = 2}));
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2)
    return 2;
  corpus = std::filesystem::path(arguments[1]) / "corpus";
  write_genomes();
  write_records();
  write_queue_events();
  write_weights();
  write_loop_position();
  write_models();
  write_text_formats();
  write_preprocessing();
  write_programs();
  write_data();
  write_images();
  write_messages();
  write_wire();
  write_team_hellos();
  write("store", "header", std::string("\0\0\x3c\x01", 4));
  write("store", "pages",
        std::string("\0\x10\x05\xff\0\x80\x11\x00\x01\x03\x07\x21", 12));
  write("store", "cut", std::string("\x80", 1));
  return 0;
}

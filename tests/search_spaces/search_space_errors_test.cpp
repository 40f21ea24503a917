#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// About one setting of a convolution, on line 3.
std::string conv_complaint(const std::string& line) {
  return complaint("image = true\n[operators.conv]\n" + line + "\n");
}

/// About one hyperparameter, on line 3.
std::string hyper_complaint(const std::string& line) {
  return complaint("[operators.dense]\n[hyperparameters]\n" + line + "\n");
}

} // namespace

TEST_CASE("space errors: an unknown key comes with the nearest known one") {
  CHECK(conv_complaint("filtres = 8")
        == "a.toml:3: unknown key \"filtres\" in operators.conv; did you mean "
           "\"filters\"?");
  CHECK(conv_complaint("colour = 8")
        == "a.toml:3: unknown key \"colour\" in operators.conv; known are weight, words, "
           "activation, bias, "
           "dilation, filters, kernel, norm, stride");
  CHECK(complaint("imgae = true\n")
        == "a.toml:1: unknown key \"imgae\"; did you mean \"image\"?");
  CHECK(complaint("[limits]\nmax_node = 3\n")
        == "a.toml:2: unknown key \"max_node\" in limits; did you mean \"max_nodes\"?");
  CHECK(
      hyper_complaint("lr = { low = 1, hihg = 2 }")
      == "a.toml:3: unknown key \"hihg\" in hyperparameters.lr; did you mean \"high\"?");
  CHECK(
      hyper_complaint("lr = { low = 1, high = 2, ordered = true }")
      == "a.toml:3: unknown key \"ordered\" in hyperparameters.lr; known are low, high, "
         "step, log, when");
}

TEST_CASE("space errors: an unknown operator comes with the nearest known one") {
  CHECK(complaint("[operators.convv]\n")
        == "a.toml:1: unknown operator \"convv\"; did you mean \"conv\"?");
  CHECK(complaint("[operators.kolmogorov]\n")
        == "a.toml:1: unknown operator \"kolmogorov\"; known are conv, separable_conv, "
           "depthwise_conv, max_pool, avg_pool, global_avg_pool, global_max_pool, dense, "
           "batch_norm, layer_norm, channel_norm, activation, identity, zero, dropout, "
           "boosted_trees, conv1d, grouped_conv1d, gru, lstm, rnn, mgu, ugrnn, "
           "delta_rnn, attention, positions, "
           "patches, residual, inverted_residual, convnext, "
           "embed_numbers, "
           "residual_dense, residual1d, inception1d, transformer");
  CHECK(complaint("[operators.flatten]\n")
        == "a.toml:1: unknown operator \"flatten\": it is put in where shapes need it");
}

TEST_CASE("space errors: values out of range say what the range is") {
  CHECK(conv_complaint("kernel = [3, 4]")
        == "a.toml:3: operators.conv.kernel is 4, but must be odd");
  CHECK(
      conv_complaint("kernel = { low = 1, high = 5 }")
      == "a.toml:3: operators.conv.kernel must be odd; say step = 2, or list the values");
  CHECK(conv_complaint("stride = 0")
        == "a.toml:3: operators.conv.stride is 0, but must be from 1 to 8");
  CHECK(conv_complaint("filters = { low = 0, high = 8 }")
        == "a.toml:3: operators.conv.filters is 0, but must be from 1 to 65536");
  CHECK(conv_complaint("activation = [\"relu\", \"gleu\"]")
        == "a.toml:3: operators.conv.activation is 'gleu', did you mean 'gelu'?");
  CHECK(
      conv_complaint("weight = -1")
      == "a.toml:3: operators.conv.weight is -1, but must be a number from 0 to 1000000");
  CHECK(complaint("[limits]\nmax_nodes = 257\n")
        == "a.toml:2: limits.max_nodes is 257, but must be a whole number from 0 to 256");
  CHECK(complaint("[operators.dropout]\nrate = { low = 0, high = 1 }\n")
        == "a.toml:2: operators.dropout.rate is 1.0, but must be from 0.0 to 0.95");
  CHECK(complaint("merge = [\"add\", \"multiply\"]\n[operators.dense]\n")
        == "a.toml:1: merge is 'multiply', but must be one of add, concat");
}

TEST_CASE("space errors: wrong types are named") {
  CHECK(conv_complaint("filters = \"many\"")
        == "a.toml:3: operators.conv.filters is 'many', but must be a whole number");
  CHECK(conv_complaint("filters = [8, 1.5]")
        == "a.toml:3: operators.conv.filters is 1.5, but must be a whole number");
  CHECK(conv_complaint("norm = true")
        == "a.toml:3: operators.conv.norm is true, but must be a number or a text in "
           "quotes");
  CHECK(conv_complaint("norm = { low = 1, high = 2 }")
        == "a.toml:3: operators.conv.norm is a text; list the words that it may be");
  CHECK(hyper_complaint("x = [1, \"two\"]")
        == "a.toml:3: hyperparameters.x mixes numbers and text");
  CHECK(hyper_complaint("x = [[1], 2]")
        == "a.toml:3: hyperparameters.x is a list, but must be a number or a text in "
           "quotes");
  CHECK(hyper_complaint("x = 2024-01-01")
        == "a.toml:3: hyperparameters.x is a date or time, but must be a number or a "
           "text in "
           "quotes");
  CHECK(hyper_complaint("x = [0.5, nan]")
        == "a.toml:3: hyperparameters.x is nan, but must be finite");
  CHECK(hyper_complaint("x = \"\"")
        == "a.toml:3: hyperparameters.x is a text that is empty, longer than 4096 bytes "
           "or has "
           "control characters");
  CHECK(complaint("image = \"yes\"\n")
        == "a.toml:1: image is \"yes\", but must be true or false");
  CHECK(complaint("sequence = 1\n")
        == "a.toml:1: sequence is 1, but must be true or false");
  CHECK(complaint("image = true\nsequence = true\n")
        == "a.toml:2: image and sequence are true, but examples are of one kind; remove "
           "one of the two");
  CHECK(complaint("limits = 3\n")
        == "a.toml:1: limits is 3, but must be a table: [limits]");
  CHECK(complaint("[operators]\nconv = 3\n")
        == "a.toml:2: operators.conv is 3, but must be a table: [operators.conv]");
  CHECK(complaint("[limits]\nmax_parameters = 1e6\n")
        == "a.toml:2: limits.max_parameters is 1e+06, but must be a whole number "
           "from 1 to "
           "1000000000000");
}

TEST_CASE("space errors: ranges that contradict themselves") {
  CHECK(hyper_complaint("x = { low = 5, high = 3 }")
        == "a.toml:3: hyperparameters.x has low = 5 above high = 3");
  // Whole numbers beyond 2^53 are compared as such.
  CHECK(hyper_complaint("x = { low = 9007199254740993, high = 9007199254740992 }")
        == "a.toml:3: hyperparameters.x has low = 9007199254740993 above high = "
           "9007199254740992");
  CHECK(hyper_complaint("x = { low = 0.0, high = 3, log = true }")
        == "a.toml:3: hyperparameters.x has low = 0.0, but log = true needs a bound "
           "above 0");
  CHECK(hyper_complaint("x = { low = 0 }")
        == "a.toml:3: hyperparameters.x has no \"high\"");
  CHECK(hyper_complaint("x = { low = 0, high = \"3\" }")
        == "a.toml:3: hyperparameters.x has a bound that is \"3\" and no number");
  CHECK(hyper_complaint("x = { low = 0, high = inf }")
        == "a.toml:3: hyperparameters.x has a bound that is not finite");
  CHECK(hyper_complaint("x = { low = 0.5, high = 1, step = 2 }")
        == "a.toml:3: hyperparameters.x has a step, which only whole numbers have");
  CHECK(
      hyper_complaint("x = { low = 0, high = 4, step = 0 }")
      == "a.toml:3: hyperparameters.x has step = 0, which must be a whole number of 1 or "
         "more");
  CHECK(hyper_complaint("x = { low = 1, high = 4, log = 1 }")
        == "a.toml:3: hyperparameters.x has log = 1, which must be true or false");
  CHECK(hyper_complaint("x = { low = 1, high = 2, choice = [1] }")
        == "a.toml:3: hyperparameters.x needs low and high, or a choice, or a value: one "
           "of "
           "the three");
  CHECK(hyper_complaint("x = [1, 2, 1]") == "a.toml:3: hyperparameters.x has 1 twice");
  CHECK(hyper_complaint("x = []")
        == "a.toml:3: hyperparameters.x is an empty list; give at least one value");
  CHECK(complaint("[limits]\nmax_nodes = 2\ninitial_nodes = 5\n[operators.dense]\n")
        == "a.toml:3: limits.initial_nodes = 5 is more than limits.max_nodes = 2");
  CHECK(complaint("[limits]\nmax_width = 32\n[operators.dense]\nunits = [16, 64]\n")
        == "a.toml:3: operators.dense.units goes up to 64, but limits.max_width is 32");
}

TEST_CASE("space errors: conditions must be able to hold") {
  CHECK(hyper_complaint("x = { value = 1, when = { y = 2 } }")
        == "a.toml:3: hyperparameters.x applies when y has a certain value, but there is "
           "no "
           "hyperparameters.y");
  CHECK(hyper_complaint("x = { value = 1, when = { y = 2 } }\ny = [3, 4]")
        == "a.toml:3: hyperparameters.x applies when y is 2, which it never is");
  CHECK(hyper_complaint("x = { value = 1, when = { y = 2 } }\n"
                        "y = { value = 2, when = { x = 1 } }")
        == "a.toml:3: hyperparameters.x applies when y has a certain value, and that "
           "depends "
           "on itself");
  CHECK(hyper_complaint("x = { value = 1, when = \"y\" }")
        == "a.toml:3: hyperparameters.x has a \"when\" that is not like { optimizer = "
           "\"sgd\" }");
}

TEST_CASE("space errors: an empty space and one of the wrong kind") {
  CHECK(complaint("")
        == "a.toml:1: the space is empty: it has no operators; add a table such "
           "as [operators.conv] or [operators.dense]");
  CHECK(complaint("[operators.dense]\nweight = 0\n")
        == "a.toml:1: the space is empty: it has no operators; add a table such as "
           "[operators.conv] or [operators.dense]");
  CHECK(complaint("\n[operators.conv]\n")
        == "a.toml:2: operator conv works on images; set image = true at the top, or "
           "leave it "
           "out");
}

TEST_CASE("space errors: the mistake furthest up is the one that is told") {
  CHECK(complaint("[operators.dense]\nunit = 3\n[limits]\nmax_nodse = 3\nbogus = 1\n")
        == "a.toml:2: unknown key \"unit\" in operators.dense; did you mean \"units\"?");
}

TEST_CASE("space errors: names of hyperparameters are words") {
  CHECK(
      hyper_complaint("\"learning rate\" = 1")
      == "a.toml:3: hyperparameters: \"learning rate\" is no name; use up to 64 letters, "
         "digits and \"_\"");
}

TEST_CASE("space errors: what is no TOML has its line") {
  CHECK_THAT(complaint("image = true\n[operators.conv\n"),
             Catch::StartsWith("a.toml:2: the name of a section stands in brackets"));
  CHECK_THAT(complaint("a = 1\na = 2\n"),
             Catch::StartsWith("a.toml:2: broken key-value pair: "));
  CHECK(complaint("x = \"\xff\"\n") == "a.toml:1: is no text in UTF-8");
}

TEST_CASE("space errors: text may not include files") {
  CHECK(complaint("include = [\"b.toml\"]\n[operators.dense]\n")
        == "a.toml:1: include works in search-space files alone; write the tables here");
}

TEST_CASE("space errors: files that are not there or no files") {
  const scratch_folder folder;
  const auto missing = folder.path() / "missing.toml";
  auto failed = load_search_space(missing);
  REQUIRE(!failed);
  CHECK(
      failed.error()
      == error{error_kind::not_found, missing.string()
                                          + ": no such file; name a search space such as "
                                            "search_spaces/image.toml"});
  failed = load_search_space(folder.path());
  REQUIRE(!failed);
  CHECK(failed.error().message
        == folder.path().string()
               + ": is no file; name a search space such as search_spaces/image.toml");
  const auto huge = folder.write("huge.toml", std::string((1 << 20) + 1, '#'));
  failed = load_search_space(huge);
  REQUIRE(!failed);
  CHECK(failed.error().message
        == huge.string() + ": is larger than 1 MiB, which no search space is");
}

TEST_CASE("space errors: includes that cannot be followed have their line") {
  const scratch_folder folder;
  const auto message_of = [&](const std::string& text) {
    const auto file = folder.write("main.toml", text);
    const auto space = load_search_space(file);
    return space ? "loaded" : space.error().message;
  };
  const auto main = (folder.path() / "main.toml").string();
  CHECK(message_of("\ninclude = [\"gone.toml\"]\n")
        == main + ":2: include \"gone.toml\": there is no file "
               + (folder.path() / "gone.toml").string());
  CHECK(message_of("include = [\"main.toml\"]\n")
        == main + ":1: include \"main.toml\": that file includes this one");
  const auto other = folder.write("other.toml", "include = [\"main.toml\"]\n");
  CHECK(message_of("include = [\"other.toml\"]\n")
        == other.string() + ":1: include \"main.toml\": that file includes this one");
  CHECK(message_of("include = \"other.toml\"\n")
        == main
               + ":1: include is \"other.toml\", but must be a list of files: "
                 "[\"hyperparameters.toml\"]");
  CHECK(message_of("include = [3]\n")
        == main + ":1: include has 3 in its list, which is no file's name");
}

TEST_CASE("space: a file that many include is read once, before them") {
  const scratch_folder folder;
  constexpr int files = 64;
  for (int i = 0; i < files; ++i)
    folder.write("s" + std::to_string(i) + ".toml",
                 i + 8 >= files
                     ? "[operators.dense]\nunits = [8]\n"
                     : "include = [\"s" + std::to_string(i + 8) + ".toml\", \"s"
                           + std::to_string(i / 8 * 8 + 8 + (i + 1) % 8) + ".toml\", \"s"
                           + std::to_string(i / 8 * 8 + 8) + ".toml\"]\n");
  CHECK(load_search_space(folder.path() / "s0.toml"));
  // A setting of one file for another's operator counts, though a third includes that
  // again.
  folder.write("base.toml", "[operators.dense]\nunits = [8]\n");
  folder.write("left.toml",
               "include = [\"base.toml\"]\n[operators.dense]\nunits = [16]\n");
  folder.write("right.toml", "include = [\"base.toml\", \"base.toml\"]\n");
  const auto space = load_search_space(
      folder.write("top.toml", "include = [\"left.toml\", \"right.toml\"]\n"));
  REQUIRE(space);
  CHECK(to_text(std::get<choice_domain>(space->rules.operators[0].settings[0].domain)
                    .options[0])
        == "16");
}

TEST_CASE("space errors: files that include each other without end are refused") {
  const scratch_folder folder;
  for (int i = 0; i < 3000; ++i)
    folder.write("c" + std::to_string(i) + ".toml",
                 "include = [\"c" + std::to_string(i + 1) + ".toml\"]\n");
  CHECK(load_search_space(folder.path() / "c0.toml").error().message
        == (folder.path() / "c8.toml").string()
               + ":1: files include each other more than 8 deep");
  std::string all = "include = [";
  for (int i = 0; i < 70; ++i) {
    const auto name = "f" + std::to_string(i) + ".toml";
    folder.write(name, "[limits]\n");
    all += "\"" + name + "\", ";
  }
  CHECK(load_search_space(folder.write("many.toml", all + "]\n")).error().message
        == (folder.path() / "many.toml").string()
               + ":1: a search space has at most 64 files");
}

TEST_CASE("space errors: a mistake in an included file is told with that file's name") {
  const scratch_folder folder;
  const auto part = folder.write("part.toml", "[operators.dense]\n\nunitz = 3\n");
  const auto space = load_search_space(
      folder.write("main.toml", "include = [\"part.toml\"]\n[operators.dense]\n"));
  REQUIRE(!space);
  CHECK(space.error().message
        == part.string()
               + ":3: unknown key \"unitz\" in operators.dense; did you mean \"units\"?");
}

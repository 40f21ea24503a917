#include "tests/support/scratch.hpp"
#include "tools/jobs/arguments.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("arguments: options are read from what a program says of them") {
  CHECK(options_in("usage: a.py [-h] [--epochs EPOCHS] [--batch_size N]\n\n"
                   "  -e, --epochs EPOCHS  how long (see also --n-folds.)\n"
                   "  --lr=0.1|--learning-rate\n"
                   "--- a --rule -- and x--y, a ---z")
        == option_names{"--batch_size", "--epochs", "--learning-rate", "--lr",
                        "--n-folds", "--rule"});
  CHECK(options_in("").empty());
  CHECK(options_in("--").empty());
  CHECK(options_in("-- --a").size() == 1);
}

TEST_CASE("arguments: each script gets what it takes, by its own names") {
  const wanted_arguments all{
      .epochs = 5, .folds = 3, .batch = 32, .extra = {"--early-stopping", "x"}};
  const auto given = arguments_for({"--num-epochs", "--batch_size", "--verbose"}, all);
  CHECK(given.words
        == std::vector<std::string>{"--num-epochs", "5", "--batch_size", "32",
                                    "--early-stopping", "x"});
  CHECK(given.not_taken == std::vector<std::string>{"--folds"});
  CHECK(arguments_for({"--epochs"}, {}).words.empty());
}

TEST_CASE("arguments: a script that reads some is asked") {
  const scratch_folder folder;
  const auto ask = [&](const std::string& text) {
    const auto file = folder.path() / "script";
    write_text(file, text);
    return ask_for_options({"python3", file.string()}, file, folder.path());
  };
  const auto said = ask("import argparse\np = argparse.ArgumentParser()\n"
                        "p.add_argument('--epochs', type=int)\np.parse_args()\n");
  CHECK(said.trouble.empty());
  CHECK(said.names == option_names{"--epochs", "--help"});
  CHECK(ask("import sys\nsys.exit(sys.argv[0] != '')\n").trouble
        == "names no options when asked by --help");
}

TEST_CASE("arguments: a script that reads none is not started") {
  const scratch_folder folder;
  const auto file = folder.path() / "script";
  write_text(file, "open('began', 'w')\n");
  CHECK(ask_for_options({"python3", file.string()}, file, folder.path()).trouble
        == "reads no arguments");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "began"));
  CHECK(reads_arguments("exec python3 train.py \"$@\""));
}

#include "engine/training/final/module.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <unistd.h>

using namespace clade;
using Catch::Matchers::Contains;

TEST_CASE("training module: a build without LibTorch says so") {
  const scratch_folder folder;
  const auto made = load_training(folder.path() / "libclade_training.so", {});
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == error_kind::not_found);
  CHECK_THAT(made.error().message, Contains("this build has no LibTorch: ")
                                       && Contains("CLADE_TORCH=ON tools/clade"));
}

TEST_CASE("training module: a file that is no library is an error") {
  const scratch_folder folder;
  const auto file = folder.path() / "libclade_training.so";
  write_text(file, "no library");
  const auto made = load_training(file, {});
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Contains("cannot load the training module"));
}

TEST_CASE("training module: a library without its door is an error") {
  // The C library, by a function of which AddressSanitizer has none of its own.
  Dl_info where{};
  REQUIRE(::dladdr(reinterpret_cast<const void*>(&::getppid), &where) != 0);
  const auto made = load_training(where.dli_fname, {});
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == error_kind::conflict);
  CHECK_THAT(made.error().message, Contains(training_module_symbol));
}

#ifdef CLADE_TRAINING_MODULE

TEST_CASE("training module: it makes a fitness function or says what is wrong") {
  training_setup setup;
  const auto made = load_training(CLADE_TRAINING_MODULE, setup);
  REQUIRE(made);
  CHECK(*made != nullptr);

  setup.goal.metric = "validation.beauty";
  const auto wrong = load_training(CLADE_TRAINING_MODULE, setup);
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().message, Contains("validation.beauty"));
}

TEST_CASE("training module: its second door measures, or says what is wrong") {
  const scratch_folder folder;
  training_setup setup;
  setup.data.file = folder.path() / "data.csv";
  const auto without = load_zero_cost_scorer(CLADE_TRAINING_MODULE, setup);
  REQUIRE_FALSE(without);
  CHECK_THAT(without.error().message, Contains("data.csv"));

  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i % 7) + "," + std::to_string(i % 5) + ","
            + std::to_string(i % 2) + "\n";
  write_text(setup.data.file, text);
  const auto made = load_zero_cost_scorer(CLADE_TRAINING_MODULE, setup);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK((*made)->score(test::a_chain({}), 1).grad_norm);
}

TEST_CASE("training module: another contract is turned down") {
  void* handle = ::dlopen(CLADE_TRAINING_MODULE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  REQUIRE(handle != nullptr);
  const auto make =
      reinterpret_cast<make_training_function>(::dlsym(handle, training_module_symbol));
  REQUIRE(make != nullptr);
  expected<std::unique_ptr<fitness_function>> made;
  CHECK_FALSE(make({training_module_version + 1, sizeof(training_setup)}, {}, made));
  CHECK_FALSE(make({training_module_version, sizeof(training_setup) + 8}, {}, made));
  CHECK(make({training_module_version, sizeof(training_setup)}, {}, made));
}

#endif

#include "tests/support/scratch.hpp"
#include "tools/queue/clusters/familiar_words.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace clade;

namespace {

our_words ours_of(const std::vector<std::string>& words) {
  const auto ours = in_our_words(words);
  REQUIRE(ours);
  return *ours;
}

/// Returns our words for words with no spaces in them.
std::string ours(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  std::string text;
  for (const auto& word : ours_of(words).words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string refusal(const std::vector<std::string>& words) {
  const auto ours = in_our_words(words);
  REQUIRE_FALSE(ours);
  CHECK(ours.error().kind == error_kind::invalid_input);
  return ours.error().message;
}

} // namespace

TEST_CASE("familiar words: ours stay what they are") {
  for (const char* line :
       {"", "run x.toml", "submit -- job/3", "get 3 --json", "top --web", "jobs run jobs",
        "report job/3", "logs -f 3", "--version", "train jobs"})
    CHECK(ours(line) == line);
}

TEST_CASE("familiar words: kubectl's resources are understood") {
  CHECK(ours("get jobs") == "get");
  CHECK(ours("get jobs 3 -w") == "get 3 -w");
  CHECK(ours("get job/3") == "get 3");
  CHECK(ours("get pods") == "get");
  CHECK(ours("get pods 3") == "pods 3");
  CHECK(ours("get nodes") == "top");
  CHECK(ours("top nodes") == "top");
  CHECK(ours("describe job 3") == "describe 3");
  CHECK(ours("logs -f job/3") == "logs -f 3");
  CHECK(ours("delete job 3") == "cancel 3");
  CHECK(ours("delete jobs/3 jobs/4") == "cancel 3 4");
  // A folder may be called so.
  CHECK(ours("get --queue jobs/lab") == "get --queue jobs/lab");
  CHECK(ours("logs --queue pod/q job/3") == "logs --queue pod/q 3");
  CHECK(ours("get --queue=jobs/lab") == "get --queue=jobs/lab");
}

TEST_CASE("familiar words: SLURM's programs are understood") {
  CHECK(ours("squeue") == "get");
  CHECK(ours("sacct --json") == "get --all --json");
  CHECK(ours("scancel 3") == "cancel 3");
  CHECK(ours("sinfo") == "top");
  CHECK(ours("scontrol show job 3") == "describe 3");
  CHECK(ours("sbatch no-such-script 1 -c 2") == "submit -- no-such-script 1 -c 2");
  CHECK(ours("sbatch --queue lab x") == "submit --queue=lab -- x");
  CHECK(ours("sbatch --wrap=true") == "submit -- sh -c true");
  CHECK(ours("sbatch -n 2 --cpus-per-task=2 x") == "submit --slots=4 --ranks=2 -- x");
  CHECK(ours("sbatch --gres=gpu:a100:2 x") == "submit --device=cuda --slots=2 -- x");
  CHECK(ours("sbatch -G1 -J it x") == "submit --name=it --device=cuda -- x");
  CHECK(ours("sbatch -d afterok:3:4 x") == "submit --after=3,4 -- x");
  CHECK(ours("sbatch --nice=5 --requeue --parsable x")
        == "submit --priority=-5 --requeue -- x");
}

TEST_CASE("familiar words: times are read as SLURM writes them") {
  const auto time = [](const std::string& text) {
    const auto line = ours("sbatch --time=" + text + " x");
    return line.substr(0, line.find(" -- "));
  };
  CHECK(time("90") == "submit --time=5400s");
  CHECK(time("1:30") == "submit --time=90s");
  CHECK(time("01:00:10") == "submit --time=3610s");
  CHECK(time("2-12") == "submit --time=216000s");
  CHECK(time("1-00:00:01") == "submit --time=86401s");
  for (const char* wrong : {"", "x", "1:2:3:4", "1-", "-1", "1.5"})
    CHECK_THAT(refusal({"sbatch", std::string("--time=") + wrong, "x"}),
               Catch::Contains("--time="));
}

TEST_CASE("familiar words: what a script says of itself comes before the command line") {
  const scratch_folder folder;
  const auto script = (folder.path() / "train.sh").string();
  std::ofstream(script) << "#!/bin/sh\n#SBATCH --job-name=a -c 2\n# for people\n\n"
                           "#SBATCH --partition=gpu   # the large ones\n"
                           "##SBATCH --nodes=4\n"
                           "echo\n#SBATCH --ntasks=9\n";
  const auto found = ours_of({"sbatch", "-c", "3", "--mem=4G", script, "--epochs", "2"});
  CHECK(found.words
        == std::vector<std::string>{"submit", "--name=a", "--slots=3", "--", script,
                                    "--epochs", "2"});
  CHECK(found.note == "not heeded: --mem=4G, --partition=gpu");
  std::ofstream(script) << "#!/bin/sh\n#SBATCH --frobnicate\n";
  CHECK(
      refusal({"sbatch", script})
      == script
             + ": sbatch --frobnicate: clade does not know it; clade submit --help says "
               "what there is");
}

TEST_CASE("familiar words: what must not be passed over is refused") {
  CHECK_THAT(refusal({"sbatch"}), Catch::Contains("wants a script"));
  CHECK_THAT(refusal({"sbatch", "--array=1-4", "x"}), Catch::Contains("--array"));
  CHECK_THAT(refusal({"sbatch", "-D", "/tmp", "x"}), Catch::Contains("--chdir"));
  CHECK_THAT(refusal({"sbatch", "-d", "afterany:3", "x"}), Catch::Contains("afterok"));
  CHECK_THAT(refusal({"sbatch", "-c"}), Catch::Contains("no value"));
  CHECK_THAT(refusal({"sbatch", "-c", "two", "x"}),
             Catch::Contains("--cpus-per-task=two"));
  CHECK_THAT(refusal({"sbatch", "--gpus=many", "x"}), Catch::Contains("--gpus=many"));
}

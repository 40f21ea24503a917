#include "tests/support/scratch.hpp"
#include "tools/jobs/scripts.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

class script_folder {
public:
  void write(const std::string& name, const std::string& text = "") const {
    fs::create_directories((folder_.path() / name).parent_path());
    write_text(folder_.path() / name, text);
  }
  [[nodiscard]] fs::path operator/(const std::string& name) const {
    return folder_.path() / name;
  }
  [[nodiscard]] std::string names(script_search search) const {
    if (search.places == std::vector<fs::path>{"."})
      search.places = {folder_.path()};
    const auto found = find_scripts(search);
    if (!found)
      return "error: " + found.error().message;
    std::string all;
    for (const auto& s : *found)
      all += (all.empty() ? "" : " ") + s.name;
    return all;
  }

private:
  scratch_folder folder_;
};

} // namespace

TEST_CASE("scripts: those of a folder and below it are found by their names") {
  const script_folder f;
  for (const char* name :
       {"train_a.py", "train_b.sh", "deep/train_c.py", "other.py", ".git/train_d.py",
        "__pycache__/train_e.py", "env/pyvenv.cfg", "env/train_f.py"})
    f.write(name);
  CHECK(f.names({}) == "deep/train_c train_a train_b");
  CHECK(f.names({.patterns = {"other*"}}) == "other");
  CHECK(f.names({.patterns = {"deep/*.py"}}) == "deep/train_c");
  CHECK(f.names({.places = {f / "other.py", f / "deep"}}) == "other train_c");
  CHECK_THAT(f.names({.patterns = {"x*"}}), Contains("is named x*"));
  CHECK_THAT(f.names({.places = {f / "nowhere"}}),
             Contains("nowhere: no such folder or script"));
}

TEST_CASE("scripts: no two have one name") {
  const script_folder f;
  for (const char* name : {"one/train.py", "two/train.py"})
    f.write(name);
  CHECK(f.names({.places = {f / "one", f / "two"}}) == "one/train.py two/train.py");
  f.write("one/train.sh");
  CHECK(f.names({.places = {f / "one"}}) == "train.py train.sh");
  CHECK(f.names({.places = {f / "one", f / "one"}}) == "train.py train.sh");
}

TEST_CASE("scripts: some are chosen and some left out") {
  const script_folder f;
  for (const char* name : {"train_a.py", "train_b.py", "train_c.py"})
    f.write(name);
  CHECK(f.names({.only = {"train_a", "train_c.py"}}) == "train_a train_c");
  CHECK(f.names({.exclude = {"*_a"}}) == "train_b train_c");
  CHECK(f.names({.only = {"train_a", "train_b"}, .exclude = {"train_b"}}) == "train_a");
  CHECK(f.names({.only = {"train_x"}})
        == "error: --only train_x: no script has that name; did you mean train_a?");
  CHECK(f.names({.exclude = {"*"}}) == "error: --only and --exclude leave no script");
}

TEST_CASE("scripts: each is started by what it says or is") {
  const script_folder f;
  const auto words = [&](const char* name) {
    const auto start = words_to_start(f / name);
    if (!start)
      return start.error().message;
    std::string all;
    for (const auto& w : *start)
      all += (w == f / name ? "ITSELF" : w) + " ";
    return all;
  };
  f.write("a.py", "print(1)\n");
  f.write("b.sh", "echo 1\n");
  f.write("c", "#!/usr/bin/env perl -w\n");
  f.write("d.py", "#!/usr/bin/python3\n");
  f.write("e");
  CHECK(words("a.py") == "python3 ITSELF ");
  CHECK(words("b.sh") == "sh ITSELF ");
  CHECK(words("c") == "/usr/bin/env perl -w ITSELF ");
  CHECK(words("d.py") == "/usr/bin/python3 ITSELF ");
  CHECK_THAT(words("e"), Contains("it cannot be started: make it executable"));
  for (const char* name : {"d.py", "e"})
    fs::permissions(f / name, fs::perms::owner_all);
  CHECK(words("d.py") == "ITSELF ");
  CHECK(words("e") == "ITSELF ");
  CHECK_THAT(words("nowhere"), Contains("cannot be read"));
}

TEST_CASE("scripts: one with line ends of Windows is named where those matter") {
  const script_folder f;
  f.write("a.sh", "echo 1\r\n");
  f.write("b.py", "#!/usr/bin/env python3\r\nprint(1)\r\n");
  const auto refused = words_to_start(f / "a.sh");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("a.sh: its lines end as on Windows"));
  // Python reads them, but the system does not find "python3\r".
  CHECK(words_to_start(f / "b.py"));
  fs::permissions(f / "b.py", fs::perms::owner_all);
  CHECK_FALSE(words_to_start(f / "b.py"));
}

TEST_CASE("scripts: one whose name cannot be printed is named, unless it is left out") {
  const script_folder f;
  f.write("train_a.sh");
  for (const char* name : {"train_\x1b[31m.sh", "train_\n.sh", "train_\xff.sh"}) {
    f.write(name);
    CHECK_THAT(f.names({}), Contains("characters in its name that cannot be printed"));
    CHECK(f.names({.exclude = {"train_[!a]*"}}) == "train_a");
    fs::remove(f / name);
  }
}

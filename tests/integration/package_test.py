"""The packages that tools/package makes, and the one that pip makes of a clone, tried in a bare Debian 12.

The program is that of this build tree. LibTorch is not downloaded again: the bare machines have that of the build, where
pip would have put it.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import bare_root

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fresh_clone

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["CLADE_BINARY"]).parents[1]
TORCH = pathlib.Path(os.environ["CLADE_TORCH_ROOT"])  # .../site-packages/torch
MADE = ROOT / "build" / "package"
QUICK = "--set evolution.population=4 --set evolution.generations=1 --set training.epochs=2 --slots 2"
CHAMPION = r"champion #\d+: validation\.accuracy"


@functools.cache
def make(kind):
    """Returns the file that tools/package makes of this build tree; once, for all tests of this process."""
    done = subprocess.run([ROOT / "tools" / "package", "--build", BUILD, kind], capture_output=True, text=True,
                          env={**os.environ, "Torch_DIR": str(TORCH / "share" / "cmake" / "Torch")})
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return pathlib.Path(done.stdout.strip())


class PackageTest(unittest.TestCase):
    """One bare machine for each test."""

    def setUp(self):
        if missing := bare_root.missing():
            self.skipTest(missing)
        folder = tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bare-")
        self.addCleanup(folder.cleanup)
        self.machine = bare_root.BareRoot(folder.name)

    def do(self, command, **options):
        done = self.machine.run(command, **options)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def bring(self, file):
        """Copies a file into the machine's /tmp."""
        folder = self.machine.path / "tmp"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
        shutil.copy(file, folder)

    def torch_in(self, environment):
        """Binds that put the build's torch where pip would have put it."""
        packages = f"{environment}/lib/python3.11/site-packages"
        info = next(TORCH.parent.glob("torch-*.dist-info"))
        return [(TORCH, f"{packages}/torch"), (info, f"{packages}/{info.name}")]


class Wheel(PackageTest):
    def test_the_wheel_needs_only_python_and_torch(self):
        wheel = make("wheel")
        self.assertRegex(wheel.name, r"^clade-[\d.]+-py3-none-manylinux_2_35_x86_64\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
        self.assertIn("Requires-Dist: torch==2.13.0", metadata)
        self.assertFalse([n for n in names if "libtorch" in n or "libc10" in n])
        self.assertTrue([n for n in names if re.fullmatch(r"clade/share/clade/licenses/libcaf-core[^/]*/copyright", n)])

        self.bring(wheel)
        self.do("python3 -m venv /opt/clade && /opt/clade/bin/pip install -q tqdm && "
                "/opt/clade/bin/pip install -q --no-deps /tmp/clade-*.whl")
        binds = self.torch_in("/opt/clade")
        experiments = "/opt/clade/lib/python3.11/site-packages/clade/share/clade/experiments"
        said = self.do(f"cd && /opt/clade/bin/clade run {experiments}/iris.toml {QUICK}", binds=binds)
        self.assertRegex(said, CHAMPION)
        code = ("import clade; run = clade.search('{0}/data/iris.csv', 'last', slots=2, progress=False, settings="
                "dict({{'evolution.population': 2, 'evolution.generations': 1, 'training.epochs': 1}})); "
                "print(run.state, len(run.predict('{0}/data/iris.csv')))").format(experiments)
        self.assertEqual(self.do(f'cd && /opt/clade/bin/python3 -c "{code}"', binds=binds), "finished 150\n")

        other = self.machine.path / "opt/clade/lib/python3.11/site-packages"
        self.do("true")
        (other / "torch-2.12.1.dist-info").mkdir()
        (other / "torch-2.12.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.12.1\n")
        refused = self.machine.run("/opt/clade/bin/clade list")
        self.assertEqual((refused.returncode, refused.stderr), (1, "clade: clade was built for torch 2.13.0, and torch "
                                                                   "2.12.1 is installed; pip install torch==2.13.0\n"))

    def test_the_images_instructions_make_a_machine_that_searches(self):
        instructions = read_dockerfile(make("image"))
        self.bring(make("wheel"))
        binds = self.torch_in("/opt/clade")
        # Given as docker build takes --build-arg: the torch that is there, and no index of PyTorch's to download it from.
        given = {"TORCH": "torch==" + binds[1][0].name.removesuffix(".dist-info").removeprefix("torch-"),
                 "TORCH_INDEX": "https://pypi.org/simple"}
        arguments, variables = {}, {}
        for word, rest in instructions:
            if word == "ARG":
                name, _, value = rest.partition("=")
                arguments[name] = given.get(name, value)
            elif word == "ENV":
                variables.update(pair.split("=", 1) for pair in rest.split())
            elif word == "RUN":
                self.do("".join(f"{k}='{v}'; " for k, v in arguments.items()) + rest, binds=binds)
            elif word == "FROM":
                self.assertEqual(rest, "debian:12-slim")
            elif word == "COPY":
                self.assertEqual(rest, "clade-*.whl /tmp/")
        entry = next(rest for word, rest in instructions if word == "ENTRYPOINT")
        self.assertEqual(entry, '["clade"]')
        experiments = "/opt/clade/lib/python3.11/site-packages/clade/share/clade/experiments"
        self.assertEqual(set(arguments), set(given))
        said = self.do(f"cd /tmp && PATH={variables['PATH']} clade run {experiments}/iris.toml {QUICK}", binds=binds)
        self.assertRegex(said, CHAMPION)


class DebianPackage(PackageTest):
    def test_the_debian_package_brings_what_it_needs(self):
        self.bring(make("deb"))
        self.do("apt-get update -q && apt-get install -y -q --no-install-recommends /tmp/clade*.deb")
        said = self.do(f"cd && clade run /usr/share/clade/experiments/iris.toml {QUICK}")
        self.assertRegex(said, CHAMPION)
        self.assertIn("Apache License", self.do("cat /usr/share/doc/clade/copyright"))


class Clone(PackageTest):
    def test_pip_builds_and_installs_a_clone(self):
        """With Debian's packages to build with, the page as it is built here, and what ccache has of this build tree."""
        clone = fresh_clone.make(ROOT, self.machine.path / "root" / "clade")
        for linked in ("venv", "node_venv"):
            (clone / "build" / linked).unlink(missing_ok=True)
        shutil.copytree(ROOT / "build" / "dashboard", clone / "build" / "dashboard")
        (clone / "build" / "dashboard" / ".built").touch()
        packages = subprocess.run(["bash", "-c", "source tools/setup; echo ${build_packages[@]}"], cwd=ROOT, check=True,
                                  capture_output=True, text=True).stdout.strip()
        self.do(f"apt-get update -q && apt-get install -y -q --no-install-recommends {packages}")

        cache = subprocess.run(["ccache", "--get-config", "cache_dir"], check=True, capture_output=True, text=True).stdout
        # LibTorch lies where the build tree has it: ccache knows files by their paths within the clone.
        binds = [*self.torch_in("/root/clade/build/venv"), (cache.strip(), "/root/.cache/ccache")]
        self.do("cd /root/clade && python3 -m venv build/venv && build/venv/bin/pip install -q scikit-build-core tqdm && "
                "CXX=c++ build/venv/bin/pip install -q --no-build-isolation --no-deps .", binds=binds)
        self.do("rm -r /root/clade/build/wheel /root/clade/tools")  # The installed program needs neither.
        said = self.do(f"cd /tmp && /root/clade/build/venv/bin/clade run /root/clade/experiments/iris.toml {QUICK}",
                       binds=binds)
        self.assertRegex(said, CHAMPION)


def read_dockerfile(file):
    """The instructions of a Dockerfile, each as its word and the rest, without comments."""
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines()]


if __name__ == "__main__":
    unittest.main()

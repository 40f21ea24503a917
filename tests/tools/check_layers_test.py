"""tools/check_layers over made-up trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers"


class CheckLayers(unittest.TestCase):
    def check(self, files):
        """Runs the check over a tree of these files; returns its exit status and its lines."""
        tree = {
            "engine/CMakeLists.txt": "# in order\nadd_subdirectory(data)\nadd_subdirectory(store)\nadd_subdirectory(training)\n",
            "genome/base/error.hpp": "#include <tl/expected.hpp>\n",
            "search_spaces/operators/shape.hpp": "",
            "engine/data/reading/split.hpp": "",
            "genome/codec/blob.hpp": "",
            "engine/training/parallel/common/y.hpp": "",
            "engine/store/run/store.hpp": "",
            "actors/transport/tls/keys.hpp": "",
            "tools/cli/base/command.hpp": "",
            "tests/support/a_candidate.hpp": "",
        }
        tree.update(files)
        with tempfile.TemporaryDirectory() as root:
            for name, text in tree.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def assert_fault(self, name, text, line):
        self.assertEqual(self.check({name: text}), (1, [line]))

    def assert_allowed(self, name, text):
        self.assertEqual(self.check({name: text}), (0, []))

    def test_each_folder_includes_itself_and_those_before_it(self):
        self.assert_allowed("genome/genes/hash.cpp", '#include "genome/base/error.hpp"\n')
        self.assert_allowed("engine/store/run/x.cpp", '#include "engine/data/reading/split.hpp"\n#include "search_spaces/operators/shape.hpp"\n')
        self.assert_allowed("tests/engine/x.cpp", '#include "tools/cli/base/command.hpp"\n#include "tests/support/a_candidate.hpp"\n')

    def test_the_engine_may_not_know_actors(self):
        self.assert_fault(
            "engine/store/run/x.cpp", '#pragma once\n\n  #  include "actors/transport/tls/keys.hpp" // why\n',
            "engine/store/run/x.cpp:3: includes actors/transport/tls/keys.hpp: engine may not know actors")

    def test_one_folder_alone_hands_the_http_library_providers(self):
        for text in ("res.set_content_provider(1, type, f);\n", "res.set_chunked_content_provider(type, f);\n",
                     "  httplib::Server server;\n", "std::make_unique<httplib::SSLServer>(c, k);\n"):
            self.assert_allowed("tools/http/x.cpp", text)
            self.assert_allowed("tests/tools/x.cpp", text)
            code, lines = self.check({"tools/queue/head/x.cpp": text})
            self.assertEqual((code, len(lines)), (1, 1))
            self.assertIn("as tools/http/ alone may", lines[0])
        self.assert_allowed("tools/queue/head/x.cpp", "void add_routes(httplib::Server& server);\n")

    def test_no_product_code_knows_the_tests(self):
        self.assert_fault(
            "tools/cli/run/x.cpp", '#include "tests/support/a_candidate.hpp"\n',
            "tools/cli/run/x.cpp:1: includes tests/support/a_candidate.hpp: tools may not know tests")

    def test_within_engine_the_order_is_that_of_its_cmake_file(self):
        self.assert_fault(
            "engine/data/reading/x.hpp", '#include "engine/store/run/store.hpp"\n',
            "engine/data/reading/x.hpp:1: includes engine/store/run/store.hpp: engine/data may not know engine/store")

    def test_a_folder_of_engine_that_is_not_built_has_no_place(self):
        self.assert_fault(
            "engine/helpers/x.cpp", '#include "genome/base/error.hpp"\n',
            "engine/helpers/x.cpp:1: includes genome/base/error.hpp: engine/helpers has no place in the order of the layers")

    def test_some_folders_have_an_order_of_their_own(self):
        self.assert_allowed("actors/node/x.cpp", '#include "actors/transport/tls/keys.hpp"\n')
        self.assert_fault(
            "actors/messages/x.cpp", '#include "actors/transport/tls/keys.hpp"\n',
            "actors/messages/x.cpp:1: includes actors/transport/tls/keys.hpp: actors/messages may not know actors/transport")
        self.assert_fault(
            "actors/x.cpp", '#include "genome/base/error.hpp"\n',
            "actors/x.cpp:1: includes genome/base/error.hpp: actors has no place in the order of the layers")

    def test_rooms_of_a_folder_have_an_order(self):
        self.assert_fault(
            "genome/base/x.hpp", '#include "genome/codec/blob.hpp"\n',
            "genome/base/x.hpp:1: includes genome/codec/blob.hpp: genome/base may not know genome/codec")
        self.assert_allowed("engine/training/parallel/replica/x.cpp", '#include "engine/training/parallel/common/y.hpp"\n')
        self.assert_fault(
            "engine/training/loop/x.cpp", '#include "engine/training/parallel/common/y.hpp"\n',
            "engine/training/loop/x.cpp:1: includes engine/training/parallel/common/y.hpp: engine/training/loop may not know engine/training/parallel")

    def test_a_folder_has_so_many_sources_at_most_but_for_tests(self):
        some = {f"genome/genes/x{i}.cpp": "" for i in range(25)}
        self.assertEqual(self.check(some), (0, []))
        self.assertEqual(self.check({**some, "genome/genes/one_more.hpp": ""}),
                         (1, ["genome/genes: 26 source files; with more than 25 it is divided into rooms"]))
        self.assertEqual(self.check({f"tests/x{i}.cpp": "" for i in range(26)}), (0, []))

    def test_paths_start_at_the_repository_s_root(self):
        self.assert_fault(
            "genome/base/x.cpp", '#include "error.hpp"\n',
            "genome/base/x.cpp:1: includes error.hpp: not a file's path from the repository's root")
        self.assert_fault(
            "genome/base/x.cpp", '#include "genome/base/gone.hpp"\n',
            "genome/base/x.cpp:1: includes genome/base/gone.hpp: not a file's path from the repository's root")

    def test_each_third_party_library_has_one_home(self):
        homes = {
            "msgpack.hpp": "genome/base/x.cpp", "Random123/philox.h": "genome/base/x.cpp", "xxhash.h": "genome/base/x.cpp",
            "toml++/toml.h": "search_spaces/files/x.cpp", "zlib.h": "engine/data/formats/x.cpp",
            "SQLiteCpp/SQLiteCpp.h": "engine/store/run/x.cpp", "sqlite3.h": "engine/store/run/x.cpp",
            "torch/torch.h": "engine/training/loop/x.cpp", "ATen/Parallel.h": "engine/training/parallel/common/x.cpp",
            "c10/util/Exception.h": "engine/training/loop/x.cpp", "caf/all.hpp": "actors/x.cpp",
            "openssl/x509.h": "actors/transport/tls/keys_files.cpp", "CLI/CLI.hpp": "tools/x.cpp",
            "catch2/catch.hpp": "tests/x.cpp", "rapidcheck.h": "tests/x.cpp",
        }
        strangers = ["genome/base/y.cpp", "search_spaces/files/y.cpp", "engine/data/formats/y.cpp", "engine/store/run/y.cpp",
                     "engine/training/loop/y.cpp", "actors/y.cpp", "tools/y.cpp"]
        for header, home in homes.items():
            with self.subTest(header=header):
                self.assert_allowed(home, f"#include <{header}>\n")
                files = {name: f"#include <{header}>\n" for name in strangers}
                status, lines = self.check(files)
                folder = "/".join(home.split("/")[:-1][:2])
                at_home = [name for name in strangers if name.startswith(folder + "/")]
                self.assertEqual(status, 1)
                self.assertEqual(sorted(line.split(":")[0] for line in lines), sorted(set(strangers) - set(at_home)))

    def test_tools_reach_caf_through_actors_alone(self):
        self.assert_fault(
            "tools/cli/run/run.cpp", "#include <caf/all.hpp>\n",
            "tools/cli/run/run.cpp:1: includes caf/all.hpp: CAF is known to actors only")

    def test_quotes_do_not_hide_a_third_party_header(self):
        self.assert_fault(
            "genome/base/x.cpp", '#include "torch/torch.h"\n',
            "genome/base/x.cpp:1: includes torch/torch.h: LibTorch is known to engine/export/torch and engine/program/kernels and engine/training only")

    def test_a_library_without_a_home_is_refused(self):
        self.assert_fault(
            "genome/base/x.cpp", "#include <spdlog/spdlog.h>\n",
            "genome/base/x.cpp:1: includes spdlog/spdlog.h: no library's home in tools/check_layers names this header")

    def test_the_language_and_the_system_are_everybody_s(self):
        self.assert_allowed("genome/base/x.cpp", "#include <vector>\n#include <sys/mman.h>\n#include <unistd.h>\n#include <cmath>\n")

    def test_a_test_may_look_at_what_it_tests(self):
        self.assert_allowed("tests/engine/store/run/x.cpp", "#include <sqlite3.h>\n#include <caf/all.hpp>\n")


if __name__ == "__main__":
    unittest.main()

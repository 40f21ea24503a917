"""Bad input: one line with the file, the line where there is one, and what is wrong; status 2; nothing made."""

import gzip
import io
import pathlib
import struct
import unittest
import zipfile

from live_runs import CLADE, SMALL_SPACE, RunTest

SYNTHETIC = {
    1: "[experiment]",
    2: 'name = "toy"',
    3: 'fitness = "synthetic"',
    4: "[data]",
    5: "shape = [1, 8, 8]",
    6: "classes = 10",
    7: "[search_space]",
    8: f'file = "{SMALL_SPACE}"',
    9: "[evolution]",
    10: "population = 4",
    11: "generations = 2",
    12: "[limits]",
    13: "[synthetic]",
}

DENSE_SPACE = "[operators.dense]\nunits = [16]\n"


class BadInputTest(RunTest):
    def assert_refused(self, *parts, words=(), file="toy.toml"):
        command = self.finish("run", self.folder / file, *words, status=2)
        self.assertEqual(command.out, "")
        self.assertTrue(command.err.startswith("clade: "), command.err)
        self.assertEqual(command.err.count("\n"), 1, command.err)
        self.assertTrue(command.err.endswith("\n"))
        for part in parts:
            self.assertIn(part, command.err)
        self.assertFalse(self.runs.exists(), "something was made")

    def write(self, name, content):
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def check_table(self, table, check):
        for name, *row in table:
            with self.subTest(name):
                check(*row)


class Experiments(BadInputTest):
    TABLE = [
        ("broken TOML", 10, "population = ", "toy.toml:10: "),
        ("an unknown key", 10, "populaton = 4",
         'toy.toml:10: unknown key "populaton" in [evolution]; did you mean "population"?'),
        ("an unknown table", 9, "[evolutoin]", 'toy.toml:9: unknown key "evolutoin"; did you mean "evolution"?'),
        ("a key twice", 11, "population = 5", "toy.toml:11: "),
        ("a population of nobody", 10, "population = 0", "toy.toml:10: evolution.population is 0"),
        ("a number that is a word", 10, 'population = "many"', "toy.toml:10: evolution.population"),
        ("a number below zero", 11, "generations = -1", "toy.toml:11: evolution.generations"),
        ("a number beyond all", 10, "population = 99999999999999999999", "toy.toml:10: "),
        ("no class", 6, "classes = 0", "toy.toml:6: data.classes"),
        ("a shape that the space does not take", 5, "shape = [64]", "toy.toml:5: data.shape is [64], but"),
        ("a shape without room", 5, "shape = [1, 0, 8]", "toy.toml:5: "),
        ("a space that is not there", 8, 'file = "none.toml"', "toy.toml:8: search_space.file: "),
        ("a name that leads elsewhere", 2, 'name = "../toy"', "toy.toml:2: experiment.name"),
        ("an unknown fitness", 3, 'fitness = "sythetic"', 'toy.toml:3: '),
        ("an unknown strategy", 11, 'strategy = "generatonal"', "toy.toml:11: "),
        ("a share above one", 13, "[synthetic]\ncrash = 2.0", "toy.toml:14: synthetic.crash"),
        ("a time without a unit that is one", 12, '[limits]\nevaluation_time = "5 parsecs"',
         "toy.toml:13: limits.evaluation_time"),
        ("a size without a unit that is one", 12, '[limits]\nevaluation_memory = "5 cows"',
         "toy.toml:13: limits.evaluation_memory"),
        ("no slots", 13, '[slots]\nlocal = "what"', "toy.toml:14: "),
        ("bytes that are no text", 2, "name = \"\udcff\"", "toy.toml:2: "),
    ]

    def check(self, line, text, part):
        lines = {**SYNTHETIC, line: text}
        content = "\n".join(lines[n] for n in sorted(lines)) + "\n"
        self.write("toy.toml", content.encode(errors="surrogateescape"))
        self.assert_refused(part)

    def test_what_is_wrong_is_said_with_its_line(self):
        self.check_table(self.TABLE, self.check)

    def test_the_table_begins_with_an_experiment_that_runs(self):
        self.write("toy.toml", "\n".join(SYNTHETIC.values()))
        self.finish("run", self.folder / "toy.toml", "--slots", "1")

    def test_a_file_that_is_none(self):
        self.assert_refused("nowhere.toml: no such file", file="nowhere.toml")
        (self.folder / "folder.toml").mkdir()
        self.assert_refused("folder.toml: is a folder", file="folder.toml")
        self.write("empty.toml", "")
        self.assert_refused("empty.toml:1: data.file is missing", file="empty.toml")
        self.write("noise.toml", bytes(range(256)) * 4)
        self.assert_refused("noise.toml:1: ", file="noise.toml")

    def test_what_is_said_on_the_command_line(self):
        self.write("toy.toml", "\n".join(SYNTHETIC.values()))
        for words, part in [
                (["--set", "evolution.populaton=3"], '--set evolution.populaton: unknown key "populaton"'),
                (["--set", "evolution.population=zero"], "--set evolution.population must be "),
                (["--set", "population"], "--set population"),
                (["--sedd", "1"], "clade run: it has no option --sedd; did you mean --seed?"),
                (["--generations", "3"], "it has no option --generations; write --set evolution.generations=3"),
                (["--population=6"], "write --set evolution.population=6"),
                (["toy2.toml"], 'clade run: it takes no "toy2.toml"'),
                (["--seed", "minus"], "--seed"),
                (["--minutes", "abc"], "--minutes: must be a number from 0.001 to 1000000, not \"abc\""),
                (["--set", "training.lr=0.1"], 'did you mean "learning_rate"?'),
        ]:
            with self.subTest(words):
                self.assert_refused(part, words=words)

    def test_a_value_that_is_none_and_a_word_that_is_missing(self):
        for words, said in [
                (["submit", "--priority", "high", "--", "true"], '--priority must be a whole number, not "high"'),
                (["submit", "--slots", "two", "--", "true"], '--slots must be a whole number, not "two"'),
                (["submit"], "WHAT is missing: An experiment file, NAME.toml, to be run; or, behind --, a program"),
        ]:
            with self.subTest(words):
                self.assertEqual(self.finish(*words, status=2).err, f"clade: clade {words[0]}: {said}; "
                                 f"clade {words[0]} --help says what may be written\n")
        self.assertEqual(self.finish("submit", "nowhere.toml", status=2).err,
                         "clade: nowhere.toml: there is no such file\n")

    def test_a_command_that_is_none(self):
        command = self.finish("rnu", status=2)
        self.assertEqual(command.err, 'clade: no command "rnu"; did you mean "clade run"?\n')


class Spaces(BadInputTest):
    TABLE = [
        ("nothing in it", "", "space.toml:1: the space is empty"),
        ("no operators", "image = true\n", "space.toml:1: the space is empty"),
        ("broken TOML", "[operators.dense\nunits = [16]\n", "space.toml:1: the name of a section stands in brackets"),
        ("an unknown operator", "[operators.dens]\nunits = [16]\n",
         'space.toml:1: unknown operator "dens"; did you mean "dense"?'),
        ("an unknown setting", "[operators.dense]\nunit = [16]\n",
         'space.toml:2: unknown key "unit" in operators.dense; did you mean "units"?'),
        ("an unknown limit", DENSE_SPACE + "[limits]\nmax_node = 3\n", "space.toml:4: "),
        ("no choice", "[operators.dense]\nunits = []\n", "space.toml:2: operators.dense.units is an empty list"),
        ("a width below zero", "[operators.dense]\nunits = [16, -3]\n", "space.toml:2: operators.dense.units is -3"),
        ("a range the wrong way round", "[operators.dropout]\nrate = { low = 0.5, high = 0.1 }\n", "space.toml:2: "),
        ("no network fits", "[limits]\nmax_parameters = 10\n" + DENSE_SPACE,
         "toy.toml:8: ", "/space.toml: no valid network fits examples of shape [1, 8, 8]"),
        ("it includes itself", 'include = ["space.toml"]\n' + DENSE_SPACE, 'space.toml:1: include "space.toml": '),
        ("it includes nothing", 'include = ["none.toml"]\n' + DENSE_SPACE, "space.toml:1: "),
    ]

    def check(self, space, *parts):
        lines = {**SYNTHETIC, 8: 'file = "space.toml"'}
        self.write("toy.toml", "\n".join(lines[n] for n in sorted(lines)))
        self.write("space.toml", space)
        self.assert_refused(*parts)

    def test_what_is_wrong_is_said_with_its_line(self):
        self.check_table(self.TABLE, self.check)


def idx(kind, *sizes):
    return struct.pack(f">BBBB{len(sizes)}I", 0, 0, kind, len(sizes), *sizes)


def npz():
    """x of [4, 2] and y of [4], as numpy.savez writes them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, kind, shape, values in [("x", "<f4", "(4, 2)", struct.pack("<8f", *range(8))),
                                          ("y", "|u1", "(4,)", bytes([0, 1, 0, 1]))]:
            header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values)
    return out.getvalue()


def damaged(content):
    """Another byte in the middle of x's values."""
    at = content.index(struct.pack("<f", 5))
    return content[:at] + b"\xff" + content[at + 1:]


class Data(BadInputTest):
    """The experiment is read before anything is made, also where nothing could be trained."""

    TABLE = [
        ("no file", "", {}, "d.csv: no such file"),
        ("an empty file", "", {"d.csv": ""}, "d.csv: is empty"),
        ("a column too few", "", {"d.csv": "1,2,a\n1,2\n"}, "d.csv:2: 2 columns, where line 1 has 3"),
        ("a column too many", "", {"d.csv": "1,2,a\n3,4,b\n1,2,3,a\n"}, "d.csv:3: 4 columns, where line 1 has 3"),
        ("text where a number must be", 'columns = {2 = "number"}', {"d.csv": "1,2,a\n1,2,b\n1,x,b\n"}, "d.csv:3: "),
        ("NaN", 'blanks = "refuse"', {"d.csv": "1,2,a\n1,2,b\n1,nan,b\n"}, "d.csv:3: "),
        ("an infinite number", "", {"d.csv": "1,2,a\n1,2,b\n1,inf,b\n"}, "d.csv:3: "),
        ("a blank", 'blanks = "refuse"', {"d.csv": "1,2,a\n1,2,b\n1,,b\n"}, "d.csv:3: "),
        ("a class with one member", "", {"d.csv": "1,2,a\n" * 20 + "1,2,b\n"}, "d.csv"),
        ("a target that is not there", 'target = "nope"', {"d.csv": "x,y,z\n1,2,a\n"}, '"nope"'),
        ("a shape that the columns do not fill", "shape = [1, 8, 8]", {"d.csv": "1,3,a\n1,2,b\n" * 9}, "64"),
        ("gzip that was cut off", 'file = "d.csv.gz"', {"d.csv.gz": gzip.compress(b"1,2,a\n1,2,b\n" * 999, mtime=0)[:60]},
         "d.csv.gz: byte 60: "),
        ("a .npy that was cut off", 'file = "d.npy"\ntarget_file = "t.npy"', {"d.npy": b"\x93NUMPY\x01\x00\x76\x00{'descr"},
         "d.npy"),
        ("an array that is not in the .npz", 'file = "d.npz"\narray = "x"\ntarget_array = "z"', {"d.npz": npz()},
         'd.npz: no array is "z", the target_array; there are "x", "y"'),
        ("a .npz of two arrays", 'file = "d.npz"', {"d.npz": npz()},
         'd.npz: say which array is meant, array = "x"; there are "x", "y"'),
        ("a .npz that was cut off", 'file = "d.npz"\narray = "x"', {"d.npz": npz()[:-9]},
         "d.npz: no .npz archive that ends where it must"),
        ("a .npz that was damaged", 'file = "d.npz"\narray = "x"\ntarget_array = "y"', {"d.npz": damaged(npz())},
         "d.npz: x.npy: the zip data is damaged"),
        ("an array of what is no .npz", 'file = "d.csv"\narray = "x"', {"d.csv": "1,2,a\n"},
         "d.csv: is no .npz archive; remove array"),
        ("IDX that was cut off", 'file = "d-idx3-ubyte"\ntarget_file = "t-idx1-ubyte"',
         {"d-idx3-ubyte": idx(8, 10, 8, 8) + bytes(100), "t-idx1-ubyte": idx(8, 10) + bytes(10)}, "d-idx3-ubyte"),
    ]

    def check(self, keys, files, part):
        for name in ("d.csv", "d.csv.gz", "d.npy", "d.npz", "d-idx3-ubyte", "t-idx1-ubyte"):
            (self.folder / name).unlink(missing_ok=True)
        for name, content in files.items():
            self.write(name, content)
        self.write("space.toml", DENSE_SPACE)
        named = keys if "file =" in keys else 'file = "d.csv"\n' + keys
        self.write("toy.toml", f'[experiment]\nname = "toy"\n[data]\n{named}\n[search_space]\nfile = "space.toml"\n')
        self.assert_refused(part)

    def test_what_is_wrong_is_said_with_its_place(self):
        self.check_table(self.TABLE, self.check)


class NoLibTorch(BadInputTest):
    @unittest.skipIf((pathlib.Path(CLADE).parent / "libclade_training.so").exists(), "this build has LibTorch")
    def test_a_build_that_cannot_train_makes_nothing(self):
        self.write("d.csv", "1,2,a\n3,4,b\n" * 20)
        self.write("space.toml", DENSE_SPACE)
        self.write("toy.toml", '[experiment]\nname = "toy"\n[data]\nfile = "d.csv"\n[search_space]\nfile = "space.toml"\n')
        self.assert_refused("this build has no LibTorch: ", "configure with -DCLADE_TORCH=ON and build again")


if __name__ == "__main__":
    unittest.main()

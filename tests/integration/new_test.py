"""clade new: data in the forms in which people find it becomes an experiment that runs, without a word of theirs."""

import gzip
import json
import random
import struct
import tomllib
import unittest

from live_runs import RunTest


def rows(count, row, separator=","):
    """So many lines; `row` makes the fields of one from random numbers that are always the same."""
    numbers = random.Random(7)
    return "".join(separator.join(str(field) for field in row(numbers, i)) + "\n" for i in range(count))


def adult(numbers, _):
    sex = numbers.choice(["Male", "Female"])
    return (numbers.randrange(17, 90), numbers.choice(["Private", "State-gov", "?"]), numbers.randrange(10**4, 10**6),
            numbers.choice(["Bachelors", "HS-grad"]), sex, numbers.choice(["United-States", "Cuba", "?"]),
            numbers.choice([">50K", "<=50K", "<=50K"]))


def iris(numbers, i):
    return (*(round(numbers.uniform(0.1, 8), 1) for _ in range(4)), i % 3)


def wine(numbers, i):
    return (*(round(numbers.uniform(1, 30), 2) for _ in range(13)), i * 3 // 178)


def digits(numbers, _):
    return (*(numbers.randrange(17) for _ in range(64)), numbers.randrange(10))


def housing(numbers, _):
    return (round(numbers.uniform(-124, -114), 2), round(numbers.uniform(32, 42), 2), float(numbers.randrange(1, 52)),
            numbers.choice(["", float(numbers.randrange(1, 6000))]), float(numbers.randrange(15000, 500001)),
            numbers.choice(["NEAR BAY", "INLAND", "<1H OCEAN"]))


def churn(numbers, i):
    return (f"C{i:04}", numbers.choice(["", "NA", numbers.randrange(18, 80)]), numbers.choice(["", "basic", "gold"]),
            numbers.choice(["Zürich", "Łódź", "Bern"]), numbers.choice(["True", "False"]),
            f"2024-{numbers.randrange(1, 13):02}-{numbers.randrange(1, 29):02}", numbers.choice(["yes", "no"]))


def idx(sizes, values):
    return b"\0\0\x08" + bytes([len(sizes)]) + b"".join(struct.pack(">I", n) for n in sizes) + bytes(values)


class NewTest(RunTest):
    def write(self, name, content):
        content = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    def new(self, name, *words, status=0):
        """The profile that is printed, and the experiment that is written."""
        file = self.folder / "made.toml"
        command = self.finish("new", self.folder / name, "--output", file, "--force", "--json", *words, status=status)
        lines = command.out.splitlines()
        self.assertEqual(len(lines), 1, command.out)
        profile = json.loads(lines[0])
        self.assertEqual(profile["event"], "profile")
        return profile, tomllib.loads(file.read_text())


class Files(NewTest):
    # name, content, task, classes, target in the experiment, space
    TABLE = [
        ("adult.data.gz", rows(300, adult, ", ") + "\n", "classification", {">50K", "<=50K"}, "7", "tabular"),
        ("iris.csv", "150,4,setosa,versicolor,virginica\n" + rows(150, iris), "classification",
         {"setosa", "versicolor", "virginica"}, "5", "tabular"),
        ("wine_data.csv", "178,13,class_0,class_1,class_2\n" + rows(178, wine), "classification",
         {"class_0", "class_1", "class_2"}, "14", "tabular"),
        ("digits.csv.gz", rows(200, digits), "classification", set("0123456789"), "65", "tabular"),
        ("housing.csv.gz", "longitude,latitude,age,total_bedrooms,median_house_value,ocean_proximity\n"
         + rows(200, housing), "regression", set(), "median_house_value", "tabular"),
        ("churn.csv", "customer,age,plan,city,active,signup,churned\n" + rows(300, churn), "classification",
         {"yes", "no"}, "churned", "tabular"),
        ("batch.bin.gz", b"".join(bytes([i % 10]) + bytes(3072) for i in range(60)), "classification",
         set("0123456789"), None, "residual"),
    ]

    def test_the_usual_tables_and_pictures_need_no_word(self):
        for name, content, task, classes, target, space in self.TABLE:
            with self.subTest(name):
                self.write(name, content)
                profile, experiment = self.new(name)
                self.assertEqual(profile["task"], task)
                self.assertEqual(set(profile["classes"]), classes)
                self.assertEqual(experiment["data"].get("target"), target)
                self.assertEqual(experiment["data"]["task"], task)
                self.assertEqual(experiment["search_space"]["file"], space)

    def test_labels_and_a_test_set_are_found_beside_images(self):
        self.write("train-images-idx3-ubyte.gz", idx([60, 8, 8], [i % 251 for i in range(60 * 64)]))
        self.write("train-labels-idx1-ubyte.gz", idx([60], [i % 3 for i in range(60)]))
        self.write("t10k-images-idx3-ubyte.gz", idx([12, 8, 8], [i % 241 for i in range(12 * 64)]))
        self.write("t10k-labels-idx1-ubyte.gz", idx([12], [i % 3 for i in range(12)]))
        profile, experiment = self.new("train-images-idx3-ubyte.gz")
        self.assertEqual(profile["shape"], [1, 8, 8])
        self.assertEqual(experiment["data"]["target_file"], "train-labels-idx1-ubyte.gz")
        self.assertEqual(experiment["data"]["test_target_file"], "t10k-labels-idx1-ubyte.gz")

    def test_the_channels_of_an_array_are_found_or_asked_for(self):
        def npy(sizes):
            head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {sizes}}}\n".encode()
            count = sizes[0] * sizes[1] * sizes[2] * sizes[3]
            return (b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head
                    + bytes(i % 251 for i in range(count)))
        self.write("labels-idx1-ubyte", idx([60], [i % 3 for i in range(60)]))
        for sizes, layout in (((60, 6, 5, 3), "channels_last"), ((60, 3, 6, 5), "channels_first")):
            self.write("images.npy", npy(sizes))
            profile, experiment = self.new("images.npy", "--target", self.folder / "labels-idx1-ubyte")
            self.assertEqual(profile["shape"], [3, 6, 5])
            self.assertEqual(profile["layout"], layout)
            self.assertEqual(experiment["data"]["layout"], layout)
        self.write("images.npy", npy((60, 6, 6, 6)))
        words = ("new", self.folder / "images.npy", "--target", self.folder / "labels-idx1-ubyte", "--force",
                 "--output", self.folder / "made.toml")
        asked = self.finish(*words, status=2)
        self.assertIn("nothing says which of the sizes are the channels", asked.err)
        self.assertIn("--layout channels_last", asked.err)
        self.finish(*words, "--layout", "channels_last")
        self.assertIn('layout = "channels_last"', (self.folder / "made.toml").read_text())

    def test_a_table_of_hundreds_of_columns_runs_without_the_seeds_that_it_makes_too_large(self):
        self.write("genes.csv", ",".join(f"g{i}" for i in range(300)) + ",label\n" + rows(
            60, lambda numbers, i: (*(round(numbers.random(), 3) for _ in range(300)), "xy"[i % 2])))
        self.new("genes.csv")
        (self.folder / "file.toml").write_text('[data]\nfile = "genes.csv"\n[evolution]\npopulation = 4\n')
        plan = json.loads(self.finish("plan", self.folder / "file.toml", "--json").out)
        self.assertTrue(any(line.startswith("the seed piecewise is left out, as it does not fit: ")
                            for line in plan["data"]), plan["data"])

    def test_columns_are_what_they_look_like(self):
        self.write("churn.csv", "customer,age,plan,city,active,signup,churned\n" + rows(300, churn))
        profile, experiment = self.new("churn.csv")
        self.assertEqual(experiment["data"]["columns"],
                         {"customer": "ignore", "age": "number", "plan": "category", "city": "category",
                          "active": "yes_no", "signup": "date"})
        by_name = {column["name"]: column for column in profile["columns"]}
        self.assertEqual(by_name["customer"]["reason"], "identifier")
        self.assertEqual(by_name["churned"]["use"], "target")
        self.assertGreater(by_name["age"]["blanks"], 0)


class Words(NewTest):
    def test_data_and_experiments_are_told_apart(self):
        self.write("churn.csv", "customer,age,plan,city,active,signup,churned\n" + rows(30, churn))
        command = self.finish("run", self.folder / "churn.csv", status=2)
        self.assertIn("churn.csv: this is data, not an experiment; `clade new ", command.err)

    def test_a_kind_that_is_not_read_is_named_to_all_who_name_it(self):
        self.write("d.csv", b"\x89HDF\r\n\x1a\n\0\0")
        (self.folder / "of.toml").write_text('[data]\nfile = "d.csv"\n')
        for words in (("new", self.folder / "d.csv"), ("run", self.folder / "d.csv"), ("plan", self.folder / "d.csv"),
                      ("run", self.folder / "of.toml"), ("plan", self.folder / "of.toml")):
            with self.subTest(words):
                self.assertIn("d.csv: is an HDF5 file, which is not read; save its table as CSV",
                              self.finish(*words, status=2).err)

    def test_an_experiment_that_is_there_stays(self):
        self.write("d.csv", "a,label\n" + rows(40, lambda numbers, i: (numbers.random(), "xy"[i % 2])))
        made = self.folder / "d.toml"
        made.write_text("mine")
        command = self.finish("new", self.folder / "d.csv", "--output", made, status=2)
        self.assertIn("d.toml: is there already; --force writes over it", command.err)
        self.assertEqual(made.read_text(), "mine")

    def test_what_nothing_points_to_is_asked_for(self):
        self.write("d.csv", "price,score,note\n" + rows(40, lambda n, i: (n.random(), n.random(), f"text {i} of many")))
        command = self.finish("new", self.folder / "d.csv", "--output", self.folder / "d.toml", status=2)
        self.assertIn('--target COLUMN, such as "price", "score"', command.err)
        self.assertFalse((self.folder / "d.toml").exists())

    def test_what_is_run_at_once_has_what_is_left_of_the_minutes(self):
        self.write("d.csv", "a,label\n" + rows(60, lambda numbers, i: (numbers.random(), "xy"[i % 2])))
        made = self.folder / "d.toml"
        self.finish("new", self.folder / "d.csv", "--output", made, "--minutes", "0.2")
        self.assertEqual(tomllib.loads(made.read_text())["limits"]["wall_time"], "12s")
        self.finish("new", self.folder / "d.csv", "--output", made, "--force", "--run", "--minutes", "0.2")
        left = tomllib.loads(made.read_text())["limits"]["wall_time"]
        self.assertIn(left, [f"{seconds}s" for seconds in range(1, 12)])

    def test_people_read_what_was_seen(self):
        self.write("churn.csv", "customer,age,plan,city,active,signup,churned\n" + rows(300, churn))
        out = self.finish("new", self.folder / "churn.csv", "--output", self.folder / "c.toml").out
        for part in ["300 rows, 7 columns", "left out: almost every row has a value of its own", "guessed from its name",
                     "classification, 2 classes: ", "each part has its share of each class", "clade run "]:
            self.assertIn(part, out)


if __name__ == "__main__":
    unittest.main()

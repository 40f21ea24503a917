"""The coal burners of EXAMM as tables: a row has the last steps of all columns, and the flame of the next step.

    experiments/peers/coal_lags.py FOLDER_OF_BURNERS TO [--steps 4] [--arrays [--every 1]]

writes TO/train.csv (burners 0 to 9) and TO/test.csv (10 and 11), and prints what the last value is off by on the test.
With --arrays (which wants NumPy) it writes TO/train.npz and TO/test.npz: x is [rows, steps, 12], the oldest step first;
of the rows to learn from those alone that --every says.
The folder has the files burner_0.csv.gz to burner_11.csv.gz of https://github.com/travisdesell/exact, datasets/2018_coal.
"""

import argparse
import csv
import gzip
import pathlib

TARGET = "Main_Flm_Int"


def burner(folder, number):
    with gzip.open(folder / f"burner_{number}.csv.gz", "rt", newline="") as file:
        names, *rows = [row for row in csv.reader(file) if row]
    return names, rows


def write(folder, to, numbers, steps):
    """Returns the squared errors of the last value, and how many they are."""
    squares = count = 0
    with to.open("w", newline="") as file:
        out = csv.writer(file)
        for number in numbers:
            names, rows = burner(folder, number)
            flame = names.index(TARGET)
            if number == numbers[0]:
                out.writerow(["burner", *(f"{name}_{k}" for k in range(steps) for name in names), "next"])
            for t in range(steps - 1, len(rows) - 1):
                out.writerow([f"b{number}", *(v for k in range(steps) for v in rows[t - k]), rows[t + 1][flame]])
                squares += (float(rows[t + 1][flame]) - float(rows[t][flame])) ** 2
                count += 1
    return squares, count


def write_arrays(folder, to, numbers, steps, every=1):
    import numpy as np

    x, y = [], []
    for number in numbers:
        names, rows = burner(folder, number)
        values = np.array(rows, dtype=np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(values, steps, axis=0)[:-1]
        x.append(windows.transpose(0, 2, 1)[::every])
        y.append(values[steps::every, names.index(TARGET)])
    np.savez(to, x=np.concatenate(x), y=np.concatenate(y))


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("to", type=pathlib.Path)
    words.add_argument("--steps", type=int, default=4)
    words.add_argument("--arrays", action="store_true")
    words.add_argument("--every", type=int, default=1)
    given = words.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    write(given.folder, given.to / "train.csv", list(range(10)), given.steps)
    squares, count = write(given.folder, given.to / "test.csv", [10, 11], given.steps)
    if given.arrays:
        write_arrays(given.folder, given.to / "train.npz", list(range(10)), given.steps, given.every)
        write_arrays(given.folder, given.to / "test.npz", [10, 11], given.steps)
    print(f"the last value: mean squared error {squares / count:.6f} of {count:,} steps")


if __name__ == "__main__":
    main()

"""Runs the commands that a README says can be run: its fenced blocks whose opening line is ```sh run.

usage: readme_test.py README.md [--list]

A fence's second word is not displayed, so a page marks a block without showing it. Blocks run in the order of
the page, each as one `bash -euo pipefail`, in a scratch folder that has links to all that is in the page's folder:
so a command finds tools/ and experiments/ as the page says, and what it writes is gone afterwards. A line that
is followed by `#=> TEXT` in its block promises that the block's output contains TEXT. The first block that
fails, or breaks a promise, ends the test with status 1; so does a page without such a block.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```sh run[ ]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """Of each runnable block: its line in the page and its text."""
    return [(page.count("\n", 0, found.start(1)) + 1, found[1]) for found in FENCE.finditer(page)]


def promises_of(block):
    return re.findall(r"#=> (.*\S)", block)


def scratch_links(source, scratch):
    for entry in source.iterdir():
        if entry.name not in {"build", "runs", ".git"}:
            (scratch / entry.name).symlink_to(entry)


def fault_of(block, scratch):
    """Runs a block; returns what is wrong with what it did, or None."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=scratch, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        return f"ended with status {done.returncode}"
    for promise in promises_of(block):
        if promise not in done.stdout:
            return f"did not print: {promise}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the blocks and run nothing")
    options = parser.parse_args()
    page = options.page.resolve()
    blocks = blocks_of(page.read_text())
    if not blocks:
        print(f"{options.page}: no block opens with ```sh run")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        scratch_links(page.parent, pathlib.Path(scratch))
        for line, block in blocks:
            print(f"{options.page}:{line}:\n{block}", end="", flush=True)
            fault = None if options.list else fault_of(block, scratch)
            if fault:
                print(f"{options.page}:{line}: {fault}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

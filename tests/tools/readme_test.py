"""Runs the commands that a README tells its reader to type, as far as a test can.

usage: readme_test.py README.md [--fresh] [--list]

Blocks whose fence is ```sh run are run in the order of the page, each as one `bash -euo pipefail`. A fence's second
word is not displayed, so a page marks a block without showing it. A line that is followed by `#=> TEXT` in its block
promises that the block's output contains TEXT. Then the lines of indented blocks that begin with tools/clade (or with
tests/tools's made-up programs): readme_commands.py says which are run, which are run with a short search in place of a
long one, and of which only the command and its options are looked up in its help.

All run in a scratch folder that has links to all that is in the page's folder: so a command finds tools/ and
experiments/ as the page says, and what it writes is gone afterwards. With --fresh the page's folder is cloned first,
and nothing was ever called in the clone: what a stranger's first command does not build is missed. The first command
that fails, or breaks a promise, ends the test with status 1; so does a page without a block to run.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import fresh_clone
import readme_commands

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


def commands_of(page):
    """Of each command in an indented block: its line in the page and its text."""
    fences = [range(found.start(), found.end()) for found in re.finditer(r"^```.*?^```", page, re.MULTILINE | re.DOTALL)]
    return [(page.count("\n", 0, found.start()) + 1, found[1])
            for found in re.finditer(r"^    (tools/clade .*?)(?:\s+#.*)?$", page, re.MULTILINE)
            if not any(found.start() in fence for fence in fences)]


def fault_of_page(page, scratch):
    """Runs all that the page says; returns the line of the first fault and what it is, or None."""
    text = page.read_text()
    known = readme_commands.Known(scratch)
    for line, block in blocks_of(text):
        print(f"{page}:{line}:\n{block}", end="", flush=True)
        fault = fault_of(block, scratch)
        if fault:
            return line, fault
        known.add(block)
    for line, command in commands_of(text):
        how, script = known.script_for(command)
        print(f"{page}:{line}: {command}\n{how}: {script}", flush=True)
        fault = fault_of(script, scratch)
        if fault:
            return line, fault
        known.add(script)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--fresh", action="store_true", help="in a clone that was just made")
    parser.add_argument("--list", action="store_true", help="print the blocks and run nothing")
    options = parser.parse_args()
    page = options.page.resolve()
    blocks = blocks_of(page.read_text())
    if not blocks:
        print(f"{options.page}: no block opens with ```sh run")
        return 1
    if options.list:
        for line, block in blocks:
            print(f"{options.page}:{line}:\n{block}", end="")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder, "scratch")
        scratch.mkdir()
        if options.fresh:
            page = fresh_clone.make(page.parent, pathlib.Path(folder, "clone")) / page.name
        scratch_links(page.parent, scratch)
        fault = fault_of_page(page, scratch)
    if fault:
        print(f"{page}:{fault[0]}: {fault[1]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

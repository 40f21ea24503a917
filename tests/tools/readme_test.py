"""Runs the commands that a README tells its reader to type, as far as a test can.

usage: readme_test.py README.md [PAGE ...] [--fresh] [--list]

Blocks whose fence is ```sh run are run in the order of the page, each as one `bash -euo pipefail`. A fence's second
word is not displayed, so a page marks a block without showing it. A line that is followed by `#=> TEXT` in its block
promises that the block's output contains TEXT. Then the lines of indented blocks that begin with tools/clade (or with
tests/tools's made-up programs): readme_commands.py says which are run, which are run with a short search in place of a
long one, and of which only the command and its options are looked up in its help.

All run in a scratch folder that has links to all that is in the first page's folder, page after page: so a command finds
tools/ and experiments/ as the page says, and what it writes is gone afterwards. With --fresh that folder is cloned first,
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
    """Returns, for each runnable block, its line in the page and its text."""
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
    """Returns, for each command in an indented block, its line in the page and its text."""
    fences = [range(found.start(), found.end()) for found in re.finditer(r"^```.*?^```", page, re.MULTILINE | re.DOTALL)]
    return [(page.count("\n", 0, found.start()) + 1, found[1])
            for found in re.finditer(r"^    (tools/clade .*?)(?:\s+#.*)?$", page, re.MULTILINE)
            if not any(found.start() in fence for fence in fences)]


def fault_of_page(page, scratch, known):
    """Runs all that the page says; returns the line of the first fault and what it is, or None."""
    text = page.read_text()
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


def fault_of_pages(pages, scratch):
    """Runs all that the pages say, one after another; returns where the first fault is and what, or None."""
    known = readme_commands.Known(scratch)
    for page in pages:
        fault = fault_of_page(page, scratch, known)
        if fault:
            return f"{page}:{fault[0]}: {fault[1]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    parser.add_argument("--fresh", action="store_true", help="in a clone that was just made")
    parser.add_argument("--list", action="store_true", help="print the blocks and run nothing")
    options = parser.parse_args()
    for page in options.pages:
        blocks = blocks_of(page.read_text())
        if not blocks:
            print(f"{page}: no block opens with ```sh run")
            return 1
        if options.list:
            for line, block in blocks:
                print(f"{page}:{line}:\n{block}", end="")
    if options.list:
        return 0
    pages = [page.resolve() for page in options.pages]
    with tempfile.TemporaryDirectory() as folder:
        root, scratch = pages[0].parent, pathlib.Path(folder, "scratch")
        scratch.mkdir()
        if options.fresh:
            clone = fresh_clone.make(root, pathlib.Path(folder, "clone"))
            pages = [clone / page.relative_to(root) for page in pages]
            root = clone
        scratch_links(root, scratch)
        fault = fault_of_pages(pages, scratch)
    if fault:
        print(fault)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

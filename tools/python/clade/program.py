"""The program `clade`: where it is, how it is called, and what it says when it fails."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import subprocess
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
INSTALLED = HERE / "lib" / "clade" / "clade"
IN_A_CLONE = HERE.parents[1] / "clade"  # tools/clade, which builds what is missing


class CladeError(RuntimeError):
    """A sentence for the person at the keyboard, mostly the program's own."""


def find_program() -> str:
    """Returns the path of the program: what CLADE_BINARY names, what the wheel holds, or the script of a clone."""
    named = os.environ.get("CLADE_BINARY")
    if named:
        return named
    if INSTALLED.is_file():
        return str(INSTALLED)
    if (HERE.parents[2] / "CMakeLists.txt").is_file() and IN_A_CLONE.is_file():
        return str(IN_A_CLONE)
    raise CladeError(f"the program is not there: {INSTALLED}; install the package again, or name the program in "
                     "the environment variable CLADE_BINARY")


def check_torch(program: str) -> None:
    """Raises CladeError where the installed program would meet another LibTorch than it was linked with."""
    if program != str(INSTALLED):
        return
    wanted = next((r.partition("==")[2] for r in importlib.metadata.requires("clade") or [] if r.startswith("torch==")), "")
    try:
        has = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise CladeError(f"clade trains with LibTorch, which comes with the Python package torch, and that is not "
                         f"installed; pip install torch=={wanted}") from None
    if has.partition("+")[0] != wanted:
        raise CladeError(f"clade was built for torch {wanted}, and torch {has} is installed; pip install torch=={wanted}")


def environment(program: str) -> dict[str, str]:
    """Returns the environment for the program, which names the folder of LibTorch where it is not beside the package."""
    variables = dict(os.environ)
    if program != str(INSTALLED) or (HERE.parent / "torch" / "lib").is_dir():
        return variables
    torch = importlib.util.find_spec("torch")
    if torch is not None and torch.origin is not None:
        libraries = str(pathlib.Path(torch.origin).parent / "lib")
        variables["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [libraries, variables.get("LD_LIBRARY_PATH")]))
    return variables


def failure(status: int, err: str) -> CladeError:
    """Returns what the program said on standard error as an exception."""
    said = err.strip().removeprefix("clade: ")
    return CladeError(said or f"clade ended with status {status} and said nothing")


def call(*words: object) -> str:
    """Runs `clade WORDS...` to its end and returns its standard output; raises CladeError with its sentence."""
    program = find_program()
    check_torch(program)
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, encoding="utf-8",
                          stdin=subprocess.DEVNULL, start_new_session=True, env=environment(program))
    if done.returncode != 0:
        raise failure(done.returncode, done.stderr)
    return done.stdout


def call_json(*words: object) -> Any:
    """Returns the one JSON object that `clade WORDS... --json` prints."""
    return json.loads(call(*words, "--json"))

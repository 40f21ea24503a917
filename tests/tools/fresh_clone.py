"""A clone of a working tree as a stranger has it after `git clone`, with what is not yet committed."""

import pathlib
import shutil
import subprocess


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout


def make(source, clone):
    """Clones the tree in the folder `source` to `clone`, and returns `clone`. LibTorch and Node come from the same
    packages in both, so their environments are linked where tools/setup of the clone would take them as they are."""
    subprocess.run(["git", "clone", "--quiet", source, clone], check=True)
    changed = git(source, "diff", "--name-only", "-z", "HEAD") + git(
        source, "ls-files", "--others", "--exclude-standard", "-z")
    for name in filter(None, changed.split("\0")):
        if (source / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, clone / name, follow_symlinks=False)
        else:
            (clone / name).unlink(missing_ok=True)
    (clone / "build").mkdir()
    for name, holds in [("venv", '[[ -n "$(installed_torch)" ]]'), ("node_venv", '[[ -e $node_venv/.has_$node ]]')]:
        if not (source / "build" / name).exists():
            continue
        (clone / "build" / name).symlink_to((source / "build" / name).resolve())
        taken = subprocess.run(["bash", "-c", f"source tools/setup && {holds}"], cwd=clone, check=False)
        if taken.returncode != 0:
            (clone / "build" / name).unlink()
    return pathlib.Path(clone)

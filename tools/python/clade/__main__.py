"""`clade ...` and `python -m clade ...`: becomes the program."""

from __future__ import annotations

import os
import sys

from clade.program import CladeError, check_torch, environment, find_program


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    try:
        program = find_program()
        check_torch(program)
        os.execve(program, [program, *sys.argv[1:]], environment(program))
    except CladeError as e:
        sys.exit(f"clade: {e}")
    except OSError as e:
        sys.exit(f"clade: cannot start {e.filename}: {e.strerror}")


if __name__ == "__main__":
    main()

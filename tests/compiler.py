"""The C compiler of the tests and benchmarks that build C of their own: `CC`, which may hold options or a wrapper's name as well
(`ccache gcc`), else the first that is found: GCC before others, since it brings libquadmath."""
from __future__ import annotations

import os
import shlex
import shutil


def command() -> list[str]:
    """The words that call the C compiler; none where there is no compiler."""
    named = shlex.split(os.environ.get("CC", ""))
    return named or [path for path in map(shutil.which, ("gcc", "cc", "clang")) if path][:1]


COMPILER = command()

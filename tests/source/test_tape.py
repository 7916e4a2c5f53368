"""The machine code of the tape's cells: each jumps to the next. A call in its place would grow the stack with every step."""
import os
import re
import shutil
import subprocess

import pytest

from pyscan import _core

CELL = re.compile(r"(?:(?:add|sub|mul|div)_\w+|(?:move|neg|abs|sqrt|exp|log|whole|trials)_\w+|[A-Z]+\d*_(?:[A-Z]+\d+|BOOL))_[ns]|\w+_cell")
LEAVES = {"end_cell", "end_until_cell"}  # these return, when the steps are done, or jump to the first cell

needs_objdump = pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
needs_optimised = pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="sanitizers keep every call a call")


def read_cells():
    """Name -> instructions of each cell of the built module, as texts like "jmp *%rax"."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", _core.__file__], check=True, capture_output=True, text=True).stdout
    cells = {}
    for block in text.split("\n\n"):
        head, _, body = block.strip().partition("\n")
        found = re.fullmatch(r"[0-9a-f]+ <(\w+)>:", head)
        if found and CELL.fullmatch(found[1]):
            cells[found[1]] = [" ".join(line.partition(":")[2].split()) for line in body.splitlines()]
    return cells


@needs_objdump
@needs_optimised
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the instructions are those of x86-64")
def test_every_cell_jumps_to_the_next():
    cells = read_cells()
    if not cells:
        pytest.skip("the module is stripped of its symbols")
    assert len(cells) > 1_000
    keeping = [name for name, code in cells.items() if not any(re.match(r"(notrack )?jmp \*", line) for line in code)]
    assert keeping == []
    returning = {name for name, code in cells.items() if any(line.startswith("ret") for line in code)}
    failing = {"step_cell", "binomial_cell", "step_stored_cell", "binomial_stored_cell", "bernoulli_cell", "fast_cell", "long_category_cell"}
    leaving = {"finish_cell", *(f"plain_{place}_cell" for place in ("R0", "R1", "R2", "R3", "FIXED", "COLUMN"))}  # to the plain loop
    assert returning - LEAVES <= failing | leaving


@needs_objdump
@needs_optimised
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the instructions are those of x86-64")
def test_arithmetic_calls_nothing_and_uses_no_stack():
    cells = {name: code for name, code in read_cells().items() if re.match(r"(add|sub|mul|div|move|neg|abs|sqrt|whole)_", name)}
    assert [name for name, code in cells.items() if any(re.match(r"call|push|pop|.*\(%rsp\)", line) for line in code)] == []
    assert all(len(code) < 16 for code in cells.values())

"""Small loops, and the text of what becomes of them.

A case is a text file. It begins with a sentence that says what it shows; then sections follow, each headed by its name in
brackets. `[script]` is a few lines of Python that end with a compiled function named `f`; then `[graph]`, the text of
`outputs` before rewriting, `[rewritten]`, that of `f`, and `[program]`, the listing of the instructions: a case has those that
it is about. `pytest tests/golden --update` writes them anew; the difference is to be read like prose.
"""
import pathlib
import re

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

CASES = sorted(pathlib.Path(__file__).parent.glob("*.case"))


def read_case(path):
    """(sentence, {section: text})"""
    parts = re.split(r"^\[(\w+)\]\n", path.read_text(), flags=re.MULTILINE)
    return parts[0], {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2])}


def write_case(path, sentence, sections):
    path.write_text(sentence + "\n".join(f"[{name}]\n{text}\n" for name, text in sections.items()))


def made_sections(script):
    """The text of every section that a script can have."""
    names = {"pyscan": pyscan, "at": at, "np": np, "scan": pyscan.scan, "function": pyscan.function, "RandomStream": at.random.RandomStream}
    exec(compile(script, "<case>", "exec"), names)
    makers = {
        "graph": lambda: pyscan.dprint(names["outputs"], file="str"),
        "rewritten": lambda: pyscan.dprint(names["f"], file="str"),
        "program": lambda: names["f"].vm.listing(),
    }
    return {name: (lambda make=make: re.sub(r"0x[0-9A-Fa-f]+", "0x...", make()).strip("\n")) for name, make in makers.items()}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_prints_what_it_did(path, request):
    sentence, sections = read_case(path)
    made = made_sections(sections["script"])
    now = {name: text if name == "script" else made[name]() for name, text in sections.items()}
    if request.config.getoption("--update"):
        write_case(path, sentence, now)
    assert len(sections) > 1
    assert sections == now or request.config.getoption("--update")


def test_there_are_cases():
    assert CASES

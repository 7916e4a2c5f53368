"""What the files of Aesara's suite count on and the environment does not give: loaded by run.py with `-p`.

The suite was written for NumPy 1, where a copy of a generator is independent; since NumPy 2 a shallow copy draws on. And it
takes pytest-benchmark's fixture. A failure's reason is found by OUT_OF_SCOPE.

Relies on: pytest, NumPy, `aesara` standing for pyscan. Relied on by: run.py.
"""
import copy
import copyreg
import re

import numpy as np
import pytest

# What is outside the scope of pyscan -> the words by which a failure asks for it. The first match counts; the rest are "other".
OUT_OF_SCOPE = (
    ("gradients", re.compile(r"is not part of pyscan \(gradients\)")),
    ("C compiler, GPU", re.compile(r"c_code|(?i:gpuarray|\bcuda\b|\bnumba\b|\bjax\b)|not part of pyscan \(generated code")),
)
_ERROR_LINE = re.compile(r"^E +(.*)", re.MULTILINE)


def _own_bit_generator(generator):
    return type(generator), (copy.deepcopy(generator.bit_generator),)


copyreg.pickle(np.random.Generator, _own_bit_generator)


@pytest.fixture
def benchmark():
    """Calls the function once."""
    def once(function, *args, **kwargs):
        return function(*args, **kwargs)
    return once


def pytest_runtest_logreport(report):
    """One line a result on standard output, for run.py to count: outcome, reason, test, the error's first line."""
    if report.failed:
        text = str(report.longrepr)
        reason = next((name for name, words in OUT_OF_SCOPE if words.search(text)), "other")
        line = _ERROR_LINE.search(text)
        words = line.group(1).replace("\t", " ") if line else ""
        print(f"\n@failed\t{reason}\t{report.nodeid}\t{words}")
    elif report.when == "call" and report.passed:
        print(f"\n@passed\t\t{report.nodeid}\t")

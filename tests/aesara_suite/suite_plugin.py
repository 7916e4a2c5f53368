"""What the files of Aesara's suite count on and the environment does not give: loaded by run.py with `-p`.

The suite was written for NumPy 1, where a copy of a generator is independent; since NumPy 2 a shallow copy draws on. And it
takes pytest-benchmark's fixture. Failures that a part outside pyscan explains are marked in the summary, by OUT_OF_SCOPE.

Relies on: pytest, NumPy, `aesara` standing for pyscan. Relied on by: run.py.
"""
import copy
import copyreg
import re

import numpy as np
import pytest

# A part that is outside pyscan -> the words by which a failure asks for it. The first match counts.
OUT_OF_SCOPE = (
    ("gradients", re.compile(r"is not part of pyscan \(gradients\)")),
    ("C, GPU, other back ends", re.compile(r"c_code|(?i:gpuarray|\bcuda\b|\bnumba\b|\bjax\b)|not part of pyscan \(generated code")),
    ("other absent names", re.compile(r"is not part of pyscan \(|AttributeError: No attribute \w+\.|, 'standard_\w+'\)")),
)


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
    """One line a result on standard output, for run.py to count."""
    if report.failed:
        text = str(report.longrepr)
        part = next((name for name, words in OUT_OF_SCOPE if words.search(text)), "not explained")
        print(f"\n@failed\t{part}\t{report.nodeid}")
    elif report.when == "call" and report.passed:
        print("\n@passed\t\t" + report.nodeid)

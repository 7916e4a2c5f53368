"""The examples in docstrings run as they are printed."""
import doctest
import importlib
import pkgutil

import pytest

import pyscan

MODULES = [found.name for found in pkgutil.walk_packages(pyscan.__path__, "pyscan.") if found.name not in ("pyscan.__main__", "pyscan.as_aesara")]
FINDER = doctest.DocTestFinder(exclude_empty=True)


def examples(name):
    return [test for test in FINDER.find(importlib.import_module(name)) if test.examples]


@pytest.mark.parametrize("name", ["pyscan", *MODULES])
def test_the_examples_of_a_module_give_what_they_show(name):
    runner = doctest.DocTestRunner(verbose=False)
    words = []
    for test in examples(name):
        runner.run(test, out=words.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(words)


def test_the_examples_were_found():
    assert sum(len(test.examples) for name in MODULES for test in examples(name)) > 150

"""What every test gets: the core's graph verifier switched on, the configuration put back, and a way to run scripts apart."""
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
try:
    import pyscan
except ImportError:
    sys.path.insert(0, str(ROOT))
    import pyscan

PACKAGE_PARENT = pathlib.Path(pyscan.__file__).resolve().parents[1]


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write the texts of tests/golden anew")


@pytest.fixture(autouse=True)
def verified_and_isolated():
    """Check the graph after every pass, and leave the configuration as it was."""
    before = pyscan._core.set_verify(True)
    saved = pyscan.config.snapshot()
    yield
    pyscan.config.restore(saved)
    pyscan._core.set_verify(before)


@pytest.fixture
def ctrl_c():
    """SIGINT raises KeyboardInterrupt, here and in processes started from here, even where the tests run in a background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run_python():
    """Call with the arguments of a Python run; gives the finished process with its text output.

    The package under test is importable there, whatever the working directory; `stdin`, `cwd` and `env` pass through.
    """
    def run(*args, stdin="", cwd=None, env=None, timeout=120):
        environment = dict(os.environ, PYTHONPATH=str(PACKAGE_PARENT), **(env or {}))
        return subprocess.run([sys.executable, *map(str, args)], input=stdin, cwd=cwd, env=environment, timeout=timeout,
                              capture_output=True, text=True)
    return run


@pytest.fixture
def dprinted():
    """dprint's text with the generators' addresses replaced, so that it can be compared."""
    import re

    def text(graph, **kwargs):
        return re.sub(r"0x[0-9A-Fa-f]+", "0x_", pyscan.dprint(graph, file="str", **kwargs))
    return text

"""The benchmark of draws runs: it is C of its own over the draws' internals, which would otherwise stop to fit them unnoticed."""
import os

import numpy as np
import pytest

from tests.bench import bench_random
from tests.compiler import COMPILER

pytestmark = [pytest.mark.skipif(not COMPILER, reason="there is no C compiler"),
              pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="the library is built without sanitizers")]


@pytest.fixture(scope="module")
def timer(tmp_path_factory):
    return bench_random.build_timer(tmp_path_factory.mktemp("timer"))


@pytest.mark.parametrize("name, params", [("normal", (0.0, 1.0)), ("integers", (0, 10)), ("poisson", (12.0,))])
def test_a_race_gives_the_time_of_both_sides(timer, name, params):
    figures = bench_random.race(timer, name, params, np.random.PCG64(1), 1)
    if figures is None:
        pytest.skip("this NumPy does not export the functions")
    assert all(0 < figure < 1e6 for figure in figures)


def test_a_randomstate_is_raced_with_its_method():
    assert all(figure > 0 for figure in bench_random.race_state("normal", (0.0, 1.0)))

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


@pytest.fixture
def few_turns(monkeypatch):
    monkeypatch.setattr(bench_random, "N_ROUNDS", 2)
    monkeypatch.setattr(bench_random, "N_TURNS", 1)


@pytest.mark.parametrize("name, params", [("normal", (0.0, 1.0)), ("integers", (0, 10)), ("poisson", (12.0,))])
def test_a_race_gives_the_time_of_both_sides_and_of_a_step(timer, few_turns, name, params):
    fills = bench_random.race(timer, name, params, np.random.PCG64(1))
    if fills is None:
        pytest.skip("this NumPy does not export the functions")
    figures, step = bench_random.race_all(fills, bench_random.compile_steps(name, params, np.random.Generator(np.random.PCG64(1))))
    assert all(0 < figure < 1e6 for figure in (*figures, step))


def test_a_randomstate_is_raced_with_its_method(few_turns):
    steps = bench_random.compile_steps("normal", (0.0, 1.0), np.random.RandomState(1))
    figures, step = bench_random.race_all(bench_random.race_state("normal", (0.0, 1.0)), steps)
    assert all(0 < figure < 1e6 for figure in (*figures, step))

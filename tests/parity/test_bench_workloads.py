"""The benchmark's two columns compute the same: each compiled workload, shortened, gives what its loop of NumPy calls gives."""
import shutil

import numpy as np
import pytest

from tests.bench import workloads as w
from tests.bench.peers import systems

SHORT = {
    "draws": w.draws(50), "ar1": w.autoregression(50), "ar1_last": w.autoregression(50, last_only=True), "stochvol": w.stochastic_volatility(50),
    "gbm": w.geometric_brownian(20, 7), "sir": w.epidemic(60), "lds": w.linear_system(30, 5), "hmm": w.hidden_markov(80),
    "metropolis": w.random_walk_metropolis(60, 4), "logistic": w.logistic_map(60), "power": w.elementwise_power(5, 40),
    "rnn": w.recurrent_network(6, 3, 4),
}


def test_every_workload_is_compared():
    assert set(SHORT) == set(w.WORKLOADS) - {"repro"}


@pytest.mark.parametrize("name", SHORT)
def test_the_compiled_workload_gives_what_the_plain_loop_gives(name):
    _, compiled, plain = SHORT[name]
    got, want = compiled()(), plain()
    for a, b in zip(got, want) if isinstance(want, list) else [(got, want)]:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_bars_are_set_for_workloads_and_peers_that_there_are():
    assert set(systems.BARS) == set(systems.SYSTEMS) - {"pyscan"}
    assert {name for bars in systems.BARS.values() for name in bars} <= set(w.WORKLOADS)
    assert systems.bar("Numba", "draws", 3.0) == 1.2 and systems.bar("Numba", "draws", 10.0) == 0.45 and systems.bar("JAX", "draws", 1.0) is None


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_loops_in_c_compute_the_workloads():
    from tests.bench.peers import c
    np.testing.assert_allclose(c.compiled("logistic")()[-1], w.WORKLOADS["logistic"][2](), rtol=1e-12)
    np.testing.assert_allclose(c.compiled("power")()[-1], w.WORKLOADS["power"][2](), rtol=1e-12)
    path, densities = c.compiled("metropolis")()[1:]
    np.testing.assert_allclose(densities, -0.5 * np.sum(path**2, axis=1), rtol=1e-12)
    susceptible, infected = c.compiled("sir")()
    assert (np.diff(susceptible) <= 0).all() and (infected >= 0).all()
    for name in set(w.WORKLOADS) - {"rnn"}:
        assert c.compiled(name) is not None

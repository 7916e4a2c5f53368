"""The benchmark's two columns compute the same: each compiled workload, shortened, gives what its loop of NumPy calls gives."""
import numpy as np
import pytest

from tests.bench import workloads as w

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

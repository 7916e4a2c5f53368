"""The thirteen workloads of the benchmark, short, against NumPy loops written by hand over the same generators."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

SEED = 23


def generators(n):
    return [np.random.default_rng(child) for child in np.random.SeedSequence(SEED).spawn(n)]


def compile_scan(step, inputs, last=False, **kwargs):
    outputs, updates = pyscan.scan(step, **kwargs)
    if last:
        outputs = outputs[-1]
    return pyscan.function(inputs, outputs, updates=updates), list(updates)


def assert_states(rngs, references):
    """Every generator stands where its reference does; the updates' order is that in which the step's graph is walked."""
    def states(generators_):
        return sorted(repr(g.bit_generator.state) for g in generators_)

    assert states(rng.get_value() for rng in rngs) == states(references)


@pytest.mark.parametrize("n_steps", [10, 1000])
def test_draws_equal_the_generators_own(n_steps):
    stream = at.random.RandomStream(SEED)
    f, rngs = compile_scan(lambda: stream.normal(), [], n_steps=n_steps, strict=True)
    (g,) = generators(1)
    for _ in range(2):
        np.testing.assert_array_equal(f(), g.normal(size=n_steps))
    assert_states(rngs, [g])


@pytest.mark.parametrize("last", [False, True])
def test_ar1(last):
    stream, x0 = at.random.RandomStream(SEED), at.dscalar("x0")
    f, rngs = compile_scan(lambda x: 0.9 * x + stream.normal(0.0, 0.1), [x0], last, outputs_info=[x0], n_steps=200)
    (g,) = generators(1)
    x, want = 1.0, []
    for _ in range(200):
        x = 0.9 * x + g.normal(0.0, 0.1)
        want.append(x)
    np.testing.assert_array_equal(f(1.0), want[-1] if last else want)
    assert_states(rngs, [g])


def test_stochastic_volatility():
    stream, h0 = at.random.RandomStream(SEED), at.dscalar("h0")

    def step(h):
        h1 = -1.0 + 0.97 * (h + 1.0) + 0.2 * stream.normal()
        return h1, at.exp(0.5 * h1) * stream.normal()

    f, rngs = compile_scan(step, [h0], outputs_info=[h0, None], n_steps=300)
    g, e = generators(2)
    h, hs, ys = -1.0, [], []
    for _ in range(300):
        h = -1.0 + 0.97 * (h + 1.0) + 0.2 * g.normal()
        hs.append(h)
        ys.append(np.exp(0.5 * h) * e.normal())
    got_h, got_y = f(-1.0)
    np.testing.assert_array_equal(got_h, hs)
    np.testing.assert_allclose(got_y, ys, rtol=1e-14)
    assert_states(rngs, [g, e])


def test_geometric_brownian_motion():
    stream, s0 = at.random.RandomStream(SEED), at.dvector("s0")
    dt, mu, sigma, paths = 1.0 / 252, 0.05, 0.2, 50

    def step(s):
        z = stream.normal(size=(paths,))
        return s * at.exp((mu - 0.5 * sigma**2) * dt + sigma * dt**0.5 * z)

    f, rngs = compile_scan(step, [s0], outputs_info=[s0], n_steps=20)
    (g,) = generators(1)
    s, want = np.full(paths, 100.0), []
    for _ in range(20):
        s = s * np.exp((mu - 0.5 * sigma**2) * dt + sigma * dt**0.5 * g.normal(size=paths))
        want.append(s)
    np.testing.assert_allclose(f(np.full(paths, 100.0)), want, rtol=1e-13)
    assert_states(rngs, [g])


def test_epidemic_with_binomial_draws_of_the_state():
    stream, s0, i0 = at.random.RandomStream(SEED), at.lscalar("s0"), at.lscalar("i0")

    def step(s, i):
        new = stream.binomial(s, 1.0 - at.exp(-0.3 * i / 100_000.0))
        recovered = stream.binomial(i, 0.1)
        return s - new, i + new - recovered

    f, rngs = compile_scan(step, [s0, i0], outputs_info=[s0, i0], n_steps=300)
    g, e = generators(2)
    s, i, want = 99_990, 10, []
    for _ in range(300):
        new, recovered = g.binomial(s, 1.0 - np.exp(-0.3 * i / 100_000.0)), e.binomial(i, 0.1)
        s, i = s - new, i + new - recovered
        want.append((s, i))
    got = np.stack(f(99_990, 10), axis=1)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, want)
    assert_states(rngs, [g, e])


def test_linear_dynamical_system():
    d, data = 20, np.random.default_rng(0)
    A, L = 0.99 * np.linalg.qr(data.normal(size=(d, d)))[0], np.tril(data.normal(size=(d, d)))
    stream, x0, a, ell = at.random.RandomStream(SEED), at.dvector("x0"), at.dmatrix("A"), at.dmatrix("L")
    f, rngs = compile_scan(lambda x, a_, l_: at.dot(a_, x) + at.dot(l_, stream.normal(size=(d,))), [x0, a, ell],
                           outputs_info=[x0], non_sequences=[a, ell], n_steps=40)
    (g,) = generators(1)
    x, want = np.zeros(d), []
    for _ in range(40):
        x = A @ x + L @ g.normal(size=d)
        want.append(x)
    np.testing.assert_allclose(f(np.zeros(d), A, L), want, rtol=1e-9)
    assert_states(rngs, [g])


def test_hidden_markov_model():
    stream, P, mu, z0 = at.random.RandomStream(SEED), at.dmatrix("P"), at.dvector("mu"), at.lscalar("z0")

    def step(z, p, m):
        z1 = stream.categorical(p[z])
        return z1, m[z1] + stream.normal()

    f, rngs = compile_scan(step, [P, mu, z0], outputs_info=[z0, None], non_sequences=[P, mu], n_steps=300)
    rows, means = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), np.array([-2.0, 0.0, 2.0])
    g, e = generators(2)
    z, zs, ys = 0, [], []
    for _ in range(300):
        z = int(np.searchsorted(np.cumsum(rows[z]), g.uniform()))
        zs.append(z)
        ys.append(means[z] + e.normal())
    got_z, got_y = f(rows, means, 0)
    assert got_z.dtype == np.int64
    np.testing.assert_array_equal(got_z, zs)
    np.testing.assert_array_equal(got_y, ys)
    assert_states(rngs, [g, e])


def test_metropolis():
    d, stream, x0 = 10, at.random.RandomStream(SEED), at.dvector("x0")

    def step(x, lp):
        proposal = x + 0.5 * stream.normal(size=(d,))
        lpp = -0.5 * at.sum(proposal**2)
        accepted = at.log(stream.uniform()) < lpp - lp
        return at.switch(accepted, proposal, x), at.switch(accepted, lpp, lp)

    f, rngs = compile_scan(step, [x0], outputs_info=[x0, -0.5 * at.sum(x0**2)], n_steps=200)
    g, e = generators(2)
    x, lp, xs, lps = np.zeros(d), 0.0, [], []
    for _ in range(200):
        proposal = x + 0.5 * g.normal(size=d)
        lpp = -0.5 * np.sum(proposal**2)
        if np.log(e.uniform()) < lpp - lp:
            x, lp = proposal, lpp
        xs.append(x)
        lps.append(lp)
    got_x, got_lp = f(np.zeros(d))
    np.testing.assert_array_equal(got_x, xs)
    np.testing.assert_allclose(got_lp, lps, rtol=1e-13)
    assert_states(rngs, [g, e])


def test_logistic_map_is_bit_for_bit():
    x0, r = at.dscalar("x0"), at.dscalar("r")
    f, _ = compile_scan(lambda x, r_: r_ * x * (1.0 - x), [x0, r], outputs_info=[x0], non_sequences=[r], n_steps=1000)
    x, want = 0.3, []
    for _ in range(1000):
        x = 3.7 * x * (1.0 - x)
        want.append(x)
    np.testing.assert_array_equal(f(0.3, 3.7), want)


def test_power_of_a_vector():
    A = at.dvector("A")
    f, _ = compile_scan(lambda p, a: p * a, [A], True, outputs_info=[at.ones_like(A)], non_sequences=[A], n_steps=10)
    a = np.linspace(0.5, 1.5, 1001)
    want = np.ones_like(a)
    for _ in range(10):
        want = want * a
    np.testing.assert_array_equal(f(a), want)


def test_recurrent_network():
    n, b, d, data = 7, 4, 8, np.random.default_rng(0)
    X, h0, W, U, c = at.dtensor3("X"), at.dmatrix("h0"), at.dmatrix("W"), at.dmatrix("U"), at.dvector("c")
    f, _ = compile_scan(lambda x, h, w, u, bias: at.tanh(at.dot(h, w) + at.dot(x, u) + bias), [X, h0, W, U, c],
                        sequences=[X], outputs_info=[h0], non_sequences=[W, U, c])
    values = [data.normal(size=s) * 0.1 for s in [(n, b, d), (b, d), (d, d), (d, d), (d,)]]
    xv, h, w, u, bias = values
    want = []
    for t in range(n):
        h = np.tanh(h @ w + xv[t] @ u + bias)
        want.append(h)
    np.testing.assert_allclose(f(*values), want, rtol=1e-12)

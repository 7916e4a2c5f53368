"""Thirteen loops that people who simulate write, each as a graph and as the loop of NumPy calls that one would write by hand.

`WORKLOADS[name]` is (number of steps, compile, plain): `compile()` returns a call of the compiled function without arguments,
`plain()` runs the same model step by step in Python and returns the same values.
"""
import importlib
import os

import numpy as np

SEED = 23
PATHS, STATES, DIMENSIONS, LENGTH, BATCH, UNITS = 1_000, 20, 10, 1_000_000, 32, 64  # lengths of one step's arrays

# The library that the graphs are made with: pyscan, aesara or pytensor; "" where none is needed (tests/bench/peers).
LIBRARY = os.environ.get("PYSCAN_BENCH_LIBRARY", "pyscan")
if LIBRARY:
    library, at = importlib.import_module(LIBRARY), importlib.import_module(LIBRARY + ".tensor")


def scan(*args, **kwargs):
    """The library's scan; PyTensor gives updates only when asked."""
    return library.scan(*args, **kwargs, **({"return_updates": True} if LIBRARY == "pytensor" else {}))


def generators(count):
    """The generators that a stream with this seed gives to its first `count` variables."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(SEED).spawn(count)]


def draws(n_steps):
    def compiled():
        stream = at.random.RandomStream(SEED)
        path, updates = scan(lambda: stream.normal(), n_steps=n_steps)
        return library.function([], path, updates=updates)

    def plain():
        (rng,), out = generators(1), np.empty(n_steps)
        for t in range(n_steps):
            out[t] = rng.normal()
        return out
    return n_steps, compiled, plain


def autoregression(n_steps, last_only=False):
    def compiled():
        stream, start = at.random.RandomStream(SEED), at.dscalar("start")
        path, updates = scan(lambda x: 0.9 * x + stream.normal(0.0, 0.1), outputs_info=[start], n_steps=n_steps)
        f = library.function([start], path[-1] if last_only else path, updates=updates)
        return lambda: f(1.0)

    def plain():
        (rng,), out, x = generators(1), np.empty(n_steps), 1.0
        for t in range(n_steps):
            x = out[t] = 0.9 * x + rng.normal(0.0, 0.1)
        return out[-1] if last_only else out
    return n_steps, compiled, plain


def stochastic_volatility(n_steps):
    def compiled():
        stream, start = at.random.RandomStream(SEED), at.dscalar("start")

        def step(h):
            new = -1.0 + 0.97 * (h + 1.0) + 0.2 * stream.normal()
            return new, at.exp(0.5 * new) * stream.normal()
        paths, updates = scan(step, outputs_info=[start, None], n_steps=n_steps)
        f = library.function([start], paths, updates=updates)
        return lambda: f(-1.0)

    def plain():
        (first, second), h = generators(2), -1.0
        variances, returns = np.empty(n_steps), np.empty(n_steps)
        for t in range(n_steps):
            h = variances[t] = -1.0 + 0.97 * (h + 1.0) + 0.2 * first.normal()
            returns[t] = np.exp(0.5 * h) * second.normal()
        return [variances, returns]
    return n_steps, compiled, plain


def geometric_brownian(n_steps, n_paths):
    step_length, drift, spread = 1.0 / 252, 0.05, 0.2
    shift, width = (drift - 0.5 * spread**2) * step_length, spread * step_length**0.5

    def compiled():
        stream, start = at.random.RandomStream(SEED), at.dvector("start")
        path, updates = scan(lambda s: s * at.exp(shift + width * stream.normal(size=(n_paths,))), outputs_info=[start], n_steps=n_steps)
        f = library.function([start], path, updates=updates)
        return lambda: f(np.full(n_paths, 100.0))

    def plain():
        (rng,), out, s = generators(1), np.empty((n_steps, n_paths)), np.full(n_paths, 100.0)
        for t in range(n_steps):
            s = out[t] = s * np.exp(shift + width * rng.normal(size=n_paths))
        return out
    return n_steps, compiled, plain


def epidemic(n_steps):
    population = 100_000.0

    def compiled():
        stream, s0, i0 = at.random.RandomStream(SEED), at.lscalar("s0"), at.lscalar("i0")

        def step(s, i):
            infected = stream.binomial(s, 1.0 - at.exp(-0.3 * i / population))
            recovered = stream.binomial(i, 0.1)
            return s - infected, i + infected - recovered
        paths, updates = scan(step, outputs_info=[s0, i0], n_steps=n_steps)
        f = library.function([s0, i0], paths, updates=updates)
        return lambda: f(99_990, 10)

    def plain():
        (first, second), s, i = generators(2), 99_990, 10
        out = np.empty((2, n_steps), dtype=np.int64)
        for t in range(n_steps):
            infected = first.binomial(s, 1.0 - np.exp(-0.3 * i / population))
            recovered = second.binomial(i, 0.1)
            s, i = out[0, t], out[1, t] = s - infected, i + infected - recovered
        return list(out)
    return n_steps, compiled, plain


def linear_system(n_steps, size):
    rng = np.random.default_rng(0)
    turn = 0.99 * np.linalg.qr(rng.normal(size=(size, size)))[0]
    factor = np.tril(rng.normal(size=(size, size)))

    def compiled():
        stream = at.random.RandomStream(SEED)
        x0, a, b = at.dvector("x0"), at.dmatrix("a"), at.dmatrix("b")
        path, updates = scan(lambda x, a, b: at.dot(a, x) + at.dot(b, stream.normal(size=(size,))), outputs_info=[x0],
                             non_sequences=[a, b], n_steps=n_steps)
        f = library.function([x0, a, b], path, updates=updates)
        return lambda: f(np.zeros(size), turn, factor)

    def plain():
        (rng,), out, x = generators(1), np.empty((n_steps, size)), np.zeros(size)
        for t in range(n_steps):
            x = out[t] = turn @ x + factor @ rng.normal(size=size)
        return out
    return n_steps, compiled, plain


def hidden_markov(n_steps):
    rows = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    means = np.array([-2.0, 0.0, 2.0])

    def compiled():
        stream = at.random.RandomStream(SEED)
        p, mu, z0 = at.dmatrix("p"), at.dvector("mu"), at.lscalar("z0")

        def step(z, p, mu):
            new = stream.categorical(p[z])
            return new, mu[new] + stream.normal()
        paths, updates = scan(step, outputs_info=[z0, None], non_sequences=[p, mu], n_steps=n_steps)
        f = library.function([p, mu, z0], paths, updates=updates)
        return lambda: f(rows, means, 0)

    def plain():
        (first, second), z = generators(2), 0
        states, seen = np.empty(n_steps, dtype=np.int64), np.empty(n_steps)
        for t in range(n_steps):
            z = states[t] = np.searchsorted(np.cumsum(rows[z]), first.uniform())
            seen[t] = means[z] + second.normal()
        return [states, seen]
    return n_steps, compiled, plain


def random_walk_metropolis(n_steps, size):
    def compiled():
        stream, x0 = at.random.RandomStream(SEED), at.dvector("x0")

        def step(x, density):
            proposal = x + 0.5 * stream.normal(size=(size,))
            proposed = -0.5 * at.sum(proposal**2)
            accept = at.log(stream.uniform()) < proposed - density
            return at.switch(accept, proposal, x), at.switch(accept, proposed, density)
        paths, updates = scan(step, outputs_info=[x0, -0.5 * at.sum(x0**2)], n_steps=n_steps)
        f = library.function([x0], paths, updates=updates)
        return lambda: f(np.zeros(size))

    def plain():
        (first, second), x, density = generators(2), np.zeros(size), 0.0
        path, densities = np.empty((n_steps, size)), np.empty(n_steps)
        for t in range(n_steps):
            proposal = x + 0.5 * first.normal(size=size)
            proposed = -0.5 * np.sum(proposal**2)
            if np.log(second.uniform()) < proposed - density:
                x, density = proposal, proposed
            path[t], densities[t] = x, density
        return [path, densities]
    return n_steps, compiled, plain


def logistic_map(n_steps):
    def compiled():
        x0, r = at.dscalar("x0"), at.dscalar("r")
        path, updates = scan(lambda x, r: r * x * (1.0 - x), outputs_info=[x0], non_sequences=[r], n_steps=n_steps)
        f = library.function([x0, r], path, updates=updates)
        return lambda: f(0.3, 3.7)

    def plain():
        out, x, r = np.empty(n_steps), 0.3, 3.7
        for t in range(n_steps):
            x = out[t] = r * x * (1.0 - x)
        return out
    return n_steps, compiled, plain


def elementwise_power(n_steps, size):
    base = np.linspace(0.5, 1.5, size)

    def compiled():
        a = at.dvector("a")
        path, updates = scan(lambda p, a: p * a, outputs_info=[at.ones_like(a)], non_sequences=[a], n_steps=n_steps)
        f = library.function([a], path[-1], updates=updates)
        return lambda: f(base)

    def plain():
        p = np.ones(size)
        for _ in range(n_steps):
            p = p * base
        return p
    return n_steps, compiled, plain


def recurrent_network(n_steps, batch, units):
    rng = np.random.default_rng(0)
    shapes = [(n_steps, batch, units), (batch, units), (units, units), (units, units), (units,)]
    values = [rng.normal(size=shape) * 0.1 for shape in shapes]

    def compiled():
        x, h0, w, u, c = at.dtensor3("x"), at.dmatrix("h0"), at.dmatrix("w"), at.dmatrix("u"), at.dvector("c")
        path, updates = scan(lambda x, h, w, u, c: at.tanh(at.dot(h, w) + at.dot(x, u) + c), sequences=[x], outputs_info=[h0],
                             non_sequences=[w, u, c])
        f = library.function([x, h0, w, u, c], path, updates=updates)
        return lambda: f(*values)

    def plain():
        x, h, w, u, c = values
        out = np.empty((n_steps, batch, units))
        for t in range(n_steps):
            h = out[t] = np.tanh(h @ w + x[t] @ u + c)
        return out
    return n_steps, compiled, plain


WORKLOADS = {
    "repro": draws(10),
    "draws": draws(100_000),
    "ar1": autoregression(100_000),
    "ar1_last": autoregression(100_000, last_only=True),
    "stochvol": stochastic_volatility(100_000),
    "gbm": geometric_brownian(252, PATHS),
    "sir": epidemic(10_000),
    "lds": linear_system(10_000, STATES),
    "hmm": hidden_markov(10_000),
    "metropolis": random_walk_metropolis(100_000, DIMENSIONS),
    "logistic": logistic_map(1_000_000),
    "power": elementwise_power(10, LENGTH),
    "rnn": recurrent_network(200, BATCH, UNITS),
}

"""The workloads as `jax.lax.scan` under jit, in double precision, with JAX's own generator."""
from __future__ import annotations

import importlib

import numpy as np

from tests.bench import workloads as w

jax = importlib.import_module("jax")
jax.config.update("jax_enable_x64", True)
jnp, normal, split = jax.numpy, jax.random.normal, jax.random.split
VERSION = f"JAX {jax.__version__}"


def ar1(x, key):
    x = 0.9 * x + 0.1 * normal(key)
    return x, x


def stochvol(h, key):
    first, second = split(key)
    h = -1.0 + 0.97 * (h + 1.0) + 0.2 * normal(first)
    return h, (h, jnp.exp(0.5 * h) * normal(second))


def gbm(s, key):
    s = s * jnp.exp((0.05 - 0.5 * 0.2**2) / 252 + 0.2 / 252**0.5 * normal(key, s.shape))
    return s, s


def metropolis(state, key):
    first, second = split(key)
    proposal = state[0] + 0.5 * normal(first, state[0].shape)
    proposed = -0.5 * jnp.sum(proposal**2)
    accept = jnp.log(jax.random.uniform(second)) < proposed - state[1]
    state = jnp.where(accept, proposal, state[0]), jnp.where(accept, proposed, state[1])
    return state, state


def logistic(x, _):
    x = 3.7 * x * (1.0 - x)
    return x, x


STEPS = {
    "repro": (lambda x, key: (x, normal(key)), 0.0), "draws": (lambda x, key: (x, normal(key)), 0.0), "ar1": (ar1, 1.0),
    "stochvol": (stochvol, -1.0), "gbm": (gbm, np.full(w.PATHS, 100.0)), "metropolis": (metropolis, (np.zeros(w.DIMENSIONS), 0.0)), "logistic": (logistic, 0.3),
}


def compiled(name):
    """A call of the workload without arguments, or None."""
    if name not in STEPS:
        return None
    step, start = STEPS[name]
    n_steps = w.WORKLOADS[name][0]

    @jax.jit
    def run(key, start):
        def with_key(state, _):
            key, inner = state
            key, used = split(key)
            inner, out = step(inner, used)
            return (key, inner), out
        return jax.lax.scan(step, start, None, length=n_steps)[1] if name == "logistic" else jax.lax.scan(with_key, (key, start), None, length=n_steps)[1]
    key = jax.random.key(w.SEED)
    return lambda: jax.block_until_ready(run(key, start))

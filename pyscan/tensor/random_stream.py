"""RandomStream: random variables that each have a generator of their own, all from one seed.

Relies on: tensor.random (as the namespace of the distributions), sharedvalue. Relied on by: tensor.random, which names it.
"""
from __future__ import annotations

import inspect
import sys
from functools import partial, update_wrapper

import numpy as np

from pyscan._core import Variable
from pyscan.sharedvalue import SharedVariable, shared
from pyscan.tensor.random_types import find_random_variable

# Streams


def _random_state_of(seed):
    return np.random.RandomState(np.random.MT19937(seed))


def _seed_sequence(seed):
    """A new SeedSequence for the seed; for a SeedSequence one like it of which nothing was spawned yet."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
    return np.random.SeedSequence(seed)


class RandomStream:
    """Random variables that each have a shared generator of their own, seeded in order from one seed.

    The k-th variable draws from ``rng_ctor(child k of SeedSequence(seed))`` and moves on with each call of a compiled
    function (`default_update`). Any distribution of the namespaces is a method. The seed is what NumPy's SeedSequence takes, or a
    SeedSequence itself: then the children are counted from 0, whatever was spawned of it elsewhere. After Aesara's class of that name.

    >>> import numpy as np
    >>> stream = RandomStream(seed=42)
    >>> float(stream.normal().eval()) == np.random.default_rng(np.random.SeedSequence(42).spawn(1)[0]).normal()
    True
    """

    def __init__(self, seed=None, namespace=None, rng_ctor=np.random.default_rng):
        self.namespaces = [sys.modules["pyscan.tensor.random"] if namespace is None else namespace]
        self.default_instance_seed = seed
        self.state_updates: list[tuple[SharedVariable, Variable]] = []
        self.gen_seedgen = _seed_sequence(seed)
        if isinstance(rng_ctor, type) and issubclass(rng_ctor, np.random.RandomState):
            rng_ctor = _random_state_of
        self.rng_ctor = rng_ctor

    def __getattr__(self, name):
        if name.startswith("__") or "namespaces" not in self.__dict__:
            raise AttributeError(f"No attribute {name}.")
        found = find_random_variable(self.namespaces, name)
        if found is None:
            raise AttributeError(f"No attribute {name}.")
        method = update_wrapper(partial(self.gen, found), found, updated=())
        setattr(self, name, method)
        return method

    def updates(self):
        """The pairs (shared generator, its next state), in order of making."""
        return list(self.state_updates)

    def seed(self, seed=None):
        """Seeds the generators of all variables made so far anew, in order; None means the seed given at the start."""
        self.gen_seedgen = _seed_sequence(self.default_instance_seed if seed is None else seed)
        for (rng, _), child in zip(self.state_updates, self.gen_seedgen.spawn(len(self.state_updates))):
            rng.set_value(self.rng_ctor(child), borrow=True)

    def gen(self, op, *args, **kwargs):
        """A draw of a RandomVariable Op, with the next child of the seed as its generator."""
        if "rng" in kwargs:
            raise ValueError("The `rng` option cannot be used with a variate in a `RandomStream`")
        (child,) = self.gen_seedgen.spawn(1)
        rng = shared(self.rng_ctor(child), borrow=True)
        draw = op(*args, **kwargs, rng=rng)
        next_rng = draw.owner.outputs[0]
        self.state_updates.append((rng, next_rng))
        rng.default_update = next_rng
        return draw

    def __getstate__(self):
        # Modules do not pickle: they travel by name. Cached methods are made again when they are asked for.
        kept = ("default_instance_seed", "state_updates", "gen_seedgen", "rng_ctor")
        state = {name: self.__dict__[name] for name in kept}
        state["namespaces"] = [space.__name__ if inspect.ismodule(space) else space for space in self.namespaces]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.namespaces = [sys.modules[s] if isinstance(s, str) else s for s in state["namespaces"]]



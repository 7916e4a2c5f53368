"""Generators in graphs: their types and variables, shared generators, and the Ops that make one from a seed.

Relies on: _core, sharedvalue, tensor basic functions. Relied on by: tensor.random, scan.
"""
from __future__ import annotations

import importlib
import sys
from functools import partial

import numpy as np

from pyscan import _core
from pyscan._core import Apply, Constant, Op, Type, Variable
from pyscan.sharedvalue import SharedVariable, generic, shared, shared_constructor
from pyscan.tensor.basic import NoneConst, as_tensor_variable

# Types of generators


def _equal_states(a, b) -> bool:
    """Whether two state dictionaries (nested, with arrays) are equal, key by key."""
    if isinstance(a, dict) or isinstance(b, dict):
        return isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys() and all(_equal_states(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(_equal_states, a, b))
    return bool(np.array_equal(a, b))


class RandomType(Type):
    """A type whose values are NumPy generators of one class; see `RandomGeneratorType` and `RandomStateType`."""

    type_kind = "rng"
    value_class: type

    def filter(self, data, strict=False, allow_downcast=None):
        """The data when it is of the NumPy class, a new generator for a state dictionary (not strict); else TypeError."""
        if isinstance(data, self.value_class):
            return data
        if not strict and isinstance(data, dict):
            return self._from_state(data)
        raise TypeError()

    def is_valid_value(self, data, strict=True):
        """Whether `filter` takes the data."""
        try:
            self.filter(data, strict=strict)
        except TypeError:
            return False
        return True

    def values_eq(self, a, b):
        """Whether two generators, or their state dictionaries, stand in the same state."""
        return _equal_states(*(v if isinstance(v, dict) else self._to_state(v) for v in (a, b)))

    values_eq_approx = values_eq

    @staticmethod
    def may_share_memory(a, b):
        """Whether two generators draw from one bit generator."""
        return a._bit_generator is b._bit_generator

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return type(self).__name__

    __str__ = __repr__

    @staticmethod
    def _to_state(generator):
        raise NotImplementedError

    def _from_state(self, state):
        """A generator for a state dictionary that NumPy made; TypeError when it is none."""
        try:
            return self._restored(state)
        except (AttributeError, IndexError, KeyError, OverflowError, ValueError) as error:  # a part is missing, or of another kind
            raise TypeError() from error

    def _restored(self, state):
        bit_class = getattr(np.random, str(state.get("bit_generator")), None)
        if not (isinstance(bit_class, type) and issubclass(bit_class, np.random.BitGenerator)) or "state" not in state:
            raise TypeError()
        bit_generator = bit_class(0)
        bit_generator.state = {key: value for key, value in state.items() if key not in ("has_gauss", "gauss")}
        return self.value_class(bit_generator)


class RandomGeneratorType(RandomType):
    """The type of `numpy.random.Generator` values.

    >>> import numpy as np
    >>> random_generator_type.is_valid_value(np.random.default_rng(1))
    True
    """

    value_class = np.random.Generator

    @staticmethod
    def _to_state(generator):
        return generator.bit_generator.state


class RandomStateType(RandomType):
    """The type of `numpy.random.RandomState` values.

    >>> import numpy as np
    >>> random_state_type.is_valid_value(np.random.default_rng(1))
    False
    """

    value_class = np.random.RandomState

    @staticmethod
    def _to_state(generator):
        return generator.get_state(legacy=False)

    def _restored(self, state):
        key = state["state"]["key"]
        if key.shape != (624,) or key.dtype != np.uint32 or "gauss" not in state or "has_gauss" not in state:
            raise TypeError()
        generator = super()._restored(state)
        generator.set_state(state)
        return generator


random_generator_type = RandomGeneratorType()
random_state_type = RandomStateType()


# Variables


def find_random_variable(spaces, name):
    """The RandomVariable, or the partial of one, that the first of the namespaces has under the name; else None."""
    op_class = sys.modules["pyscan.tensor.random"].RandomVariable
    found = next((getattr(space, name) for space in spaces if hasattr(space, name)), None)
    return found if isinstance(found.func if isinstance(found, partial) else found, op_class) else None


class _Draws:
    """Gives a generator variable the distributions as methods, as PyTensor 3 has them: ``next_rng, draw = rng.normal(0.0, 1.0)``."""

    def __getattr__(self, name):
        found = None if name.startswith("_") else find_random_variable([importlib.import_module("pyscan.tensor.random")], name)
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return partial(found, rng=self, return_next_rng=True)


class RandomTypeVariable(_Draws, Variable):
    """A variable that stands for a generator. A distribution's method gives the next state and the draw.

    >>> next_rng, draw = rng("rng").normal(0.0, 1.0, size=2)
    >>> next_rng.type, draw.type
    (RandomGeneratorType, TensorType(float64, (2,)))
    """


RandomType.variable_type = RandomTypeVariable


def rng(name=None):
    """A variable for a `numpy.random.Generator` that the compiled function gets as an argument; PyTensor's spelling.

    >>> import numpy as np, pyscan
    >>> generator = rng("generator")
    >>> next_rng, draw = generator.normal()
    >>> f = pyscan.function([generator], [next_rng, draw])
    >>> bool(f(np.random.default_rng(3))[1] == np.random.default_rng(3).normal())
    True
    """
    return random_generator_type(name)


# Shared generators


class RandomTypeSharedVariable(_Draws, SharedVariable):
    """A shared variable that holds a NumPy generator; `get_value` and `set_value` copy unless ``borrow=True``."""

    def __str__(self):
        return self.name or f"{type(self).__name__}(<{self.container.storage[0]!r}>)"

    __repr__ = __str__


class RandomGeneratorSharedVariable(RandomTypeSharedVariable):
    """A shared variable that holds a `numpy.random.Generator`.

    >>> import numpy as np, pyscan
    >>> rng = pyscan.shared(np.random.default_rng(1), name="rng")
    >>> rng.get_value().normal() == np.random.default_rng(1).normal()
    True
    """


class RandomStateSharedVariable(RandomTypeSharedVariable):
    """A shared variable that holds a `numpy.random.RandomState`."""


def _shared_generator(variable_class, random_type, value, name, strict, allow_downcast, borrow):
    if not isinstance(value, random_type.value_class):
        raise TypeError()
    return variable_class(
        name=name, type=random_type, value=value if borrow else _core.copy_generator(value), strict=strict, allow_downcast=allow_downcast
    )


@shared_constructor
def _shared_random_generator(value, name=None, strict=False, allow_downcast=None, borrow=False):
    return _shared_generator(RandomGeneratorSharedVariable, random_generator_type, value, name, strict, allow_downcast, borrow)


@shared_constructor
def _shared_random_state(value, name=None, strict=False, allow_downcast=None, borrow=False):
    return _shared_generator(RandomStateSharedVariable, random_state_type, value, name, strict, allow_downcast, borrow)


def shared_rng(value=None, *, seed=..., name=None, borrow=False):
    """A shared variable that holds a `numpy.random.Generator`: `value`, copied unless `borrow`, or a new one for the seed.

    ValueError when both or neither is given. PyTensor's spelling of ``shared(numpy.random.default_rng(seed), name)``.

    >>> import pyscan
    >>> generator = shared_rng(seed=3, name="generator")
    >>> next_rng, draw = generator.normal()
    >>> f = pyscan.function([], draw, updates={generator: next_rng})
    """
    if (value is None) == (seed is ...):
        raise ValueError("Must set one of value or seed" if value is None else "Cannot specify both value and seed")
    if value is None:
        return shared(np.random.default_rng(seed), name=name, borrow=True)
    if not isinstance(value, np.random.Generator):
        raise TypeError(f"Expected numpy.random.Generator, got {type(value)}")
    return shared(value, name=name, borrow=borrow)


def _is_seed(value) -> bool:
    """Whether numpy.random.default_rng takes it as a seed."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, (int, np.integer)) for item in value)
    return isinstance(value, (int, np.integer, np.random.SeedSequence)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iu")


def generator_given(value):
    """A shared generator for a NumPy generator or bit generator (copied) or a SeedSequence; anything else as it is.

    What `scan` and `ifelse` do with values that they are given: a number is no seed there.
    """
    if isinstance(value, np.random.SeedSequence):
        return shared(np.random.default_rng(value), borrow=True)
    if isinstance(value, np.random.BitGenerator):
        return shared(np.random.Generator(value))
    return shared(value) if isinstance(value, (np.random.Generator, np.random.RandomState)) else value


def as_generator_variable(rng):
    """The variable for what a caller gave as ``rng=``: None (a fresh generator), a variable, a NumPy generator or bit generator
    (copied), or a seed. TypeError for anything else."""
    if rng is None or _is_seed(rng):
        return shared(np.random.default_rng(rng), borrow=True)
    rng = generator_given(rng)
    if not isinstance(rng, Variable) or not isinstance(rng.type, RandomType):
        raise TypeError("The type of rng should be an instance of either RandomGeneratorType or RandomStateType")
    return rng


# Generators made inside the graph


class AbstractRNGConstructor(Op):
    """Makes a generator from a seed (None, an integer, an array of integers or a SeedSequence) in the graph, anew at each call."""

    __props__ = ()
    random_type: RandomType
    random_constructor: str

    def make_node(self, seed=None):
        if seed is None:
            seed = NoneConst
        elif isinstance(seed, np.random.SeedSequence):
            seed = Constant(generic, seed)
        return Apply(self, [seed if isinstance(seed, Constant) else as_tensor_variable(seed)], [self.random_type()])

    def perform(self, node, inputs, output_storage):
        (seed,) = inputs
        if isinstance(seed, np.ndarray) and seed.size == 1:
            seed = int(np.asarray(seed).reshape(()))
        output_storage[0][0] = getattr(np.random, self.random_constructor)(seed)


class DefaultGeneratorMakerOp(AbstractRNGConstructor):
    """`numpy.random.default_rng` as an Op."""

    random_type = random_generator_type
    random_constructor = "default_rng"


class RandomStateConstructor(AbstractRNGConstructor):
    """`numpy.random.RandomState` as an Op."""

    random_type = random_state_type
    random_constructor = "RandomState"


default_rng = DefaultGeneratorMakerOp()
RandomState = RandomStateConstructor()

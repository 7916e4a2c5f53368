"""Random variables: their Op and types, shared generators, the distributions, and RandomStream.

The distributions come from the core's table (csrc/random/dists.def): names, parameters, defaults, dtypes and docs. What
is written here by hand is what Aesara's functions do to their arguments before the node is made (`_CONVENTIONS`).

Relies on: _core, config, sharedvalue, tensor types and basic functions. Relied on by: scan, function.
"""
from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from functools import partial, update_wrapper

import numpy as np

from pyscan import _core
from pyscan._core import Apply, Constant, Op, Type, Variable
from pyscan.config import config
from pyscan.sharedvalue import SharedVariable, shared, shared_constructor
from pyscan.tensor.basic import NoneConst, as_tensor_variable, cast, constant, get_vector_length
from pyscan.tensor.shape import specify_shape
from pyscan.tensor.type import TensorType

# In the order that gives each dtype its number in a random variable's third input.
ALL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


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
        bit_class = getattr(np.random, str(state.get("bit_generator")), None)
        if not (isinstance(bit_class, type) and issubclass(bit_class, np.random.BitGenerator)) or "state" not in state:
            raise TypeError()
        bit_generator = bit_class(0)
        try:
            bit_generator.state = {k: v for k, v in state.items() if k not in ("has_gauss", "gauss")}
        except (KeyError, ValueError) as error:
            raise TypeError() from error
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

    def _from_state(self, state):
        generator = super()._from_state(state)
        if "gauss" in state:
            try:
                generator.set_state(state)
            except (KeyError, ValueError) as error:
                raise TypeError() from error
        return generator


random_generator_type = RandomGeneratorType()
random_state_type = RandomStateType()


# Shared generators


class RandomTypeSharedVariable(SharedVariable):
    """A shared variable that holds a NumPy generator; `get_value` and `set_value` copy unless ``borrow=True``."""

    def __str__(self):
        return self.name if self.name is not None else f"{type(self).__name__}(<{self.container.storage[0]!r}>)"

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


def _as_generator_variable(rng):
    """The variable for what a caller gave as ``rng=``: None, a variable, a NumPy generator (copied) or a seed."""
    if rng is None or isinstance(rng, (int, np.integer, np.random.SeedSequence, np.random.BitGenerator)):
        return shared(np.random.default_rng(rng), borrow=True)
    if isinstance(rng, (np.random.Generator, np.random.RandomState)):
        return shared(rng)
    if not isinstance(rng, Variable) or not isinstance(rng.type, RandomType):
        raise TypeError("The type of rng should be an instance of either RandomGeneratorType or RandomStateType")
    return rng


# Sizes and shapes


def normalize_size_param(size):
    """The int64 vector variable for a ``size=`` argument: None, an integer, a sequence, an array or a variable.

    None gives the empty vector, which stands for "as the parameters broadcast". TypeError for other values; ValueError for
    a vector variable of unknown length.
    """
    if size is None:
        return constant([], dtype="int64")
    if isinstance(size, int):
        size = [size]
    elif not isinstance(size, (np.ndarray, Variable, Sequence)):
        raise TypeError("Parameter size must be None, an integer, or a sequence with integers.")
    size = as_tensor_variable(size, ndim=1)
    if isinstance(size, Constant):
        return size if size.type.dtype == "int64" else constant(size.data.astype("int64"), dtype="int64")
    return specify_shape(cast(size, "int64"), (get_vector_length(size),))


def _without_casts(variable):
    """What a size or a length was made of by casts to int64, which keep its value, and by checks of its own length."""
    while not isinstance(variable, Constant) and variable.owner is not None:
        op = variable.owner.op
        kind = getattr(op, "kind", None)
        is_cast = kind == "elemwise" and getattr(op.scalar_op, "kind", None) == "cast" and variable.type.dtype == "int64"
        if not is_cast and kind != "specify_shape":
            break
        variable = variable.owner.inputs[0]
    return variable


def _static_length(variable):
    """The value of an integer scalar that is known now, as an int of 0 or more, else None."""
    variable = _without_casts(variable)
    if not isinstance(variable, Constant) or int(variable.data) < 0:
        return None
    return int(variable.data)


def _static_size(size):
    """The entries of a size vector that are known now: a list of ints and Nones."""
    length, size = get_vector_length(size), _without_casts(size)
    if isinstance(size, Constant):
        return [int(n) if n >= 0 else None for n in size.data]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "dimshuffle" and size.owner.inputs[0].type.ndim == 0:
        return [_static_length(size.owner.inputs[0])]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "make_vector":
        return [_static_length(n) for n in size.owner.inputs]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "shape":
        return list(size.owner.inputs[0].type.shape)
    return [None] * length


def _broadcast_static(shapes):
    """What static shapes broadcast to: unknown where one is; lengths that clash are left for the run to refuse."""
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        lengths = [shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != 1]
        result.append(None if None in lengths else max(lengths, default=1))
    return result


# The Op


class RandomVariable(Op):
    """A draw from a distribution: inputs ``rng, size, dtype index, *params``, outputs ``[next rng, draw]``.

    Calling one gives the draw. With ``inplace=True`` the generator is moved itself, else a copy of it. ``ndim_supp`` is the
    rank of one draw, ``ndims_params`` the ranks of the parameters of one draw; more axes are batches. The dtype is the
    Op's own ("floatX": the configured one) or, when that is None, the caller's. Subclasses that are not in the core's table
    define ``rng_fn(rng, *params, size)``. After Aesara's Op of that name.

    >>> draw = normal(0.0, [1.0, 2.0])
    >>> draw.type
    TensorType(float64, (2,))
    """

    __props__ = ("name", "ndim_supp", "ndims_params", "dtype", "inplace")
    default_output = 1

    name: str | None = None
    ndim_supp: int | None = None
    ndims_params: Sequence[int] | None = None
    dtype: str | None = None
    inplace: bool = False
    # The parameter (an index) whose last axes are the support of a draw, for ndim_supp above 0.
    support_param = 0

    def __init__(self, name=None, ndim_supp=None, ndims_params=None, dtype=None, inplace=None):
        super().__init__()
        self.name = name or type(self).name
        self.ndim_supp = type(self).ndim_supp if ndim_supp is None else ndim_supp
        self.dtype = dtype or type(self).dtype
        self.inplace = type(self).inplace if inplace is None else inplace
        ndims_params = type(self).ndims_params if ndims_params is None else ndims_params
        if not isinstance(ndims_params, Sequence):
            raise TypeError("Parameter ndims_params must be sequence type.")
        self.ndims_params = tuple(ndims_params)
        if self.inplace:
            self.destroy_map = {0: [0]}
        if self._is_native():
            self.kind = "random"

    def _is_native(self) -> bool:
        """Whether the core draws this itself: a row of its table, not redefined by a subclass."""
        row = _ROWS.get(self.name)
        if row is None or type(self).rng_fn.__func__ is not RandomVariable.rng_fn.__func__:
            return False
        return self.ndim_supp == row["ndim_supp"] and self.ndims_params == _ndims_params(row)

    def __str__(self):
        return f"{self.name}_rv{{{', '.join(str(getattr(self, prop)) for prop in self.__props__[1:])}}}"

    __repr__ = __str__

    def __call__(self, *params, size=None, name=None, rng=None, dtype=None, return_list=False, **kwargs):
        node = self.make_node(rng, size, dtype, *params, **kwargs)
        draw = node.outputs[self.default_output]
        if name is not None:
            draw.name = name
        return [draw] if return_list else draw

    def make_node(self, rng, size, dtype, *dist_params):
        """The node of a draw: rng None (a fresh generator), a variable, a NumPy generator (copied) or a seed; size see
        `normalize_size_param`; dtype a name, a number of `ALL_DTYPES` (a constant) or None; then the parameters."""
        rng = _as_generator_variable(rng)
        size = normalize_size_param(size)
        params = tuple(as_tensor_variable(p) for p in dist_params)
        dtype = self._dtype(dtype)
        shape = self._static_shape(size, params)
        index = constant(ALL_DTYPES.index(dtype), dtype="int64")
        return Apply(self, (rng, size, index, *params), (rng.type(), TensorType(dtype, shape)()))

    def _dtype(self, dtype):
        if self.dtype is not None:
            dtype = self.dtype
        elif isinstance(dtype, Variable):
            dtype = ALL_DTYPES[int(dtype.data)]
        elif isinstance(dtype, (int, np.integer)):
            dtype = ALL_DTYPES[dtype]
        if dtype is None:
            raise TypeError("dtype is unspecified")
        return config.floatX if dtype == "floatX" else np.dtype(dtype).name

    def _static_shape(self, size, params):
        sizes = _static_size(size)
        if not sizes:
            sizes = _broadcast_static([p.type.shape[: p.type.ndim - n] for p, n in zip(params, self.ndims_params)])
        return (*sizes, *self._static_support(params))

    def _static_support(self, params):
        if not self.ndim_supp:
            return ()
        reference = params[self.support_param]
        if reference.type.ndim < self.ndim_supp:
            raise ValueError(
                f"Reference parameter does not match the expected dimensions; {reference} has less than {self.ndim_supp} dim(s)."
            )
        return reference.type.shape[-self.ndim_supp :]

    @classmethod
    def rng_fn(cls, rng, *args, **options):
        """Draws: ``rng_fn(rng, *params, size)``, size None or a tuple. Without a row in the table: the generator's method.

        ValueError when the parameters do not broadcast to the size.
        """
        row = _ROWS.get(cls.name)
        if row is None:
            return getattr(rng, cls.name)(*args, **options)
        *params, size = (*args, options["size"]) if "size" in options else args
        batches = [np.shape(p)[: np.ndim(p) - n] for p, n in zip(params, _ndims_params(row))]
        if size is None:
            size = np.broadcast_shapes(*batches)
        elif row["composed"]:
            _check_size(size, batches, _signature(row["params"]).parameters)
        names = {"np": np, "rng": rng, "size": size, **dict(zip(_signature(row["params"]).parameters, params))}
        return eval(row["method"], names)  # an expression of our own table

    def perform(self, node, inputs, output_storage):
        """One call of the node in Python, for Ops that the core has no row for."""
        rng, size, _, *params = inputs
        if not self.inplace:
            rng = _core.copy_generator(rng)
        output_storage[0][0] = rng
        drawn = self.rng_fn(rng, *params, tuple(int(n) for n in size) if len(size) else None)
        output_storage[1][0] = np.asarray(drawn, dtype=node.outputs[1].type.dtype)


# Distributions, from the table


def _check_size(size, batches, names):
    """What NumPy's methods check themselves: that each parameter's batch broadcasts to the size."""
    size = tuple(np.atleast_1d(size))
    for batch, name in zip(batches, names):
        if np.broadcast_shapes(batch, size) != size:
            raise ValueError(f"`size` is incompatible with the shape of `{name}`: {size} was given, {name} is a batch of shape {batch}")


def _signature(params: str) -> inspect.Signature:
    """The signature of a function with these parameters, written as in a `def`."""
    return inspect.signature(eval(f"lambda {params}: None"))


def _ndims_params(row) -> tuple[int, ...]:
    return tuple(1 if kind == "v" else 0 for kind in row["kinds"])


_ROWS = {row["name"]: row for row in _core.dists()}


def _gamma_params(shape, rate):
    return shape, 1.0 / rate


def _integers_params(low, high):
    return (0, low) if high is None else (low, high)


# What a distribution's function takes, where it differs from the parameters of its node, and how these are made of it.
_CONVENTIONS = {"gamma": ("shape, rate", _gamma_params), "integers": ("low, high=None", _integers_params)}


def _check_integers_rng(rng):
    if not isinstance(rng.type, RandomGeneratorType):
        raise TypeError("`integers` is only available for `RandomGeneratorType`s")


def _call_method(signature, convert):
    """A `__call__` with that signature, whose arguments `convert` turns into the node's parameters."""
    parameter = inspect.Parameter
    arguments = [
        *signature.parameters.values(),
        parameter("size", parameter.POSITIONAL_OR_KEYWORD, default=None),
        parameter("kwargs", parameter.VAR_KEYWORD),
    ]
    given = inspect.Signature(arguments)

    def __call__(self, *args, **kwargs):
        bound = given.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        size, options = values.pop("size"), values.pop("kwargs")
        return RandomVariable.__call__(self, *(convert(**values) if convert else values.values()), size=size, **options)

    __call__.__signature__ = inspect.Signature([parameter("self", parameter.POSITIONAL_ONLY), *arguments])
    return __call__


def _example_arguments(signature, kinds):
    """Arguments that any distribution of these kinds of parameters takes, for its docstring."""
    texts = {"d": "0.5", "l": "3", "v": "[0.25, 0.75]"}
    return ", ".join(texts[kind] for kind, p in zip(kinds, signature.parameters.values()) if p.default is p.empty)


def _document(name, row, signature):
    arguments = _example_arguments(signature, row["kinds"])
    return f"""Draws: {row["doc"]}.

    Called as ``{name}({', '.join(map(str, signature.parameters.values()))}, size=None, name=None, rng=None, dtype=None)``. The parameters broadcast{
        ", each a vector along its last axis" if "v" in row["kinds"] else ""}; ``size`` is the shape of
    the draws, None for that of the parameters. The dtype is {row["dtype"]}. ``rng`` is a generator variable (None: a fresh
    generator, the same draws in each call). Values and generator states equal NumPy's ``{row["method"]}``.

    >>> {name}({arguments + ", " if arguments else ""}size=2).type.shape
    (2,)
    """


def _make_distribution(row):
    """The Op class of one row, under the name that pickle finds it by, and its instance."""
    name = row["name"]
    params, convert = _CONVENTIONS.get(name, (row["params"], None))
    signature = _signature(params)
    class_name = "".join(part.capitalize() for part in name.split("_")) + "RV"
    members = {
        "name": name, "ndim_supp": row["ndim_supp"], "ndims_params": _ndims_params(row), "dtype": row["dtype"],
        "__call__": _call_method(signature, convert), "__doc__": _document(name, row, signature), "__module__": __name__,
    }  # fmt: skip
    if name == "integers":
        members["make_node"] = _make_integers_node
    return type(class_name, (RandomVariable,), members)


def _make_integers_node(self, rng, size, dtype, *dist_params):
    rng = _as_generator_variable(rng)
    _check_integers_rng(rng)
    return RandomVariable.make_node(self, rng, size, dtype, *dist_params)


def _define_distributions(namespace):
    """Puts the class and the instance of each row into the namespace; returns the instances' names."""
    for name, row in _ROWS.items():
        cls = _make_distribution(row)
        namespace[cls.__name__] = cls
        namespace[name] = cls()
    aliases = {
        "random": lambda: namespace["uniform"],
        "standard_normal": lambda: partial(namespace["normal"], loc=0.0, scale=1.0),
        "standard_exponential": lambda: partial(namespace["exponential"], scale=1.0),
        "standard_gamma": lambda: partial(namespace["gamma"], rate=1.0),
    }
    for name, make in aliases.items():
        namespace[name] = found = make()
        if isinstance(found, partial):
            found.__name__ = name
    return [*_ROWS, *aliases]


_NAMES = _define_distributions(globals())


# Generators made inside the graph


class RNGConstructor(Op):
    """Makes a generator from a seed (None, an integer or an array of integers) in the graph, anew at each call."""

    __props__ = ("random_type",)

    def __init__(self, random_type, construct):
        super().__init__()
        self.random_type, self.construct = random_type, construct

    def make_node(self, seed=None):
        seed = NoneConst if seed is None else seed
        if seed is not NoneConst:
            seed = as_tensor_variable(seed)
        return Apply(self, [seed], [self.random_type()])

    def perform(self, node, inputs, output_storage):
        (seed,) = inputs
        if seed is not None and np.size(seed) == 1:
            seed = int(np.asarray(seed).reshape(()))
        output_storage[0][0] = self.construct(seed)


class DefaultGeneratorMakerOp(RNGConstructor):
    """`numpy.random.default_rng` as an Op."""


class RandomStateConstructor(RNGConstructor):
    """`numpy.random.RandomState` as an Op."""


default_rng = DefaultGeneratorMakerOp(random_generator_type, np.random.default_rng)
RandomState = RandomStateConstructor(random_state_type, np.random.RandomState)


# Streams


def _random_state_of(seed):
    return np.random.RandomState(np.random.MT19937(seed))


class RandomStream:
    """Random variables that each have a shared generator of their own, seeded in order from one seed.

    The k-th variable draws from ``rng_ctor(child k of SeedSequence(seed))`` and moves on with each call of a compiled
    function (`default_update`). Any distribution of the namespaces is a method. After Aesara's class of that name.

    >>> import numpy as np
    >>> stream = RandomStream(seed=42)
    >>> float(stream.normal().eval()) == np.random.default_rng(np.random.SeedSequence(42).spawn(1)[0]).normal()
    True
    """

    def __init__(self, seed=None, namespace=None, rng_ctor=np.random.default_rng):
        self.namespaces = [sys.modules[__name__] if namespace is None else namespace]
        self.default_instance_seed = seed
        self.state_updates: list[tuple[SharedVariable, Variable]] = []
        self.gen_seedgen = np.random.SeedSequence(seed)
        if isinstance(rng_ctor, type) and issubclass(rng_ctor, np.random.RandomState):
            rng_ctor = _random_state_of
        self.rng_ctor = rng_ctor

    def __getattr__(self, name):
        if name.startswith("__") or "namespaces" not in self.__dict__:
            raise AttributeError(f"No attribute {name}.")
        found = next((getattr(space, name) for space in self.namespaces if hasattr(space, name)), None)
        if not isinstance(found.func if isinstance(found, partial) else found, RandomVariable):
            raise AttributeError(f"No attribute {name}.")
        method = update_wrapper(partial(self.gen, found), found, updated=())
        setattr(self, name, method)
        return method

    def updates(self):
        """The pairs (shared generator, its next state), in order of making."""
        return list(self.state_updates)

    def seed(self, seed=None):
        """Seeds the generators of all variables made so far anew, in order; None means the seed given at the start."""
        self.gen_seedgen = np.random.SeedSequence(self.default_instance_seed if seed is None else seed)
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


__all__ = [
    "ALL_DTYPES", "DefaultGeneratorMakerOp", "RandomGeneratorSharedVariable", "RandomGeneratorType", "RandomState",
    "RandomStateConstructor", "RandomStateSharedVariable", "RandomStateType", "RandomStream", "RandomType", "RandomVariable",
    "default_rng", "normalize_size_param", "random_generator_type", "random_state_type", *_NAMES,
]  # fmt: skip

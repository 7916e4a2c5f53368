"""Random variables: their Op, and the distributions. Also names what random_types, random_shapes and random_stream hold.

The distributions come from the core's table (csrc/random/dists.def): names, parameters, defaults, dtypes and docs. What
is written here by hand is what Aesara's functions do to their arguments before the node is made (`_CONVENTIONS`). A
distribution's class and function are made when somebody first asks for them by name.

Relies on: _core, config, sharedvalue, tensor types and basic functions, random_types, random_shapes. Relied on by: scan, function.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from pyscan import _core
from pyscan._core import Apply, Op, Variable
from pyscan.config import config
from pyscan.errors import telling
from pyscan.tensor.basic import NoneConst, arange, as_tensor_variable, cast, constant, get_vector_length
from pyscan.tensor.random_shapes import (
    broadcast_params,
    broadcast_static,
    default_supp_shape_from_params,
    normalize_size_param,
    params_broadcast_shapes,
    static_length,
    static_lengths,
    static_size,
    symbolic_shape,
)
from pyscan.tensor.random_stream import RandomStream
from pyscan.tensor.random_types import (
    AbstractRNGConstructor,
    DefaultGeneratorMakerOp,
    RandomGeneratorSharedVariable,
    RandomGeneratorType,
    RandomState,
    RandomStateConstructor,
    RandomStateSharedVariable,
    RandomStateType,
    RandomType,
    RandomTypeSharedVariable,
    RandomTypeVariable,
    default_rng,
    random_generator_type,
    random_state_type,
    rng,
    shared_rng,
)
from pyscan.tensor.random_types import as_generator_variable as _as_generator_variable
from pyscan.tensor.math import maximum
from pyscan.tensor.shape import shape_padleft
from pyscan.tensor.type import TensorType
from pyscan.tensor.type_other import NoneTypeT

broadcast_shapes = np.broadcast_shapes

# In the order that gives each dtype its number in a random variable's third input.
ALL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


# The Op


class RandomVariable(Op):
    """A draw from a distribution: inputs ``rng, size, dtype index, *params``, outputs ``[next rng, draw]``.

    Calling one gives the draw. With ``inplace=True`` the generator is moved itself, else a copy of it. ``ndim_supp`` is the
    rank of one draw, ``ndims_params`` the ranks of the parameters of one draw; more axes are batches. The dtype is the
    Op's own ("floatX": the configured one) or, when that is None, the caller's. Subclasses that are not in the core's table
    define ``rng_fn(rng, *params, size)``, and, where the shape of a draw does not follow from the parameter number
    `support_param`, ``_supp_shape_from_params(dist_params, param_shapes=None)`` or ``_infer_shape(size, dist_params,
    param_shapes=None)``, which give it as a tuple or a vector variable. After Aesara's Op of that name.

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
        own = [getattr(type(self), name) for name in ("rng_fn", "perform")]
        if row is None or own != [RandomVariable.rng_fn, RandomVariable.perform]:
            return False
        return self.ndim_supp == row["ndim_supp"] and self.ndims_params == row["ndims_params"]

    def __str__(self):
        return f"{self.name}_rv{{{', '.join(str(getattr(self, prop)) for prop in self.__props__[1:])}}}"

    __repr__ = __str__

    def __call__(self, *params, size=None, name=None, rng=None, dtype=None, return_list=False, return_next_rng=False, **kwargs):
        draw = Op.__call__(self, rng, size, dtype, *params, **kwargs)
        if name is not None:
            draw.name = name
        if return_next_rng:
            return draw.owner.outputs[0], draw
        return [draw] if return_list else draw

    def make_node(self, rng, size, dtype, *dist_params):
        """The node of a draw: rng None (a fresh generator), a variable, a NumPy generator (copied) or a seed; size see
        `normalize_size_param`; dtype a name, a number of `ALL_DTYPES` (a constant) or None; then the parameters."""
        rng = _as_generator_variable(rng)
        self._check_owner(rng)
        size = normalize_size_param(size)
        params = tuple(p if isinstance(p, Variable) and not isinstance(p.type, RandomType) else as_tensor_variable(p) for p in dist_params)
        self._check_dtypes(params)
        dtype = self._dtype(dtype, params)
        shape = self._static_shape(size, params)
        if self._is_native():
            params = _RANKS.get(self.name, lambda *params: params)(*params)
        index = constant(ALL_DTYPES.index(dtype), dtype="int64")
        return Apply(self, (rng, size, index, *params), (rng.type(), TensorType(dtype, shape)()))

    def _check_owner(self, rng):
        """TypeError where the draw is one that such generators do not have."""
        owners = _ROWS[self.name]["owners"] if self._is_native() else (True, True)
        for has, other in zip(owners, (RandomStateType, RandomGeneratorType)):
            if not has and not isinstance(rng.type, other):
                raise TypeError(f"`{self.name}` is only available for `{other.__name__}`s{_OTHER_NAMES.get(self.name, '')}")

    def _dtype(self, dtype, params):
        if self.dtype is not None:
            dtype = self.dtype
        elif isinstance(dtype, Variable):
            dtype = ALL_DTYPES[int(dtype.data)]
        elif isinstance(dtype, (int, np.integer)):
            dtype = ALL_DTYPES[dtype]
        if dtype is None and self._has_population():
            dtype = params[0].type.dtype
        if dtype is None:
            raise TypeError("dtype is unspecified")
        if dtype != "floatX" and isinstance(dtype, str) and dtype not in ALL_DTYPES:
            raise TypeError(f"dtype is unspecified: {dtype!r} is none of {', '.join(ALL_DTYPES)}")
        return config.floatX if dtype == "floatX" else np.dtype(dtype).name

    def _check_dtypes(self, params):
        """TypeError, in NumPy's words, where a parameter would lose a part of its values on the way to the law's own dtype."""
        row = _ROWS.get(self.name) if self._is_native() else None
        for param, kind, name in zip(params, row["kinds"] if row else "", _parameters(row["params"]) if row else ()):
            if kind in "nb":
                continue
            target = "int64" if kind == "l" and self.name not in ("integers", "randint") else "float64"
            given = getattr(param.type, "dtype", target)
            if not np.can_cast(given, target, "same_kind"):
                what = "scalar" if param.type.ndim == 0 else "array data"
                raise TypeError(
                    f"Cannot cast {what} from dtype('{given}') to dtype('{target}') according to the rule 'safe': this is `{name}` of "
                    f"{self.name}, {param}. Cast it yourself if that is meant."
                )

    def _static_shape(self, size, params):
        """The lengths that are known now, None for others."""
        if type(self)._infer_shape is not RandomVariable._infer_shape:
            return static_lengths(self._infer_shape(size, params))
        if self._has_population():
            return static_lengths(self._shape_by_population(size, params, None))
        sizes = static_size(size)
        if not sizes:
            sizes = broadcast_static([self._batch(p.type.shape, i) for i, p in enumerate(params)])
        if not self.ndim_supp:
            return sizes
        if type(self)._supp_shape_from_params is not RandomVariable._supp_shape_from_params:
            return (*sizes, *static_lengths(self._supp_shape_from_params(params)))
        self._supp_shape_from_params(params)  # refuses too low a rank
        return (*sizes, *params[self.support_param].type.shape[-self.ndim_supp :])

    def _batch(self, shape, position):
        """The leading lengths of a parameter's shape that count draws; IndexError when it has too low a rank for one draw."""
        n = self.ndims_params[position]
        if len(shape) < n:
            raise IndexError(
                f"too many indices for array: parameter number {position} of {self.name} has {len(shape)} dimension(s), and needs "
                f"{n} for one draw"
            )
        return tuple(shape)[: len(shape) - n]

    def _has_population(self) -> bool:
        """Whether it draws positions in its first parameter, an array of any dtype: what is drawn is taken from that."""
        return self.name in _ROWS and _ROWS[self.name]["kinds"][0] == "n" and self._is_native()

    def _shape_by_population(self, size, params, param_shapes):
        """The shape of what is taken from an array by positions along its first axis, as a tuple: `_infer_shape` of these Ops."""
        array = params[0]
        if self.ndim_supp and array.type.ndim == 0:
            if array.type.dtype not in ("bool", *ALL_DTYPES[1:9]):
                raise TypeError(f"Shapes must be scalar integers; got {array}")
            return (maximum(cast(array, "int64"), 0) if static_length(array) is None else array,)
        shape = tuple(param_shapes[0]) if param_shapes else symbolic_shape(array)
        if self.ndim_supp:
            return shape
        for position, param in enumerate(params[:2]):
            if not isinstance(param.type, NoneTypeT):
                self._batch(param.type.shape, position)
        if getattr(params[1].type, "ndim", 1) > 1:
            raise ValueError(f"p must be 1-dimensional: {params[1]} has {params[1].type.ndim} dimensions")
        if params[2].type.ndim > 0:
            raise ValueError(f"replace must be one truth value: {params[2]} has {params[2].type.ndim} dimension(s)")
        return (*(size[i] for i in range(get_vector_length(size))), *shape[1:])

    def _supp_shape_from_params(self, dist_params, rep_param_idx=None, param_shapes=None):
        """The shape of one draw, without batch and size, as a tuple; see `default_supp_shape_from_params`."""
        if not self.ndim_supp and self._has_population():
            raise NotImplementedError(f"{self.name} draws elements of an array: their shape follows from no parameter but from that array")
        index = self.support_param if rep_param_idx is None else rep_param_idx
        return default_supp_shape_from_params(self.ndim_supp, dist_params, index, param_shapes)

    def _infer_shape(self, size, dist_params, param_shapes=None):
        """The shape of the draws as a tuple of lengths, or a vector variable. `param_shapes`: the parameters' shapes, if known better."""
        if self._has_population():
            shape = self._shape_by_population(size, [as_tensor_variable(p) for p in dist_params], param_shapes)
            return shape if len(shape) else constant([], dtype="int64")
        shape = size
        if get_vector_length(size) == 0:
            params = [as_tensor_variable(p) for p in dist_params]
            shapes = param_shapes or [symbolic_shape(p) for p in params]
            batches = [self._batch(tuple(one), i) for i, one in enumerate(shapes)]
            shape = params_broadcast_shapes(batches, [0] * len(batches))[0] if batches else ()
        if self.ndim_supp:
            entries = [shape[i] for i in range(get_vector_length(shape))] if isinstance(shape, Variable) else shape
            shape = (*entries, *self._supp_shape_from_params(dist_params, param_shapes=param_shapes))
        return shape if isinstance(shape, Variable) or len(shape) else constant([], dtype="int64")

    def infer_shape(self, fgraph, node, input_shapes):
        """The outputs' shapes from the inputs' (None for the generator), as Op.infer_shape has it."""
        return [None, list(self._infer_shape(node.inputs[1], node.inputs[3:], param_shapes=input_shapes[3:]))]

    def R_op(self, inputs, eval_points):
        """Draws have no derivative: None for each input."""
        return [None for _ in eval_points]

    def rng_fn(self, rng, *args, **options):
        """Draws: ``rng_fn(rng, *params, size)``, size None or a tuple. Without a row in the table: the generator's method.

        ValueError when the parameters do not broadcast to the size.
        """
        row = _ROWS.get(self.name)
        if row is None:
            return getattr(rng, self.name)(*args, **options)
        *params, size = (*args, options["size"]) if "size" in options else args
        params = [np.asarray(p) if n and p is not None else p for p, n in zip(params, row["ndims_params"])]
        if row["kinds"][0] == "n":
            return _draw_by_positions(row, rng, params, size)
        batches = [np.shape(p)[: max(np.ndim(p) - n, 0)] for p, n in zip(params, row["ndims_params"])]
        if row["ndim_supp"]:
            params, size = _broadcast_vectors(params, batches, size)
        elif size is None:
            size = np.broadcast_shapes(*batches)
        elif row["composed"]:
            _check_size(size, batches, _parameters(row["params"]))
        names = {"np": np, "rng": rng, "size": tuple(np.atleast_1d(size)), "single": _is_single(row["rounding"], params)}
        if row["rounding"] in ("s", "r"):
            params = [np.asarray(p, "float64") for p in params]
        names |= zip(_parameters(row["params"]), params)
        return eval(row["method"], names)  # an expression of our own table

    def perform(self, node, inputs, output_storage):
        """One call of the node in Python, for Ops that the core has no row for."""
        rng, size, _, *params = inputs
        if not self.inplace:
            rng = _core.copy_generator(rng)
        output_storage[0][0] = rng
        drawn = self.rng_fn(rng, *params, tuple(int(n) for n in size) if len(size) else None)
        output_storage[1][0] = np.asarray(drawn, dtype=node.outputs[1].type.dtype)


class ScipyRandomVariable(RandomVariable):
    """A law of scalars whose class method ``rng_fn_scipy(rng, *params, size)`` draws, as SciPy's ``rvs`` do.

    What that gives without a size is broadcast to the parameters' shape. A base for laws of users; after Aesara's class.

    >>> class Shifted(ScipyRandomVariable):
    ...     name, ndim_supp, ndims_params, dtype = "shifted", 0, (0, 0), "floatX"
    ...     @classmethod
    ...     def rng_fn_scipy(cls, rng, loc, scale, size):
    ...         return loc + rng.exponential(scale, size)
    >>> Shifted()([1.0, 2.0], 3.0).eval().shape
    (2,)
    """

    @classmethod
    def rng_fn_scipy(cls, rng, *args, **options):
        """Draws for the parameters and the size; to be defined by subclasses."""
        raise NotImplementedError(f"{cls.__name__} defines no rng_fn_scipy(rng, *params, size)")

    @classmethod
    def rng_fn(cls, rng, *args, **options):
        """Draws: ``rng_fn(rng, *params, size)``, size None or a tuple."""
        *params, size = (*args, options["size"]) if "size" in options else args
        drawn = np.asarray(cls.rng_fn_scipy(rng, *args, **options))
        shape = broadcast_shapes(*map(np.shape, params)) if size is None else drawn.shape
        return drawn if drawn.shape == shape else np.broadcast_to(drawn, shape).copy()


# Distributions, from the table


def _check_size(size, batches, names):
    """What NumPy's methods check themselves: that each parameter's batch broadcasts to the size."""
    size = tuple(np.atleast_1d(size).tolist())
    for batch, name in zip(batches, names):
        lengths = zip(reversed(batch), reversed(size))
        if len(batch) > len(size) or any(own not in (1, asked) for own, asked in lengths):
            raise ValueError(
                f"`size` is incompatible with the shape of `{name}`: shape mismatch: objects cannot be broadcast to a single shape. "
                f"{size} was given, {name} is a batch of shape {batch}"
            )


def _broadcast_vectors(params, batches, size):
    """The parameters of a law of vectors and the size, None and () standing for the parameters' own. Where a parameter is a batch all are
    broadcast to the size, before anything is drawn; ValueError, in NumPy's words, when one does not fit."""
    if not any(batches):
        return params, () if size is None else size
    size = () if size is None else tuple(np.atleast_1d(size))
    size = size or np.broadcast_shapes(*batches)
    return [np.broadcast_to(param, size + param.shape[len(batch) :]) for param, batch in zip(params, batches)], size


def _draw_by_positions(row, rng, params, size):
    """What stands in the first parameter at the positions drawn along its first axis, or at those below it when it is an integer."""
    array, *others = params
    names = {"np": np, "rng": rng, "size": () if size is None else tuple(np.atleast_1d(size))}
    count = array.item() if array.ndim == 0 else len(array)
    positions = eval(row["method"], names | dict(zip(_parameters(row["params"]), (count, *others))))
    return positions if array.ndim == 0 else array.take(positions, axis=0)


@cache
def _parameters(params: str) -> dict:
    """Parameters that are written as in a `def`, with their defaults; `...` where there is none."""
    made = eval(f"lambda {params}: None")
    names, defaults = made.__code__.co_varnames, made.__defaults__ or ()
    return dict(zip(names, (...,) * (len(names) - len(defaults)) + defaults))


_ROWS = {row["name"]: row for row in _core.dists()}


def _gamma_params(shape, rate):
    return shape, 1.0 / rate


def _is_single(rounding, params) -> bool:
    """Whether float32 is what SciPy computes in, for parameters of these dtypes: 's' the first's, 'r' the ratio of the first two."""
    if rounding not in ("s", "r"):
        return False
    dtypes = [np.asarray(p).dtype for p in params[: 1 if rounding == "s" else 2]]
    return all(np.can_cast(dtype, "float32") for dtype in dtypes) and (rounding == "s" or any(dtype.kind == "f" for dtype in dtypes))


def _integers_params(low, high):
    return (0, low) if high is None else (low, high)


# Names of classes, where they are not made of the words of the distribution's name.
_CLASS_NAMES = {
    "beta_binomial": "BetaBinomialRV", "chisquare": "ChiSquareRV", "gengamma": "GenGammaRV", "halfcauchy": "HalfCauchyRV",
    "halfnormal": "HalfNormalRV", "hypergeometric": "HyperGeometricRV", "invgamma": "InvGammaRV", "lognormal": "LogNormalRV",
    "multivariate_normal": "MvNormalRV", "nbinom": "NegBinomialRV", "randint": "RandIntRV", "t": "StudentTRV",
    "truncexpon": "TruncExponentialRV", "vonmises": "VonMisesRV",
}  # fmt: skip


def get_partial_wrapper(rv, name, *args, **options):
    """A `functools.partial` of a random variable's function, under a name of its own."""
    found = partial(rv, *args, **options)
    found.__name__, found.__module__ = name, rv.__module__
    return found


def _multivariate_normal_params(mean, cov):
    return [np.array(default, config.floatX) if p is None else p for p, default in ((mean, [0.0]), (cov, [[1.0]]))]


def _choice_params(a, replace, p):
    a = as_tensor_variable(a)
    replace = constant(np.array(replace)) if isinstance(replace, bool) else replace
    return arange(a) if a.type.ndim == 0 else a, NoneConst if p is None else p, replace


# What a distribution's function takes, where it differs from the parameters of its node, and how these are made of it.
_CONVENTIONS = {
    "choice": ("a, size=None, replace=True, p=None", _choice_params),
    "gamma": ("shape, rate", _gamma_params),
    "integers": ("low, high=None", _integers_params),
    "multivariate_normal": ("mean=None, cov=None", _multivariate_normal_params),
    "randint": ("low, high=None", _integers_params),
}


def _matrix_of(mean, cov):
    """The mean, and the covariances as a matrix: a scalar stands for independent ones of one variance, a vector for the variances."""
    from pyscan.tensor.extra_ops import diag, eye  # here, as it is imported when it is asked for
    if cov.type.ndim == 0:
        cov = cov * eye(mean.shape[-1], dtype="float64")
    return mean, diag(cov) if cov.type.ndim == 1 else cov


# What stands for parameters of too low a rank, where there is a size. Without one these were refused before.
_RANKS = {
    "categorical": lambda p: (shape_padleft(p) if p.type.ndim == 0 else p,),  # a vector of one category
    "multivariate_normal": _matrix_of,
}
# What the other class of generators has instead of draws that only one class has.
_OTHER_NAMES = {
    "integers": ": a RandomState has `randint`",
    "randint": ": a Generator has `integers`. Give it a RandomState, as in rng=numpy.random.RandomState(seed) or "
               "RandomStream(seed, rng_ctor=numpy.random.RandomState)",
}


def _draw(self, params, size, options):
    """What every distribution's `__call__` ends in."""
    if self._has_population() and options.get("dtype") is not None:
        raise TypeError(f"{self.name} takes no dtype: its draws have that of the array")
    return RandomVariable.__call__(self, *params, size=size, **options)


def _call_method(name, params, convert):
    """A `__call__` with these parameters, size and others, which `convert` turns into the node's parameters."""
    names = [param for param in _parameters(params) if param != "size"]
    size = "" if "size" in _parameters(params) else ", size=None"
    given = f"convert({', '.join(map('{0}={0}'.format, names))})" if convert else f"({', '.join(names)},)"
    source = "\n" * (_draw.__code__.co_firstlineno - 1) + f"lambda self, /, {params}{size}, **kwargs: draw(self, {given}, size, kwargs)"
    call = eval(compile(source, __file__, "eval"), {"draw": _draw, "convert": convert and telling(convert, name)})  # in tracebacks, and where a user's line is looked for, it is of this file
    call.__name__, call.__qualname__, call.__module__ = "__call__", name, __name__  # the latter name is the one that Python's TypeErrors give
    return call


def _document_positions(name, row, params):
    size = ", size=2" if row["takes_size"] else ""
    return f"""Draws: {row["doc"]}.

    Called as ``{name}({params}, name=None, rng=None)``. Given an integer n, it stands for
    the integers from 0 to n - 1. The draws have the dtype of the array; {
        "``size`` is their shape, one element without it" if row["takes_size"] else "a ``size`` is ignored"}. ``rng`` is a generator
    variable (None: a fresh generator, the same draws in each call). The positions drawn and the generator's states equal NumPy's
    ``{row["method"]}``; what NumPy refuses is refused when the function runs.

    >>> {name}([0.25, 0.75]{size}).type
    TensorType(float64, (2,))
    """


def _document(name, row, params):
    if row["kinds"][0] == "n":
        return _document_positions(name, row, params)
    example = eval(f"({row['regimes'].split(';')[0]},)")  # an expression of our own table
    arguments = ", ".join(repr(value) for value, default in zip(example, _parameters(params).values()) if default in (..., None))
    shape = (2, len(example[row["kinds"].index("v")]) if arguments else 1) if row["ndim_supp"] else (2,)
    owner = "variable (None: a fresh generator, the same draws in each call)" if row["owners"][0] else "of the class RandomState"
    given = "" if row["owners"][0] else ", rng=np.random.RandomState(3)"
    return f"""Draws: {row["doc"]}.

    Called as ``{name}({params}, size=None, name=None, rng=None, dtype=None)``. The parameters broadcast{
        ", vectors along their last axis" if "v" in row["kinds"] else ""}{" and matrices along their last two" if "m" in row["kinds"] else ""}; ``size`` is the shape of
    the draws, None for that of the parameters. The dtype is {row["dtype"]}. ``rng`` is a generator
    {owner}. Values and generator states equal NumPy's ``{row["method"]}``.

    >>> {name}({arguments + ", " if arguments else ""}size=2{given}).type.shape
    {shape}
    """


def _class_name(name):
    return _CLASS_NAMES.get(name) or "".join(part.capitalize() for part in name.split("_")) + "RV"


def _make_distribution(row):
    """The Op class of one row, under the name that pickle finds it by."""
    name = row["name"]
    params, convert = _CONVENTIONS.get(name, (row["params"], None))
    members = {
        "name": name, "ndim_supp": row["ndim_supp"], "ndims_params": row["ndims_params"], "dtype": row["dtype"],
        "support_param": row["ndims_params"].index(1) if row["ndim_supp"] else 0,
        "__call__": _call_method(name, params, convert), "__doc__": _document(name, row, params), "__module__": __name__,
    }  # fmt: skip
    return type(_class_name(name), (RandomVariable,), members)


# Other names of distributions, some with parameters that are given.
_ALIASES = {
    "random": ("uniform", {}), "standard_normal": ("normal", {"loc": 0.0, "scale": 1.0}), "standard_exponential": ("exponential", {"scale": 1.0}),
    "standard_cauchy": ("cauchy", {"loc": 0.0, "scale": 1.0}), "standard_t": ("t", {"loc": 0.0, "scale": 1.0}),
    "betabinom": ("beta_binomial", {}), "negative_binomial": ("nbinom", {}), "standard_gamma": ("gamma", {"rate": 1.0}),
}  # fmt: skip


def __getattr__(name):
    """The distributions and their classes, which are made one by one: most programs draw from two or three of sixty."""
    namespace = globals()
    if name in _ALIASES:
        of, given = _ALIASES[name]
        of = getattr(sys.modules[__name__], of)
        return namespace.setdefault(name, get_partial_wrapper(of, name, **given) if given else of)
    rows = [_ROWS[name]] if name in _ROWS else [row for row in _ROWS.values() if name.endswith("RV") and name == _class_name(row["name"])]
    if not rows:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = namespace.setdefault(_class_name(rows[0]["name"]), _make_distribution(rows[0]))  # of two threads, the first one's
    return namespace.setdefault(name, made() if name in _ROWS else made)


def __dir__():
    return sorted({*globals(), *__all__, *map(_class_name, _ROWS)})


__all__ = [
    "ALL_DTYPES", "AbstractRNGConstructor", "DefaultGeneratorMakerOp", "RandomGeneratorSharedVariable", "RandomGeneratorType",
    "RandomState", "RandomStateConstructor", "RandomStateSharedVariable", "RandomStateType", "RandomStream", "RandomType",
    "RandomTypeSharedVariable", "RandomTypeVariable", "RandomVariable", "ScipyRandomVariable", "broadcast_params", "broadcast_shapes",
    "default_rng", "default_supp_shape_from_params", "get_partial_wrapper", "normalize_size_param", "params_broadcast_shapes", "random_generator_type",
    "random_state_type", "rng", "shared_rng", *_ROWS, *_ALIASES,
]  # fmt: skip

"""TensorType, and the functions that make named variables: scalar, vector, dmatrix, ...

A type is a dtype and a static shape (an int, or None where the size is unknown until run time). Types are values: equal ones
are interchangeable, and those that graphs make come from one cache, so that comparing them is cheap.

Relies on `scalar`. Relied on by everything that makes tensors.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pyscan._core import Type, Variable
from pyscan.scalar import (  # noqa: F401  (these lists are looked up here)
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    dtype_kinds,
    float_dtypes,
    float_x,
    get_scalar_type,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
    upcast,
)


def parse_dtype(dtype):
    """The name of `dtype`; TypeError `Invalid dtype: ...` when it has none."""
    if isinstance(dtype, str):
        if dtype in dtype_kinds:
            return dtype
        if dtype == "floatX":
            return float_x()
    try:
        name = np.dtype(dtype).name
    except TypeError:
        raise TypeError(f"Invalid dtype: {dtype}") from None
    if name not in dtype_kinds:
        raise TypeError(f"Unsupported dtype for TensorType: {name}")
    return name


def parse_length(length):
    """One entry of a static shape: an int, None, or a bool (True: 1, False: unknown)."""
    if length is None:
        return None
    if isinstance(length, (bool, np.bool_)):
        return 1 if length else None
    return int(length)


class TensorType(Type):
    """The type of NumPy arrays of one dtype and rank.

    Parameters
    ----------
    dtype : str or dtype
        "floatX" stands for `config.floatX`.
    shape : iterable of int, None or bool
        The size of each dimension; None: unknown. True and False mean 1 and None.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> at.TensorType("float64", (1, None))
    TensorType(float64, (1, ?))
    >>> at.TensorType("int8", (None,))("x").type.ndim
    1
    """

    type_kind = "tensor"

    def __init__(self, dtype, shape=None, name=None, broadcastable=None):
        if broadcastable is not None:
            shape = broadcastable
        if shape is None or not hasattr(shape, "__iter__"):
            given = "" if shape is None else f"; got {shape!r}"
            raise TypeError(f"TensorType needs a shape: a tuple with an int or None for each dimension{given}")
        self.dtype = parse_dtype(dtype)
        self.shape = tuple([parse_length(s) for s in shape])
        self.ndim = len(self.shape)
        self.broadcastable = tuple([s == 1 for s in self.shape])
        self.numpy_dtype = np.dtype(self.dtype)
        self.name = name
        self._hash = hash((TensorType, self.dtype, self.shape))

    def clone(self, dtype=None, shape=None, broadcastable=None, **kwargs):
        """A type like this one with another dtype or shape."""
        shape = broadcastable if broadcastable is not None else shape
        return type(self)(self.dtype if dtype is None else dtype, self.shape if shape is None else shape, name=self.name)

    def filter(self, data, strict=False, allow_downcast=None):
        """`data` as an array of this type.

        Parameters
        ----------
        data : array_like
        strict : bool
            Accept an ndarray of exactly this dtype only.
        allow_downcast : bool or None
            True: convert whatever it costs. None or False: refuse what would lose precision (None lets a Python float
            enter a floatX tensor).

        Raises
        ------
        TypeError
            Another rank, another size where the static shape has one, or a loss of precision.
        """
        if type(data) is not np.ndarray or data.dtype != self.numpy_dtype:
            data = self._convert(data, strict, allow_downcast)
        if data.ndim != self.ndim:
            raise TypeError(f"Wrong number of dimensions: expected {self.ndim}, got {data.ndim} with shape {data.shape}.")
        if not data.flags.aligned:
            data = data.copy()
        for length, size in zip(self.shape, data.shape):
            if length is not None and length != size:
                raise TypeError(f"The type's shape ({self.shape}) is not compatible with the data's ({data.shape})")
        return data

    def _convert(self, data, strict, allow_downcast):
        if isinstance(data, Variable):
            raise TypeError(
                "Expected an array-like object, but found a Variable: maybe you are trying to call a function on a (possibly "
                "shared) variable instead of a numeric array?"
            )
        if isinstance(data, np.ndarray) and data.dtype == self.numpy_dtype and data.dtype.isnative:
            return data  # a subclass: memory maps stay what they are
        if strict:
            if not isinstance(data, np.ndarray):
                raise TypeError(f"{self} expected an ndarray object (got {type(data)}).")
            raise TypeError(f"{self} expected an ndarray with dtype={self.numpy_dtype} (got {data.dtype}).")
        if data is None:
            raise TypeError(f"{self} expected an array, got None.")
        if allow_downcast:
            return self._cast(np.asarray(data))
        if isinstance(data, np.ndarray):
            if data.dtype.name not in dtype_kinds or upcast(self.dtype, data.dtype.name) != self.dtype:
                raise TypeError(
                    f"{self} cannot store a value of dtype {data.dtype} without risking loss of precision. If you do not mind "
                    f'this loss, you can: 1) explicitly cast your data to {self.dtype}, or 2) set "allow_input_downcast=True" '
                    f'when calling "function". Value: "{data!r}"'
                )
            return np.asarray(data, dtype=self.numpy_dtype)
        array = np.asarray(data)
        converted = self._cast(array) if array.dtype.kind in "biufc" else np.asarray(data, dtype=self.numpy_dtype)
        if allow_downcast is None and isinstance(data, (float, np.floating)) and self.dtype == float_x():
            return converted
        if not self.values_eq(array, converted, force_same_dtype=False):
            raise TypeError(
                f"{self} cannot store accurately value {data}, it would be represented as {converted}. If you do not mind this "
                f"precision loss, you can: 1) explicitly convert your data to a numpy array of dtype {self.dtype}, or 2) set "
                '"allow_input_downcast=True" when calling "function".'
            )
        return converted

    def _cast(self, array):
        with np.errstate(all="ignore"):
            if array.dtype.kind == "c" and self.numpy_dtype.kind != "c":
                array = array.real
            return array.astype(self.numpy_dtype)

    def convert_variable(self, var):
        """`var` (of this dtype and rank) as a variable of this type: itself, or with its shape asserted; else None."""
        other = var.type
        if self.is_super(other):
            return var
        if isinstance(other, TensorType) and self.ndim == other.ndim and self.dtype == other.dtype:
            from pyscan.tensor.shape import specify_shape

            return specify_shape(var, self.shape)
        return None

    def filter_variable(self, other, allow_convert=True):
        """`other` (a Variable, or data for a constant) as a variable of this type; TypeError when it can't be."""
        if not isinstance(other, Variable):
            other = self.constant_type(self, other)
        if other.type is self or other.type == self:
            return other
        converted = self.convert_variable(other) if allow_convert else None
        if converted is None:
            raise TypeError(
                f"Cannot convert Type {other.type} (of Variable {other}) into Type {self}. You can try to manually convert "
                f"{other} into a {self}."
            )
        return converted

    def in_same_class(self, other):
        """Whether `other` has the same dtype and the same dimensions of static size 1."""
        return isinstance(other, TensorType) and other.dtype == self.dtype and other.broadcastable == self.broadcastable

    def is_super(self, other):
        """Whether every value of `other` is one of this type: same dtype and rank, each size equal or unknown here."""
        if self is other:
            return True
        if not isinstance(other, TensorType) or other.dtype != self.dtype or other.ndim != self.ndim:
            return False
        return all(s is None or s == o for s, o in zip(self.shape, other.shape))

    @staticmethod
    def values_eq(a, b, force_same_dtype=True):
        """Whether two arrays are equal in shape (and dtype) and values; NaN equals NaN."""
        if a.shape != b.shape or (force_same_dtype and a.dtype != b.dtype):
            return False
        same = a == b
        if np.all(same):
            return True
        return a.dtype.kind in "fc" and b.dtype.kind in "fc" and bool(np.all(same | (np.isnan(a) & np.isnan(b))))

    @staticmethod
    def values_eq_approx(a, b, allow_remove_inf=False, allow_remove_nan=False, rtol=None, atol=None):
        """Whether two arrays are equal in shape and dtype, and close in value (NaN is close to NaN)."""
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.all(a == b))
        rtol = 1e-5 if rtol is None else rtol
        atol = (1e-5 if a.dtype.name in ("float32", "complex64") else 1e-8) if atol is None else atol
        return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))

    @staticmethod
    def may_share_memory(a, b):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)

    def to_scalar_type(self):
        """The ScalarType of this dtype."""
        return get_scalar_type(self.dtype)

    def __eq__(self, other):
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return self.dtype == other.dtype and self.shape == other.shape

    def __hash__(self):
        return self._hash

    def __str__(self):
        if self.name:
            return self.name
        lengths = ", ".join(["?" if s is None else str(s) for s in self.shape])
        return f"TensorType({self.dtype}, ({lengths}{',' if self.ndim == 1 else ''}))"

    def __repr__(self):
        return str(self)

    def __reduce__(self):
        if type(self) is TensorType and self.name is None:
            return tensor_type, (self.dtype, self.shape)
        return type(self), (self.dtype, self.shape, self.name)


@lru_cache(maxsize=8192)
def tensor_type(dtype, shape):
    """The TensorType of `dtype` (a canonical name) and `shape` (a tuple of int or None), from a cache."""
    return TensorType(dtype, shape)


def tensor(dtype, shape=None, name=None, broadcastable=None):
    """A variable of the given dtype and static shape.

    Examples
    --------
    >>> tensor("float32", shape=(None, 3), name="x").type
    TensorType(float32, (?, 3))
    """
    if name is None and isinstance(shape, str):
        shape, name = None, shape
    return TensorType(dtype, shape=shape, broadcastable=broadcastable)(name)


# The stems of the named constructors and their static shapes.
_SHAPES = {
    "scalar": (),
    "vector": (None,),
    "matrix": (None, None),
    "row": (1, None),
    "col": (None, 1),
    **{f"tensor{n}": (None,) * n for n in range(3, 8)},
}
_PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}


def _plural(make, doc):
    """The function that makes several variables: one for each name, for each letter of a single name, or `n` nameless ones."""

    def make_several(*names):
        if len(names) == 1:
            names = [None] * names[0] if isinstance(names[0], int) else list(names[0])
        return [make(name) for name in names]

    make_several.__doc__ = doc
    return make_several


def _stem_maker(stem, shape):
    def make(name=None, dtype=None):
        return tensor_type(parse_dtype("floatX" if dtype is None else dtype), shape)(name)

    make.__name__ = make.__qualname__ = stem
    lengths = ", ".join("?" if s is None else str(s) for s in shape) or "none"
    make.__doc__ = f"A variable `name` of rank {len(shape)} (sizes: {lengths}); `dtype` defaults to floatX."
    return make


# The names of all constructors: prefixes (none: floatX) before stems and their plurals.
constructors = {
    prefix + word: (prefix, stem, word)
    for stem in _SHAPES for word in (stem, "matrices" if stem == "matrix" else stem + "s") for prefix in ("", *_PREFIXES)
}  # fmt: skip


def __getattr__(name):
    """The named constructors, functions or types, which are made one by one: most programs use a few of nearly two hundred."""
    if name not in constructors:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    prefix, stem, word = constructors[name]
    if word == stem:
        made = tensor_type(_PREFIXES[prefix], _SHAPES[stem]) if prefix else _stem_maker(stem, _SHAPES[stem])
    else:
        one = __getattr__(prefix + stem)
        what = f"Several variables of {one}." if prefix else f"Several variables as `{stem}` makes: `{word}('a', 'b')`, `{word}('ab')` or `{word}(2)`."
        made = _plural(one, what)
    return globals().setdefault(name, made)


def __dir__():
    return sorted({*globals(), *constructors})

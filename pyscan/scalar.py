"""Element types, scalar variables and the elementwise operations, one object for each row of the core's table.

A scalar operation knows its name, how many inputs it takes and how the result's dtype follows from theirs; it computes
nothing. `pyscan.tensor.elemwise.Elemwise` makes tensor operations of them. Relies on `_core` and `config`.

Examples
--------
>>> import pyscan.scalar as ps
>>> ps.add.output_dtype("float32", "int16"), ps.true_divide.output_dtype("int8", "int8")
('float32', 'float64')
>>> ps.upcast("int8", "uint8")
'int16'
"""

from __future__ import annotations

import struct
from functools import lru_cache

import numpy as np

from pyscan import _core
from pyscan._core import Constant, Type, Variable
from pyscan.config import config

# dtype name -> kind: 'b' boolean, 'i' signed, 'u' unsigned, 'f' real, 'c' complex
dtype_kinds = {row["name"]: row["kind"] for row in _core.dtypes()}
all_dtypes = list(dtype_kinds)
bool_dtypes = [d for d, k in dtype_kinds.items() if k == "b"]
int_dtypes = [d for d, k in dtype_kinds.items() if k == "i"]
uint_dtypes = [d for d, k in dtype_kinds.items() if k == "u"]
integer_dtypes = int_dtypes + uint_dtypes
discrete_dtypes = bool_dtypes + integer_dtypes
float_dtypes = [d for d, k in dtype_kinds.items() if k == "f"]
complex_dtypes = [d for d, k in dtype_kinds.items() if k == "c"]
continuous_dtypes = float_dtypes + complex_dtypes


@lru_cache(maxsize=4096)
def upcast(*dtypes):
    """The dtype name that all of `dtypes` promote to, by NumPy's rules for arrays.

    Examples
    --------
    >>> upcast("float32", "int32")
    'float64'
    """
    result = np.dtype(dtypes[0])
    for dtype in dtypes[1:]:
        result = np.promote_types(result, dtype)
    return result.name


def dtype_name(dtype):
    """The canonical name of `dtype` (a name, a NumPy dtype or type, or "floatX").

    Raises
    ------
    TypeError
        When it names no dtype, or one that graphs do not know.
    """
    if isinstance(dtype, str):
        if dtype in dtype_kinds:
            return dtype
        if dtype == "floatX":
            return float_x()
    name = np.dtype(dtype).name
    if name not in dtype_kinds:
        raise TypeError(f"Unsupported dtype: {name}")
    return name


def float_x():
    """The configured default float dtype."""
    return config.floatX


_float32 = struct.Struct("f")


def _is_float32(value):
    """Whether a Python float is a float32 exactly."""
    try:
        return _float32.unpack(_float32.pack(value))[0] == value
    except OverflowError:
        return False


def autocast_dtype(value):
    """The dtype that a Python int, float or complex takes in a graph: the smallest that holds it exactly.

    Integers try int8, int16, int32, int64 (uint64 last); floats float32, then float64 (with floatX=float32, always
    float32); complex numbers are complex128.

    Examples
    --------
    >>> [autocast_dtype(v) for v in (1, 128, 2**31, 0.5, 0.1)]
    ['int8', 'int16', 'int64', 'float32', 'float64']
    """
    if isinstance(value, int):
        if -128 <= value <= 127:
            return "int8"
        for bits in (16, 32, 64):
            if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
                return f"int{bits}"
        if 0 <= value < 1 << 64:
            return "uint64"
        raise OverflowError(f"The integer {value} does not fit into any dtype of at most 64 bits.")
    if isinstance(value, float):
        return "float32" if config.floatX == "float32" or _is_float32(value) else "float64"
    return "complex128"


class ScalarType(Type):
    """The type of one element outside of a tensor (the indices of a Subtensor), of the given dtype."""

    type_kind = "scalar"
    ndim = 0
    shape = ()
    broadcastable = ()

    def __init__(self, dtype):
        self.dtype = dtype_name(dtype)
        self.numpy_dtype = np.dtype(self.dtype)

    def clone(self, dtype=None, **kwargs):
        return get_scalar_type(self.dtype if dtype is None else dtype)

    def filter(self, data, strict=False, allow_downcast=None):
        """`data` as a NumPy scalar of this dtype; TypeError when that would change its value."""
        if isinstance(data, Variable):
            raise TypeError(f"Expected a number, but found a Variable: {data}")
        kind = self.numpy_dtype.type
        if type(data) is kind:
            return data
        if strict:
            raise TypeError(f"{self} expected a {self.dtype} got {data} of type {type(data)}", data)
        array = np.asarray(data)
        if array.ndim != 0:
            raise TypeError(f"Wrong number of dimensions: expected 0, got {array.ndim} with shape {array.shape}.")
        with np.errstate(all="ignore"):
            converted = array.astype(self.numpy_dtype)[()]
        if allow_downcast or converted == array or (converted != converted and array != array):
            return converted
        raise TypeError(f"Value cannot accurately be converted to dtype ({self.dtype}) and allow_downcast is not True")

    def is_super(self, other):
        return self == other

    def __eq__(self, other):
        return self is other or (type(self) is type(other) and self.dtype == other.dtype)

    def __hash__(self):
        return hash((ScalarType, self.dtype))

    def __str__(self):
        return self.dtype

    def __repr__(self):
        return f"ScalarType({self.dtype})"

    def __reduce__(self):
        return get_scalar_type, (self.dtype,)


@lru_cache(maxsize=64)
def get_scalar_type(dtype):
    """The ScalarType of `dtype`; one object for each dtype."""
    return ScalarType(dtype)


class _ScalarAttributes:
    """What tensor and scalar variables have in common for code that looks at either."""

    ndim = 0

    @property
    def dtype(self):
        return self.type.dtype

    @property
    def broadcastable(self):
        return ()


class ScalarVariable(_ScalarAttributes, Variable):
    """A variable of ScalarType."""


class ScalarConstant(_ScalarAttributes, Constant):
    """A constant of ScalarType."""

    def __str__(self):
        return self.name if self.name is not None else f"ScalarConstant{{{self.data}}}"


ScalarType.variable_type = ScalarVariable
ScalarType.constant_type = ScalarConstant


@lru_cache(maxsize=1024)
def _int_constant_parts(value):
    return get_scalar_type("int64"), np.int64(value)


def index_constant(value):
    """A fresh int64 scalar constant, as a Subtensor takes it."""
    return ScalarConstant(*_int_constant_parts(int(value)))


def constant(x, name=None, dtype=None):
    """`x` (a number or 0-d array) as a scalar constant."""
    if dtype is None:
        dtype = x.dtype.name if isinstance(x, (np.generic, np.ndarray)) else "bool" if isinstance(x, bool) else autocast_dtype(x)
    return ScalarConstant(get_scalar_type(dtype), x, name=name)


def as_scalar(x, name=None):
    """`x` (a scalar variable, a 0-d tensor variable or a number) as a scalar variable."""
    if isinstance(x, Variable):
        if isinstance(x.type, ScalarType):
            return x
        from pyscan.tensor.basic import scalar_from_tensor

        return scalar_from_tensor(x)
    return constant(x, name)


class ScalarOp:
    """An elementwise operation: a row of the core's table.

    Attributes
    ----------
    name : str
        As printed.
    nin : int
        The number of inputs; -1: any number from one.
    rule, classes : str
        How the result's dtype follows, and the kinds of dtypes in which it can be computed.
    """

    kind = "scalar"

    def __init__(self, name, nin, rule, classes, doc):
        self.name = name
        self.nin = nin
        self.rule = rule
        self.classes = classes
        self.__doc__ = doc

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"<{__name__}.{self.class_name()} object at {id(self):#x}>"

    def __reduce__(self):
        return scalar_op, (self.name,)

    def class_name(self):
        """What Aesara calls the operation's class.

        >>> scalar_op("true_divide").class_name()
        'TrueDivide'
        """
        return "".join(part.capitalize() for part in self.name.split("_")) if type(self) is ScalarOp else type(self).__name__

    def output_dtype(self, *dtypes):
        """The result's dtype for inputs of `dtypes`; TypeError where the operation is not defined for them."""
        self.check_inputs(dtypes)
        rule = self.rule
        if rule == "FIRST_SHAPE":
            return dtypes[1]
        if rule == "SWITCH":
            return upcast(*dtypes[1:])
        computed = self.computed_dtype(*dtypes)
        if rule == "BOOL":
            return "bool"
        if rule == "REAL":
            return {"complex64": "float32", "complex128": "float64"}.get(computed, computed)
        if rule == "DOUBLE":
            return "float64"
        if rule == "PAIR":
            return "complex64" if computed == "float32" else "complex128"
        return computed

    def check_inputs(self, dtypes):
        if (self.nin >= 0 and len(dtypes) != self.nin) or not dtypes:
            given = ", ".join(f"<{d}>" for d in dtypes) + ("," if len(dtypes) == 1 else "")
            name = "Switch" if self.name == "switch" else self.name
            expected = self.nin if self.nin >= 0 else "at least 1"
            raise TypeError(f"Wrong number of inputs for {name}.make_node (got {len(dtypes)}(({given})), expected {expected})")

    def computed_dtype(self, *dtypes):
        """The dtype in which the operation is computed for inputs of `dtypes`; TypeError when there is none."""
        if self.rule == "FIRST_SHAPE" or self.rule == "SWITCH":
            dtypes = dtypes[1:]
        joint = upcast(*dtypes)
        kind = dtype_kinds[joint]
        if self.rule == "DIVIDE" and kind in "biu":
            return "float64"
        if kind in "biu" and (self.rule in ("FLOAT", "PAIR") or self.classes == "fc"):
            return "float32" if np.dtype(joint).itemsize <= 2 else "float64"
        if kind in self.classes:
            return joint
        raise TypeError(self._refusal(kind, dtypes))

    def cast_bools(self, dtypes):
        """Whether bools must become int8 first: the operation has a result for them, but no form of its own."""
        return "b" not in self.classes and self.name in _COUNTS_BOOLS and all(d == "bool" for d in dtypes)

    def _refusal(self, kind, dtypes):
        if self.classes == "biu":
            wrong = next((d for d in dtypes if dtype_kinds[d] not in "biu"), None)
            if wrong is None:
                return f"no integer dtype holds both {' and '.join(dtypes)}; cast one of them"
            form = "bool" if self.nin == 1 else "be all bools"
            return f"input to a BitOp must have type (u)int8, (u)int16, (u)int32 or (u)int64 or {form} not {wrong}"
        if kind == "c":
            return f"complex argument not supported by {self.name}"
        if kind == "b":
            return "bool output not supported" if self.name == "sub" else "bool input not supported"
        if self.classes == "f":
            return "only float type are supported"
        return f"{self.name} is not defined for {', '.join(dtypes)}"


# Of bools these compute with the numbers 0 and 1 (as NumPy does), while differences and signs of bools are refused.
_COUNTS_BOOLS = frozenset(("pow", "floor_divide", "mod"))


class Cast(ScalarOp):
    """Conversion to the dtype `o_dtype`."""

    kind = "cast"

    def __init__(self, o_dtype):
        super().__init__(f"Cast{{{o_dtype}}}", 1, "SAME", "biufc", f"conversion to {o_dtype}")
        self.o_dtype = o_dtype

    def __reduce__(self):
        return cast_op, (self.o_dtype,)

    def output_dtype(self, *dtypes):
        self.check_inputs(dtypes)
        if dtype_kinds[dtypes[0]] == "c" and dtype_kinds[self.o_dtype] != "c":
            raise TypeError("Casting from complex to real is ambiguous: consider real(), imag(), angle() or abs()")
        return self.o_dtype

    computed_dtype = output_dtype


@lru_cache(maxsize=64)
def cast_op(dtype):
    """The scalar operation that converts to `dtype`; one object for each dtype."""
    return Cast(dtype)


# name -> operation, in the order of the table. Each is a name of this module too.
scalar_ops = {row["name"]: ScalarOp(row["name"], row["n_in"], row["rule"], row["classes"], row["doc"]) for row in _core.scalars()}
globals().update(scalar_ops)


def scalar_op(name):
    """The scalar operation called `name`."""
    return scalar_ops[name]

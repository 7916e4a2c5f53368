"""Tensor variables: Python operators, methods, constants, and the conversion of anything to a variable.

The operators and methods call the functions of `pyscan.tensor`, which are looked up when called: the modules that define
them import this one. Relies on `type` and `scalar`.
"""

from __future__ import annotations

import inspect
import numbers

import numpy as np

import pyscan.tensor as at  # its names are used inside functions only
from pyscan._core import Apply, Constant, Variable
from pyscan.errors import telling
from pyscan.scalar import ScalarType, autocast_dtype, dtype_kinds, dtype_name, upcast
from pyscan.tensor.type import TensorType, tensor_type

_BOOL_MESSAGE = (
    "Cannot cast True or False as a tensor variable. Please use np.array(True) or np.array(False) if you need these constants. "
    "This error might be caused by using the == operator on Variables. v == w does not do what you think it does, use "
    "{package}.tensor.eq(v, w) instead."
)


def _binary(name, reflected=False):
    """The method for a binary operator; TypeErrors of the plain form let Python try the other operand's."""
    if reflected:

        def operator(self, other):
            return getattr(at, name)(other, self)

    else:

        def operator(self, other):
            try:
                return getattr(at, name)(self, other)
            except (NotImplementedError, TypeError):
                return NotImplemented

    operator.__name__ = name
    return operator


def _comparison(name):
    def operator(self, other):
        result = getattr(at, name)(self, other)
        result._is_nonzero = False
        return result

    operator.__name__ = name
    return operator


def _method(name, doc=None):
    """The method that is the function `name` with the variable as first argument."""

    def method(self, *args, **kwargs):
        return getattr(at, name)(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = doc or f"`pyscan.tensor.{name}` of this variable."
    return method


class TensorOperators:
    """Operators and methods of all tensor variables. A NumPy array on either side of an operator joins the graph."""

    __array_priority__ = 1000
    _is_nonzero = True

    __add__, __radd__ = _binary("add"), _binary("add", True)
    __sub__, __rsub__ = _binary("sub"), _binary("sub", True)
    __mul__, __rmul__ = _binary("mul"), _binary("mul", True)
    __truediv__, __rtruediv__ = _binary("true_divide"), _binary("true_divide", True)
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _binary("floor_divide", True)
    __mod__, __rmod__ = _binary("mod"), _binary("mod", True)
    __divmod__, __rdivmod__ = _binary("divmod"), _binary("divmod", True)
    __pow__, __rpow__ = _binary("pow"), _binary("pow", True)
    __matmul__, __rmatmul__ = _binary("dot"), _binary("dot", True)

    def _bitwise(name, reflected=False):  # noqa: N805  (a helper of the class body)
        def operator(self, other):
            return getattr(at, name)(other, self) if reflected else getattr(at, name)(self, other)

        operator.__name__ = name
        return operator

    __and__, __rand__ = _bitwise("and_"), _bitwise("and_", True)
    __or__, __ror__ = _bitwise("or_"), _bitwise("or_", True)
    __xor__, __rxor__ = _bitwise("xor"), _bitwise("xor", True)
    del _bitwise

    __lt__, __le__ = _comparison("lt"), _comparison("le")
    __gt__, __ge__ = _comparison("gt"), _comparison("ge")
    __eq__, __hash__ = object.__eq__, object.__hash__  # the identity, as for every variable

    __neg__, __abs__, __invert__ = _method("neg"), _method("abs"), _method("invert")
    __ceil__, __floor__, __trunc__ = _method("ceil"), _method("floor"), _method("trunc")

    def __pos__(self):
        return self

    def __bool__(self):
        if self._is_nonzero:
            return True
        raise TypeError(
            f"Variables do not support boolean operations. {self} has no value until a function is called: write at.switch(condition, a, b) "
            "or pyscan.ifelse.ifelse instead of `if`, at.and_ and at.or_ instead of `and` and `or`."
        )

    def __getitem__(self, index):
        return at.subtensor.getitem(self, index)

    def __iter__(self):
        if self.type.ndim != 1:
            raise TypeError("TensorType does not support iteration. Did you mean the function sum (or max) of pyscan.tensor, not Python's?")
        try:
            length = at.get_vector_length(self)
        except ValueError as error:
            raise ValueError(f"{error}: a loop of Python over it needs that when it is written. Loop by pyscan.scan, or give it a static length.") from None
        for i in range(length):
            yield self[i]

    def __array__(self, *args, **kwargs):
        raise TypeError(
            f"{self} is symbolic, so NumPy cannot make an array of it. Use the functions of pyscan.tensor on it, at.stack or "
            "at.as_tensor_variable for lists of such, and {x}.eval(...) or pyscan.function for its value.".replace("{x}", str(self))
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        """Makes `array + variable` and `np.exp(variable)` graph expressions; `==` stays the identity."""
        from pyscan.tensor.numpy_functions import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        """Makes `np.sum(variable)` and its kind graph expressions."""
        from pyscan.tensor.numpy_functions import call_function

        return call_function(function, args, kwargs)

    ndim = property(lambda self: self.type.ndim, doc="The rank, an int.")
    dtype = property(lambda self: self.type.dtype, doc="The name of the dtype.")
    broadcastable = property(lambda self: self.type.broadcastable, doc="For each dimension, whether its static size is 1.")
    shape = property(lambda self: at.shape(self), doc="The symbolic shape, an int64 vector of static length.")
    T = property(lambda self: at.transpose(self), doc="The variable with its axes in reverse order.")
    real = property(lambda self: at.real(self), doc="The real part.")
    imag = property(lambda self: at.imag(self), doc="The imaginary part.")

    @property
    def size(self):
        """The symbolic number of elements."""
        return at.shape(self)[0] if self.type.ndim == 1 else at.prod(at.shape(self))

    def transpose(self, *axes):
        """The variable with its axes permuted: `transpose()`, `transpose(1, 0)` or `transpose((1, 0))`."""
        if not axes:
            return at.transpose(self)
        if len(axes) == 1 and isinstance(axes[0], (list, tuple)):
            axes = axes[0]
        return at.transpose(self, axes)

    def reshape(self, shape, ndim=None):
        """The elements in another shape; one entry may be -1. `ndim` is needed where its length is not known."""
        if ndim is not None and not isinstance(ndim, (int, np.integer)):
            raise ValueError(f"Expected ndim to be an integer, is {type(ndim)}")
        return at.reshape(self, shape, ndim=ndim)

    def dimshuffle(self, *pattern):
        """The variable with axes permuted, added ('x') or dropped: `dimshuffle(1, 'x', 0)`."""
        if len(pattern) == 1 and isinstance(pattern[0], (list, tuple)):
            pattern = pattern[0]
        return at.elemwise.dimshuffle(self, pattern)

    def ravel(self):
        """The elements as a vector."""
        return at.flatten(self)

    def astype(self, dtype):
        """The variable converted to `dtype` (a name, a NumPy dtype, or "floatX")."""
        return at.cast(self, dtype)

    def copy(self, name=None):
        """A symbolic copy, called `name`."""
        copied = at.tensor_copy(self)
        copied.name = name
        return copied

    def norm(self, L, axis=None, keepdims=False):
        """The L-norm over `axis`: `sum(abs(x)**L)**(1/L)`."""
        if L == 0:
            raise NotImplementedError("The norm of order 0 is not defined; count with at.neq(x, 0).sum().")
        if np.isinf(L):
            raise NotImplementedError("The norm of infinite order is max(abs(x)).")
        return at.pow(at.pow(at.abs(self), L).sum(axis=axis, keepdims=keepdims), 1.0 / L)

    def nonzero_values(self):
        """The values that are not zero, as a vector."""
        return at.nonzero_values(self)

    def conj(self):
        """The complex conjugate."""
        return at.conj(self)

    conjugate = conj

    def trace(self):
        """The sum of the diagonal of a matrix."""
        return at.nlinalg.trace(self)

    def get_scalar_constant_value(self):
        return at.get_scalar_constant_value(self)

    def compress(self, condition, axis=None):
        """The slices along `axis` where the vector `condition` is true."""
        return at.compress(condition, self, axis=axis)

    for _name in (
        "all any sum prod mean var std min max argmin argmax cumsum cumprod ptp sort argsort clip repeat round nonzero dot flatten "
        "squeeze swapaxes searchsorted take choose fill zeros_like ones_like diagonal "
        "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
        "ceil floor trunc deg2rad rad2deg"
    ).split():
        locals()[_name] = _method(_name)
    for _name, _value in list(locals().items()):
        if not _name.startswith("_") and inspect.isfunction(_value):
            locals()[_name] = telling(_value)
    del _name, _value


class TensorVariable(TensorOperators, Variable):
    """A variable whose value is an array."""


class TensorConstant(TensorOperators, Constant):
    """An array that does not change. `data` is the array."""

    def __str__(self):
        if isinstance(self.name, str):
            prefix = self.name
        else:
            prefix = "TensorConstant"
        return f"{prefix}{{{constant_text(self.data)}}}"


def constant_text(data):
    """An array in a few letters: its one value, or the beginning and the end."""
    if data.ndim > 0 and data.size > 0 and np.all(data == data.flat[0]):
        text = f"{data.shape} of {data.flat[0]}"
    else:
        text = f"{data}"
    return text if len(text) <= 20 else text[:10] + ".." + text[-10:]


TensorType.variable_type = TensorVariable
TensorType.constant_type = TensorConstant


def constant(x, name=None, ndim=None, dtype=None):
    """`x` as a TensorConstant.

    Parameters
    ----------
    x : number, array_like, or a constant variable
        A Python number takes the smallest dtype that holds it (`pyscan.scalar.autocast_dtype`), arrays and NumPy scalars
        keep theirs. The data is copied.
    ndim : int
        The rank wanted: leading dimensions of size 1 are added or dropped.
    dtype : str
        The dtype wanted.

    Raises
    ------
    NotImplementedError
        `Cannot convert ... to a tensor variable.`
    """
    if type(x) in _NUMBERS and ndim is None and dtype is None:
        return _number_constant(x, name)
    if isinstance(x, Constant):
        if name is None and ndim in (None, x.type.ndim) and dtype is None and isinstance(x.type, TensorType):
            return x
        x = x.data
    if dtype is not None:
        data = np.array(x, dtype=dtype_name(dtype))
    elif isinstance(x, (int, float, complex)) and not isinstance(x, (bool, np.generic)):
        data = _number_data(x)
    else:
        if isinstance(x, Variable):
            raise TypeError(f"A constant needs data, but {x} is symbolic.")
        data = np.array(x)
    if data.dtype.name not in dtype_kinds:
        if isinstance(x, (np.ndarray, np.generic, list, tuple)):
            raise TypeError(f"Unsupported dtype for TensorType: {data.dtype.name}")
        raise NotImplementedError(f"Cannot convert {x!r} to a tensor variable.")
    if ndim is not None and data.ndim != ndim:
        if data.ndim < ndim:
            data = data.reshape((1,) * (ndim - data.ndim) + data.shape)
        elif any(s != 1 for s in data.shape[: data.ndim - ndim]):
            raise ValueError(f"Tensor of shape {data.shape} could not be cast to have {ndim} dimensions")
        else:
            data = data.reshape(data.shape[data.ndim - ndim :])
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    return TensorConstant(tensor_type(data.dtype.name, data.shape), data, name=name)


_NUMBERS = frozenset((int, float, complex))


def _number_data(x, dtype=None):
    """The 0-d array of a Python number; with floatX=float32 one that is too large becomes infinite without a warning."""
    dtype = autocast_dtype(x) if dtype is None else dtype
    if dtype == "float32" and abs(x) > _LARGEST_FLOAT32:
        x = np.inf if x > 0 else -np.inf
    return np.array(x, dtype=dtype)


def _number_constant(x, name):
    dtype = autocast_dtype(x)
    return TensorConstant(tensor_type(dtype, ()), _number_data(x, dtype), name)


_LARGEST_FLOAT32 = float(np.finfo("float32").max)


def as_tensor_variable(x, name=None, ndim=None, dtype=None):
    """`x` as a tensor variable: itself, or a constant, or a vector made of symbolic parts.

    Parameters
    ----------
    x : Variable, number, array_like, sequence of these, or Apply
        A sequence with symbolic scalars becomes a MakeVector, with symbolic tensors a stack along a new first axis.
    name : str
        For a constant made here.
    ndim : int
        The rank wanted: dimensions of size 1 are added, or dropped, on the left.

    Raises
    ------
    TypeError
        For True and False, and for variables that are no tensors.
    NotImplementedError
        For what is no number, array or sequence.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> at.as_tensor_variable([x, 1.0]).type
    TensorType(float64, (2,))
    """
    if type(x) in _NUMBERS and ndim is None and dtype is None:
        return _number_constant(x, name)
    if isinstance(x, Variable):
        kind = x.type
        if not isinstance(kind, TensorType):
            if not isinstance(kind, ScalarType):
                raise TypeError(f"Tensor type field must be a TensorType; found {type(kind)}. It is the type of {x}.")
            x = at.tensor_from_scalar(x)
        return x if ndim is None or x.type.ndim == ndim else _with_ndim(x, ndim)
    if isinstance(x, Apply):
        return as_tensor_variable(_default_output(x), name=name, ndim=ndim)
    if isinstance(x, (bool, np.bool_)) and not isinstance(x, np.generic):
        raise TypeError(_BOOL_MESSAGE.format(package=_package_name()))
    if hasattr(x, "_as_TensorVariable"):
        return x._as_TensorVariable(name=name, ndim=ndim)
    if isinstance(x, (list, tuple, range)):
        return _sequence_as_tensor(x, name, ndim, dtype)
    if not isinstance(x, (numbers.Number, np.ndarray, np.generic)) and not hasattr(x, "__array__"):
        raise NotImplementedError(f"Cannot convert {x!r} to a tensor variable.")
    return constant(x, name=name, ndim=ndim, dtype=dtype)


def _package_name():
    return __name__.partition(".")[0]


def _default_output(node):
    outputs = node.outputs
    if len(outputs) == 1:
        return outputs[0]
    index = getattr(node.op, "default_output", None)
    if index is None:
        raise ValueError(f"Multi-output Op {node.op} without default_output encountered. Retry using only one of the outputs directly.")
    return outputs[index]


def _with_ndim(x, ndim):
    have = x.type.ndim
    if have < ndim:
        return at.elemwise.dimshuffle(x, ("x",) * (ndim - have) + tuple(range(have)))
    if not all(x.type.broadcastable[: have - ndim]):
        raise ValueError(f"Tensor of type {x.type} could not be cast to have {ndim} dimensions")
    return at.elemwise.dimshuffle(x, tuple(range(have - ndim, have)))


def _has_variable(x):
    return any(isinstance(i, Variable) or (isinstance(i, (list, tuple)) and _has_variable(i)) for i in x)


def _sequence_as_tensor(x, name, ndim, dtype):
    if not _has_variable(x):
        return constant(x, name=name, ndim=ndim, dtype=dtype)
    if all(isinstance(i, (Constant, numbers.Number)) for i in x):
        data = [i.data if isinstance(i, Constant) else _number_data(i) for i in x]
        return constant(np.stack(data), name=name, ndim=ndim, dtype=dtype)
    parts = [as_tensor_variable(i) for i in x]
    if all(part.type.ndim == 0 for part in parts):
        joint = upcast(*[part.type.dtype for part in parts]) if dtype is None else dtype_name(dtype)
        made = at.basic.make_vector_op(joint)(*parts)
    else:
        made = at.stack(parts)
        made = made if dtype is None else at.cast(made, dtype)
    return made if ndim is None or made.type.ndim == ndim else _with_ndim(made, ndim)


as_tensor = as_tensor_variable

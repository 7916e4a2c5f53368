"""Shared variables that hold arrays and numbers.

Relies on `sharedvalue`, `variable`. Registers its constructors with `pyscan.shared`.
"""

from __future__ import annotations

import numpy as np

from pyscan.sharedvalue import SharedVariable, shared_constructor
from pyscan.tensor.type import TensorType
from pyscan.tensor.variable import TensorOperators


class TensorSharedVariable(TensorOperators, SharedVariable):
    """A tensor variable whose array is kept between calls."""

    def zero(self, borrow=False):
        """Fills the stored array with 0, in place."""
        self.container.value[...] = 0


class ScalarSharedVariable(TensorSharedVariable):
    """A 0-d tensor variable whose value is kept between calls."""


@shared_constructor
def tensor_constructor(value, name=None, strict=False, allow_downcast=None, borrow=False, shape=None, target="cpu", broadcastable=None):
    """The shared variable of an ndarray; its static shape is unknown unless given."""
    if not isinstance(value, np.ndarray):
        raise TypeError()
    shape = broadcastable if broadcastable is not None else shape
    kind = TensorType(value.dtype, shape=(None,) * value.ndim if shape is None else shape)
    data = value if borrow else np.array(value)
    return TensorSharedVariable(name=name, type=kind, value=data, strict=strict, allow_downcast=allow_downcast)


@shared_constructor
def scalar_constructor(value, name=None, strict=False, allow_downcast=None, borrow=False, target="cpu"):
    """The shared variable of a Python or NumPy number: int64, float64, complex128 and bool for Python's, else its own dtype."""
    if not isinstance(value, (np.number, np.bool_, float, int, complex)):
        raise TypeError()
    data = np.array(value)
    return ScalarSharedVariable(name=name, type=TensorType(data.dtype, ()), value=data, strict=strict, allow_downcast=allow_downcast)

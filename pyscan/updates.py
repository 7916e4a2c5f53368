"""OrderedUpdates, the mapping from shared variables to their new values that `scan` returns; and what a new value must be.

Relies on: _core (SharedVariable). Relied on by: scan, scan_step, maker.
"""
from __future__ import annotations

import warnings
from collections import OrderedDict

from pyscan._core import SharedVariable

__all__ = ["OrderedUpdates"]


def fitted_update(shared, value):
    """`value` as a variable of the type of `shared`: of its dtype and rank, with a fixed shape asserted; else TypeError."""
    if not isinstance(shared, SharedVariable):
        raise TypeError("update target must be a SharedVariable", shared)
    try:
        return shared.type.filter_variable(value)
    except TypeError:
        raise TypeError(
            f"An update must have the same type as the original shared variable (shared_var={shared}, shared_var.type={shared.type}, "
            f"update_val={value}, update_val.type={getattr(value, 'type', None)}).",
            "If the difference is related to the broadcast pattern, you can call the tensor.shape.unbroadcast(var, "
            "axis_to_unbroadcast[, ...]) function to mask broadcastable dimensions.",
        ) from None


def _has_no_order(mapping) -> bool:
    """Whether Aesara counts this argument as a dictionary without an order."""
    return isinstance(mapping, dict) and not isinstance(mapping, OrderedDict) and len(mapping) > 1


class OrderedUpdates(OrderedDict):
    """An ordered dictionary {shared variable: new value} that merges without losing an entry (Aesara's class of that name).

    Keys are shared variables (else TypeError). ``+`` and `update` merge; a key that is present with another value is a
    KeyError("Collision", key), while plain assignment replaces the value.

    >>> import pyscan
    >>> s = pyscan.shared(1.0, name="s")
    >>> updates = OrderedUpdates([(s, s + 1)]) + OrderedUpdates()
    >>> list(updates)
    [s]
    """

    def __init__(self, *args, **kwargs):
        if args and _has_no_order(args[0]):
            warnings.warn(
                "Initializing an `OrderedUpdates` from a non-ordered dictionary with 2+ elements could make your code "
                "non-deterministic. You can use an OrderedDict that is available at collections.OrderedDict for python 2.6+.",
                stacklevel=2,
            )
        super().__init__(*args, **kwargs)

    def __setitem__(self, key, value):
        if not isinstance(key, SharedVariable):
            raise TypeError("OrderedUpdates keys must inherit from SharedVariable", key)
        super().__setitem__(key, value)

    def update(self, other=None):  # type: ignore[override]
        """Merges another mapping or list of pairs; KeyError when a key is present with another value."""
        if other is None:
            return
        if _has_no_order(other):
            warnings.warn(
                "Updating an `OrderedUpdates` with a non-ordered dictionary with 2+ elements could make your code non-deterministic",
                stacklevel=2,
            )
        for key, value in OrderedDict(other).items():
            if key in self and self[key] is not value:
                raise KeyError("Collision", key)
            self[key] = value

    def __repr__(self):
        return f"{type(self).__name__}({list(self.items()) or ''})"

    def __add__(self, other):
        merged = OrderedUpdates()
        merged.update(self)
        merged.update(other)
        return merged

    def __radd__(self, other):
        merged = OrderedUpdates()
        merged.update(other)
        merged.update(self)
        return merged

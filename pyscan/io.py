"""In and Out: what `function` may do with an input or an output beyond taking and giving its value.

Relies on: the graph types of `_core`, ops. Relied on by: function, printing.
"""
from __future__ import annotations

from typing import Any

from pyscan import _core
from pyscan.ops import UpdatePlaceholder

__all__ = ["In", "Out", "SymbolicInput", "SymbolicOutput"]


class SymbolicInput:
    """What `In` adds a value to: the variable, its name, its update and the flags of how values are taken."""

    def __init__(self, variable: Any, name: str | None = None, update: Any = None, mutable: bool | None = None, strict: bool = False,
                 allow_downcast: bool | None = None, autoname: bool = True, implicit: bool | None = False, shared: bool = False,
                 borrow: bool | None = None) -> None:
        if not isinstance(variable, _core.Variable):
            raise TypeError(f"the input of a function must be a Variable, got {variable!r} of type {type(variable).__name__}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a string! (got: {name})")
        self.variable = variable
        self.name = variable.name if autoname and name is None else name
        update = self._checked_update(variable, update)
        self.has_placeholder = update is not None and update.owner is not None and isinstance(update.owner.op, UpdatePlaceholder)
        self.update = None if self.has_placeholder else update
        self.mutable = update is not None if mutable is None else mutable
        self.borrow = self.mutable if borrow is None else borrow
        if self.mutable and not self.borrow:
            raise ValueError(
                f"Symbolic input for variable {variable} (name={name}) has flags mutable=True, borrow=False. This combination is "
                "incompatible since mutable=True implies that the input variable may be both aliased (borrow=True) and overwritten.")
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.implicit = implicit
        self.shared = shared

    @staticmethod
    def _checked_update(variable: Any, update: Any) -> Any:
        if update is None:
            return None
        if not isinstance(update, _core.Variable):
            from pyscan.tensor.basic import as_tensor_variable
            update = as_tensor_variable(update)
        try:
            return variable.type.filter_variable(update)
        except TypeError:
            raise TypeError(
                f"Variable '{variable}' has type {variable.type} but an update of type {update.type}. "
                "The type of the update should be compatible with the type of the variable.") from None

    def __str__(self) -> str:
        return f"In({self.variable} -> {self.update})" if self.update is not None else f"In({self.variable})"

    __repr__ = __str__


class In(SymbolicInput):
    """An input of a function, with how it is taken.

    Parameters
    ----------
    variable
        The Variable whose value is taken.
    name
        The keyword by which a call gives it; the variable's own name when `autoname`.
    value
        A default, of the variable's type. It is put back after each call, unless there is an update, which then stays.
        A `Container` is used as it is, and shared with whoever holds it.
    update
        An expression whose value becomes the next default. `update_placeholder(variable)` stands for none.
    mutable
        The function may overwrite the value that a call gives. Default: whether there is an update.
    borrow
        The function may return views of the value, and keep it. Default: `mutable`.
    strict, allow_downcast
        How a value is turned into the variable's type, as in `Type.filter`.
    implicit
        True: calls can't give the value. Default: whether `value` is a Container.
    """

    def __init__(self, variable: Any, name: str | None = None, value: Any = None, update: Any = None, mutable: bool | None = None,
                 strict: bool = False, allow_downcast: bool | None = None, autoname: bool = True, implicit: bool | None = None,
                 borrow: bool | None = None, shared: bool = False) -> None:
        from pyscan.sharedvalue import Container
        if implicit is None:
            implicit = isinstance(value, Container)
        super().__init__(variable, name, update, mutable, strict, allow_downcast, autoname, implicit, shared, borrow)
        self.value = value
        if self.implicit and value is None:
            raise TypeError("An implicit input must be given a default value")


class SymbolicOutput:
    """An output of a function; `borrow` True allows the value to share memory with inputs, shared variables and other outputs."""

    def __init__(self, variable: Any, borrow: bool = False) -> None:
        self.variable = variable
        self.borrow = borrow

    def __str__(self) -> str:
        return f"Out({self.variable},{self.borrow})"

    __repr__ = __str__


Out = SymbolicOutput

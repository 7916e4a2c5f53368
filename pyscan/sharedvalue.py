"""Shared variables: graph leaves whose value is kept between calls, and the containers that keep it.

`shared(value)` asks the registered constructors, the latest first, for a variable that fits the value: tensors register theirs in
`pyscan.tensor.sharedvar`, generators in `pyscan.tensor.random`; anything else becomes a plain SharedVariable.

Relies on `_core`. Relied on by the tensor package, scan and function.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from pyscan import _core
from pyscan._core import Type, Variable

# The lists that collect_new_shareds() has open in this context, the innermost last.
_collectors: ContextVar[tuple] = ContextVar("collectors", default=())


class Generic(Type):
    """The type of values that graphs hand on without looking at them."""

    type_kind = "generic"

    def filter(self, data, strict=False, allow_downcast=None):
        return data

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(Generic)

    def __str__(self):
        return "Generic"


GenericType = Generic
generic = Generic()


class Container:
    """A cell for the value of one variable, which filters what is put in.

    Parameters
    ----------
    r : Variable or Type
        Whose type filters the values.
    storage : list
        Its first element is the value; it is None at first.
    readonly : bool
        Whether setting is refused.
    strict, allow_downcast
        As in `Type.filter`.
    name : str
        For errors; by default that of the variable.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> cell = Container(at.dscalar("x"), [None])
    >>> cell.value = 2
    >>> cell.value
    array(2.)
    """

    def __init__(self, r, storage, *, readonly=False, strict=False, allow_downcast=None, name=None):
        if not isinstance(storage, list) or len(storage) < 1:
            raise TypeError("storage must be a list of length at least one")
        if isinstance(r, Type):
            self.type = r
        else:
            self.type = r.type
            name = r.name if name is None else name
        self.name = name
        self.storage = storage
        self.readonly = readonly
        self.strict = strict
        self.allow_downcast = allow_downcast

    @property
    def value(self):
        """The value, as the type filters it."""
        return self.storage[0]

    @value.setter
    def value(self, value):
        if self.readonly:
            raise TypeError(f"Cannot set readonly storage: {self.name}")
        if value is None:
            self.storage[0] = None
            return
        try:
            self.storage[0] = self.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)
        except Exception as error:
            error.args = (*error.args, f'Container name "{self.name}"')
            raise

    data = value

    def __repr__(self):
        return f"<{self.storage[0]!r}>"


class SharedVariable(_core.SharedVariable):
    """A leaf whose value lives in a container and outlives the calls of the functions that use it.

    Parameters
    ----------
    name : str or None
    type : Type
    value : object
        Filtered by the type into a new container; not used when `container` is given.
    strict, allow_downcast
        As in `Type.filter`.
    container : Container
        An existing one, shared with another variable.

    Attributes
    ----------
    default_update : Variable or None
        What functions that use the variable assign to it after each call, unless told otherwise.
    """

    def __init__(self, type=None, value=None, strict=False, allow_downcast=None, container=None, name=None):
        if container is None:
            container = Container(type, [None], strict=strict, allow_downcast=allow_downcast, name=name)
            container.value = type.filter(value, strict=strict, allow_downcast=allow_downcast) if value is not None else None
        super().__init__(type, container, name)

    def get_value(self, borrow=False, return_internal_type=False):
        """The value: a deep copy, or with `borrow` the stored object itself."""
        value = self.container.value
        return value if borrow else _deep_copy(value)

    def set_value(self, new_value, borrow=False):
        """Stores a deep copy of `new_value`, or with `borrow` perhaps the object itself.

        Raises
        ------
        TypeError
            When the type does not take it; the old value stays.
        """
        self.container.value = new_value if borrow else _deep_copy(new_value)

    def zero(self, borrow=False):
        """Sets all elements to 0; with `borrow` in the stored array."""
        if borrow:
            self.container.value[...] = 0
        else:
            self.container.value = 0 * self.container.value


def _deep_copy(value):
    if type(value) is np.ndarray and value.dtype != object:
        return value.copy()
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return _core.copy_generator(value)
    from copy import deepcopy  # here, since most values are arrays and generators
    return deepcopy(value)


def shared_constructor(constructor, remove=False):
    """Registers a function (value, name, strict, allow_downcast, **kwargs) -> shared variable, which `shared` asks before those
    registered earlier; it raises TypeError for values that are not its own. Can be used as a decorator."""
    if remove:
        shared.constructors.remove(constructor)
    else:
        shared.constructors.append(constructor)
    return constructor


def shared(value, name=None, strict=False, allow_downcast=None, **kwargs):
    """A variable whose value is kept between calls, initially `value`.

    Parameters
    ----------
    value : array, number, generator or any object
        Arrays keep their dtype, and all their dimensions are unknown unless `shape=` says otherwise.
    name : str
    strict, allow_downcast
        How later values are filtered.
    **kwargs
        `borrow=True` keeps `value` itself, not a copy; `shape=(1, None)` is the static shape.

    Raises
    ------
    TypeError
        For a symbolic value, for an option that no kind of variable for such a value has, and what the constructor for such
        values says of the others: a name that is no str, a shape that the value has not.

    Examples
    --------
    >>> import numpy as np
    >>> s = shared(np.zeros(2), name="s")
    >>> s.set_value([1.0, 2.0])
    >>> s.get_value()
    array([1., 2.])
    """
    if isinstance(value, Variable):
        raise TypeError("Shared variable values can not be symbolic.")
    reasons = []
    for constructor in reversed(shared.constructors):
        try:
            variable = constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
        except TypeError as error:
            reasons.append(str(error))
            continue
        for collected in _collectors.get():
            collected.append(variable)
        return variable
    for reason in reasons:
        if reason and "unexpected keyword argument" not in reason:  # a constructor for other values gives none
            raise TypeError(reason)
    options = f" with the options {', '.join(kwargs)}: are they spelt right, and do they fit such a value?" if kwargs else "."
    raise TypeError(f"No suitable SharedVariable constructor could be found for {value!r} of type {type(value).__name__}{options}")


shared.constructors = []


@shared_constructor
def _generic_constructor(value, name=None, strict=False, allow_downcast=None, borrow=False):
    return SharedVariable(name=name, type=generic, value=value if borrow else _deep_copy(value), strict=strict, allow_downcast=allow_downcast)


@contextmanager
def collect_new_shareds():
    """Collects the shared variables that `shared` makes in the block: `with collect_new_shareds() as made: ...`.

    Examples
    --------
    >>> with collect_new_shareds() as made:
    ...     s = shared(1.0)
    >>> made == [s]
    True
    """
    made = []
    token = _collectors.set((*_collectors.get(), made))
    try:
        yield made
    finally:
        _collectors.reset(token)

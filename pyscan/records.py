"""Classes of a few named fields, as `dataclasses` makes them, but made without compiling code: a fifth of the import was that.

Relies on: nothing. Relied on by: scan, scan_arguments, scan_guard, scan_op, scan_step, explain.
"""
from __future__ import annotations

from typing import Any


class _AskedFor:
    """An attribute of classes that is made when it is asked for, and kept for that class."""

    def __init__(self, make):
        self.make, self.kept = make, {}

    def __get__(self, instance, owner):
        if owner not in self.kept:
            self.kept[owner] = self.make(owner)
        return self.kept[owner]


def _make_fields(cls):
    """For `dataclasses.fields` and `dataclasses.replace`, which take a record for one of theirs."""
    from dataclasses import field, make_dataclass
    rows = [(name, Any, *([field(default_factory=cls._made[name])] if name in cls._made else [field(default=cls._given[name])]
                          if name in cls._given else [])) for name in cls._fields]  # fmt: skip
    return make_dataclass(cls.__name__, rows).__dataclass_fields__


def _make_signature(cls):
    from inspect import Parameter, Signature
    defaults = cls._given | {name: make() for name, make in cls._made.items()}
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(name, Parameter.empty),
                                annotation=cls._annotations[name]) for name in cls._fields])  # fmt: skip


class Record:
    """A base for classes whose annotated names are their fields, in order: arguments of the class, compared by `==` and shown.

    A value given in the class is a default; list, dict or set stands for a new one each time.

    >>> class Pair(Record):
    ...     first: int
    ...     others: list = list
    >>> Pair(1), Pair(first=1) == Pair(1, []), Pair(1) == Pair(2)
    (Pair(first=1, others=[]), True, False)
    """

    _fields: tuple[str, ...] = ()
    _made: dict[str, Any] = {}  # the defaults that are new each time,
    _given: dict[str, Any] = {}  # and the others
    __dataclass_fields__ = _AskedFor(_make_fields)
    __signature__ = _AskedFor(_make_signature)

    def __init_subclass__(cls):
        cls._annotations = vars(cls).get("__annotations__", {})
        cls._fields = cls.__match_args__ = tuple(cls._annotations)
        defaults = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}
        cls._made = {name: value for name, value in defaults.items() if value in (list, dict, set)}
        cls._given = {name: value for name, value in defaults.items() if name not in cls._made}
        for name in cls._made:
            delattr(cls, name)

    def __init__(self, *values, **named):
        if len(values) > len(self._fields):
            raise TypeError(f"{type(self).__name__} has {len(self._fields)} fields, and {len(values)} values were given")
        given = dict(zip(self._fields, values))
        for name in named:
            if name not in self._fields or name in given:
                raise TypeError(f"{type(self).__name__} {'got two values for' if name in given else 'has no'} field {name!r}")
        given |= named
        for name in self._fields:
            if name in given:
                value = given[name]
            elif name in self._given:
                value = self._given[name]
            elif name in self._made:
                value = self._made[name]()
            else:
                raise TypeError(f"{type(self).__name__} is missing its field {name!r}")
            self.__dict__[name] = value

    def _values(self):
        return tuple(self.__dict__[name] for name in self._fields)

    def __replace__(self, /, **changes):
        """One with these fields changed; Python 3.13's copy.replace calls it."""
        return type(self)(**self.__dict__ | changes)

    def __eq__(self, other):
        return self._values() == other._values() if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self._values()))})"


class FrozenRecord(Record):
    """A record whose fields stay as they are, and which can be a key.

    >>> class Place(FrozenRecord):
    ...     row: int
    >>> {Place(3): "here"}[Place(3)]
    'here'
    >>> Place(3).row = 4
    Traceback (most recent call last):
    AttributeError: cannot assign to field 'row'
    """

    def __hash__(self):
        return hash(self._values())

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name):
        raise AttributeError(f"cannot delete field {name!r}")

"""What scan's arguments mean, and the variables that stand for one step of its sequences and states.

Relies on: tensor. Relied on by: scan, scan_step.
"""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pyscan._core import Variable
from pyscan.errors import about
from pyscan.records import Record
from pyscan.tensor.basic import AllocEmpty, NotScalarConstantError, as_tensor_variable, get_scalar_constant_value
from pyscan.tensor.math import minimum
from pyscan.tensor.random_types import RandomType, generator_given
from pyscan.tensor.shape import shape_padleft, unbroadcast
from pyscan.tensor.subtensor import set_subtensor


# What the arguments mean


def as_list(value) -> list:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def read_sequences(sequences) -> list[tuple[Any, list]]:
    """The sequences as (input, taps)."""
    read = []
    for i, sequence in enumerate(as_list(sequences)):
        value, taps = sequence, [0]
        if isinstance(sequence, dict):
            if "input" not in sequence:
                raise KeyError(f"input: sequences[{i}] is a dict without the key 'input', which holds the array to read: it has {list(sequence)}")
            value, taps = sequence["input"], as_list(sequence.get("taps")) or [0]
        if not hasattr(value, "shape"):
            raise AttributeError(
                f"'{type(value).__name__}' object has no attribute 'shape': {describe(f'sequences[{i}]', value)}, and a sequence must be a "
                "variable or an array. Write at.as_tensor_variable(...) or np.asarray(...) around it."
            )
        if not all(isinstance(tap, (int, np.integer)) for tap in taps):
            raise TypeError(f"Expected an integer: the taps of {label(f'sequences[{i}]', value)} must be integers, got {taps}")
        read.append((value, taps))
    return read


def label(argument: str, value: Any) -> str:
    """An argument of scan, with the user's name for what came.

    >>> label("n_steps", 3)
    'n_steps'
    """
    name = getattr(value, "name", None)
    return f"{argument} ({name})" if name else argument


def describe(argument: str, value: Any) -> str:
    """An argument of scan and what came for it, for messages.

    >>> describe("n_steps", 3.5)
    'n_steps is 3.5'
    """
    if isinstance(value, Variable):
        return f"{label(argument, value)} has type {value.type}"
    if isinstance(value, np.ndarray):
        return f"{argument} is an array of dtype {value.dtype} and shape {value.shape}"
    shown = repr(value)
    return f"{argument} is {shown if len(shown) <= 60 else type(value).__name__}"


def read_outputs_info(outputs_info) -> list[tuple[Any, Any]]:
    """The outputs as (initial state, taps); (None, None) for one that is not fed back."""
    return [_read_output_info(i, info) for i, info in enumerate(as_list(outputs_info))]


def _read_output_info(i, info):
    if info is None:
        return None, None
    if not isinstance(info, dict):
        return generator_given(info), [-1]
    if info.get("return_steps") is not None:
        raise DeprecationWarning(
            "Using `return_steps` has been deprecated. Simply select the entries you need using a subtensor. Scan will optimize "
            "memory consumption, so do not worry about that."
        )
    unknown = [key for key in info if key not in ("initial", "taps", "return_steps", "inplace")]
    if unknown:
        raise ValueError(f"outputs_info[{i}] has the unknown key {unknown[0]!r}: write {{'initial': ..., 'taps': ...}}")
    initial, taps = generator_given(info.get("initial")), info.get("taps")
    if initial is None and taps is not None:
        raise ValueError(f"If you are using slices of an output you need to provide a initial state for it: {info}")
    if initial is not None and taps is None:
        if "taps" in info:
            warnings.warn(
                f"Output {getattr(initial, 'name', 'None')} (index {i}) has a initial state but taps is explicitly set to None ",
                stacklevel=4,
            )
        taps = [-1]
    if taps is not None:
        if not hasattr(taps, "__len__"):
            raise TypeError(f"object of type '{type(taps).__name__}' has no len(): the taps of {label(f'outputs_info[{i}]', initial)} must be a list, as in [{taps!r}]")
        if len(taps) > len(set(taps)):
            raise ValueError("All the taps must be different in  `outputs_info`", info)
        with about(lambda: f"The taps of {label(f'outputs_info[{i}]', initial)} must be negative integers, got {taps}."):
            reach_forward = any(tap >= 0 for tap in taps)
        if reach_forward:
            raise ValueError("All the tap values must be smaller than 0.", info)
        if not all(isinstance(tap, (int, np.integer)) for tap in taps):
            raise TypeError(f"Expected an integer: the taps of {label(f'outputs_info[{i}]', initial)} must be negative integers, got {list(taps)}")
    return initial, taps


def fixed_steps(n_steps):
    """The number of steps when it is an integer that is known now, else None. ValueError for a variable or array of floats."""
    if hasattr(n_steps, "dtype") and not str(n_steps.dtype).startswith(("int", "uint")):
        raise ValueError(f" n_steps must be an int. dtype provided is {n_steps.dtype}. {describe('n_steps', n_steps)}.")
    if n_steps is None:
        return None
    if isinstance(n_steps, (int, float)):
        as_int = int(n_steps)  # refuses NaN; other floats are refused where they become a length
        return as_int if isinstance(n_steps, int) else None
    if isinstance(n_steps, Variable) and not hasattr(n_steps.type, "ndim"):
        return None  # refused where it becomes a length
    if (n_steps.type.ndim if isinstance(n_steps, Variable) else np.ndim(n_steps)) > 0:
        return None  # refused where it becomes a length
    try:
        return int(get_scalar_constant_value(n_steps))
    except NotScalarConstantError:
        return None


def about_steps(n_steps) -> about:
    return about(lambda: f"It is about n_steps: {describe('n_steps', n_steps)}. Give an integer, or an integer scalar variable.")


def number_of_steps(n_steps, sequences):
    """The given number of steps, else the length of the shortest sequence."""
    if n_steps is not None:
        with about_steps(n_steps):
            return as_tensor_variable(n_steps)
    if not sequences:
        raise ValueError(
            "No information about the number of steps provided. Either provide a value for n_steps argument of scan or provide "
            "an input sequence"
        )
    shortest = sequences[0].outer.shape[0]
    for sequence in sequences[1:]:
        shortest = minimum(shortest, sequence.outer.shape[0])
    return shortest


# Variables for one step


def _time(tap: int) -> str:
    return f"[t{tap:+d}]" if tap else "[t]"


class SequenceTap(Record):
    """One tap of a sequence: `outer` goes to the node, `inner` to `fn`; `first` is the value of the first step."""

    outer: Any
    inner: Variable
    first: Any


def sequence_taps(position, value, taps, go_backwards):
    """The taps of one sequence, cut so that row t of each belongs to step t. Tap 0 is counted as if it was used, so that
    the length does not hang on whether it is."""
    earliest, latest = min(*taps, 0), max(*taps, 0)
    name = getattr(value, "name", None)
    for tap in taps:
        start, cut = tap - earliest, latest - tap
        with about(lambda: f"It is a sequence: {describe(f'sequences[{position}]', value)}, but a sequence is read along its first axis, so it must have one."):
            outer = value[start:] if cut == 0 else value[start:-cut]
        inner = as_tensor_variable(value)[start].type()
        first = value[-1 - cut] if go_backwards else value[start]
        if go_backwards:
            outer = outer[::-1]
        if name is not None:
            outer.name = f"{name}[{start}:{-cut if cut else ''}]"
            inner.name = name + _time(tap)
        yield SequenceTap(outer, inner, first)


class State(Record):
    """An output that is fed back. `buffer` goes to the node, `inner` (one for each tap) to `fn`; `first` are their values in
    the first step; the path starts at row `offset` of the node's output."""

    position: int  # in outputs_info
    initial: Any
    taps: list
    inner: list[Variable]
    first: list
    buffer: Any
    is_single: bool  # a sit-sot: the initial state is the last value alone, not an array of past values
    offset: int = 1

    @property
    def is_generator(self) -> bool:
        return isinstance(self.inner[0].type, RandomType)

    def label(self) -> str:
        """The state under the user's name for it."""
        name = getattr(self.initial, "name", None)
        return f"outputs_info[{self.position}]" + (f" ({name})" if name else "")


def expand(initial, n_steps):
    """A buffer with the initial rows, and room for one row for each step."""
    lengths = [initial.shape[axis] for axis in range(initial.ndim)]
    with about_steps(n_steps):
        empty = AllocEmpty(str(initial.dtype))(n_steps + lengths[0], *lengths[1:])
    return set_subtensor(empty[: lengths[0]], initial)


def _single_state(position, initial, n_steps):
    """A state whose last value is read: a sit-sot, or a carried generator."""
    is_generator = isinstance(initial, Variable) and isinstance(initial.type, RandomType)
    with about(lambda: f"It is the initial state {label(f'outputs_info[{position}]', initial)}: give a number, an array or a variable."):
        value = initial if is_generator else as_tensor_variable(initial)
    inner = value.type()
    name = getattr(initial, "name", None)
    if name is not None:
        inner.name = name + _time(-1)
    buffer = value if is_generator else expand(unbroadcast(shape_padleft(value), 0), n_steps)
    return State(position, initial, [-1], [inner], [value], buffer, is_single=True)


def _past_state(position, initial, taps, n_steps):
    """A state of which several, or older, values are read: a mit-sot. Its initial state holds the oldest first."""
    with about(lambda: f"It is the initial state {label(f'outputs_info[{position}]', initial)}: give an array or a variable of past values."):
        value = as_tensor_variable(initial)
    if not isinstance(initial, (Variable, np.ndarray)):
        initial = value
    oldest = -min(taps)
    if value.type.ndim == 0:
        raise IndexError(
            f"too many indices for array: {describe(f'outputs_info[{position}]', initial)}, but with taps {list(taps)} its initial state holds "
            f"past values along a first axis, the oldest first; it needs {oldest} row(s)."
        )
    if value.type.ndim and value.type.shape[0] is not None and value.type.shape[0] < oldest:
        raise ValueError(
            f"outputs_info[{position}] reads {oldest} step(s) back (taps {list(taps)}), so its initial state must have at least "
            f"{oldest} row(s), the oldest first; it has {value.type.shape[0]}."
        )
    buffer = expand(initial[:oldest], n_steps)
    inner = [value[tap + oldest].type() for tap in taps]
    name = getattr(initial, "name", None)
    if name is not None:
        for variable, tap in zip(inner, taps):
            variable.name = name + _time(tap)
    first = [initial[tap + oldest] for tap in taps]
    return State(position, initial, list(taps), inner, first, buffer, is_single=False, offset=oldest)


def make_state(position, initial, taps, n_steps):
    # Exactly the list [-1] means a state without a leading axis; a tuple (-1,) has one.
    if taps == [-1]:
        return _single_state(position, initial, n_steps)
    if isinstance(getattr(initial, "type", None), RandomType):
        raise TypeError(f"outputs_info[{position}] is a generator: of that the last state alone is carried, so it takes no taps but [-1], got {list(taps)}")
    return _past_state(position, initial, taps, n_steps)

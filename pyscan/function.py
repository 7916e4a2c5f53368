"""`function`: compiles expressions of variables into an object that is called with values.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dvector("x")
    >>> f = pyscan.function([x], x * 2.0)
    >>> f([1.0, 2.0])
    array([2., 4.])

A compiled function is immutable and may be called from several threads, or again from within an operation of its own: the
values of a call live in that call alone. A call that raises leaves every shared variable as it was.

Relies on: maker (the graph), `_core.Thunk` (the program). Relied on by: `Variable.eval`, scan's tests, the package's top.
"""
from __future__ import annotations

import gc
import pickle
import sys
import threading
import weakref
from time import perf_counter
from typing import Any, Sequence

import numpy as np

from pyscan import _core, maker
from pyscan.config import config
from pyscan.io import In, SymbolicInput, SymbolicOutput
from pyscan.mode import get_mode
from pyscan.sharedvalue import Container, SharedVariable

__all__ = ["function", "pfunc", "Function", "FunctionMaker", "rebuild_function", "orig_function", "function_dump"]


def function(inputs: Sequence[Any], outputs: Any = None, mode: Any = None, updates: Any = None, givens: Any = None,
             no_default_updates: Any = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
             allow_input_downcast: bool | None = None, profile: Any = None, on_unused_input: str | None = None) -> Function:
    """Compile `outputs` as a function of `inputs`.

    Parameters
    ----------
    inputs
        A list or tuple of Variables and `In` objects. Shared variables need not be given: they are found.
    outputs
        A Variable or `Out` (a call gives its value), a list or tuple of them (a list of values), a dict with string keys (a dict
        sorted by key), or None (an empty list).
    mode
        "FAST_RUN", "FAST_COMPILE", a `Mode`, or None for the configured default. Modes change speed and printed graphs only.
    updates
        Pairs (shared variable, new value), as a dict or list. All expressions see the old values; the new ones are stored
        together when the call has succeeded.
    givens
        Pairs (variable, replacement), applied to the expressions first.
    no_default_updates
        True, or a list of shared variables: do not apply their default updates.
    accept_inplace
        Allow the graph given to hold operations that overwrite their inputs.
    name
        Shown in errors; default `file:line` of the call.
    profile
        True, a message or a `ProfileStats`: count and time the calls in the function's `profile`.
    rebuild_strict, allow_input_downcast, on_unused_input
        Whether givens must have the variable's type; whether values may lose precision to fit an input's type; "raise", "warn"
        or "ignore" inputs that no output needs.

    Raises UnusedInputError, MissingInputError (an input that is needed was not given), TypeError and ValueError for arguments
    that do not fit. The signature and the meaning of the arguments are Aesara's.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(
            f"Input variables of an Aesara function should be contained in a list, even when there is a single input. `inputs` is {inputs!r}."
        )
    if name is None:
        frame = sys._getframe(1)
        name = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    # The collector would walk the whole graph again and again while nodes are made: more than half of the time at 10,000 nodes.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return pfunc(inputs, outputs, mode, updates, givens, no_default_updates, accept_inplace, name, rebuild_strict,
                     allow_input_downcast, profile, on_unused_input)
    finally:
        if was_collecting:
            gc.enable()


def function_dump(filename: Any, inputs: Sequence[Any], outputs: Any = None, mode: Any = None, updates: Any = None, givens: Any = None,
                  no_default_updates: Any = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
                  allow_input_downcast: bool | None = None, profile: Any = None, on_unused_input: str | None = None,
                  extra_tag_to_remove: Any = None) -> None:
    """Pickle the arguments of a call of `function` into a file, to compile the same elsewhere: ``function(**pickle.load(file))``.

    `filename` is the file's path; the other arguments are those of `function`. `extra_tag_to_remove` is accepted. What can't be
    pickled raises what `pickle` raises, and leaves a part of a file.
    """
    arguments = dict(inputs=inputs, outputs=outputs, mode=mode, updates=updates, givens=givens, no_default_updates=no_default_updates,
                     accept_inplace=accept_inplace, name=name, rebuild_strict=rebuild_strict, allow_input_downcast=allow_input_downcast,
                     profile=profile, on_unused_input=on_unused_input)
    with open(filename, "wb") as file:
        pickle.dump(arguments, file, protocol=-1)


def pfunc(params: Sequence[Any], outputs: Any = None, mode: Any = None, updates: Any = None, givens: Any = None,
          no_default_updates: Any = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
          allow_input_downcast: bool | None = None, profile: Any = None, on_unused_input: str | None = None,
          output_keys: Any = None, fgraph: Any = None) -> Function:
    """What `function` does, with two more arguments: `fgraph`, a FunctionGraph of exactly these inputs and outputs, is
    rewritten and compiled as it is, without a copy."""
    if not isinstance(params, (list, tuple)):
        raise TypeError(f"the inputs must be a list or tuple, got {params!r} of type {type(params).__name__}")
    output_list, form = _output_form(outputs)
    if output_keys is not None:
        form = ("dict", list(output_keys))
    specs = [maker.as_input(param, allow_input_downcast) for param in params]
    outs = [maker.as_output(out) for out in output_list]
    if fgraph is None or updates or givens:
        specs, outs = maker.collect(specs, outs, updates, givens, no_default_updates, rebuild_strict)
    return FunctionMaker(specs, outs, mode, accept_inplace, profile=profile, on_unused_input=on_unused_input, name=name, form=form,
                         fgraph=fgraph).create()


def _output_form(outputs: Any) -> tuple[list[Any], tuple[str, Any]]:
    """The outputs as a list, and the form in which a call gives their values back."""
    if outputs is None:
        return [], ("list", None)
    if isinstance(outputs, dict):
        if not all(isinstance(key, str) for key in outputs):
            raise AssertionError(f"the keys of a dict of outputs must be strings, got {list(outputs)}")
        keys = sorted(outputs)
        return [outputs[key] for key in keys], ("dict", keys)
    if isinstance(outputs, (list, tuple)):
        return list(outputs), ("list", None)
    return [outputs], ("one", None)


class FunctionMaker:
    """Holds what a function was made from: `inputs` and `outputs` (`In` and `Out`, shared variables included), the rewritten
    `fgraph`, the `mode`, and `changes` (how often each pass changed the graph)."""

    def __init__(self, inputs: Any, outputs: Any, mode: Any = None, accept_inplace: bool = False, function_builder: Any = None,
                 profile: Any = None, on_unused_input: str | None = None, fgraph: Any = None, output_keys: Any = None,
                 name: str | None = None, form: tuple[str, Any] | None = None) -> None:
        if form is None:
            outputs, form = _output_form(outputs)
            if output_keys is not None:
                form = ("dict", list(output_keys))
        self.inputs = [spec if isinstance(spec, SymbolicInput) else In(spec) for spec in inputs]
        self.outputs = [maker.as_output(out) for out in outputs]
        self.expanded_inputs = self.inputs
        self.mode, self.name, self.form = get_mode(mode), name, form
        self.accept_inplace, self.on_unused_input = accept_inplace, on_unused_input
        self.profile = _profile_of(profile, name)
        self.function_builder = function_builder or (Function if self.profile is None else ProfiledFunction)
        start = perf_counter()
        with config.change_flags(compute_test_value="off"):  # passes write expressions too
            self.fgraph, self.update_pairs = maker.checked_graph(self.inputs, self.outputs, accept_inplace, on_unused_input, fgraph)
            rewriting = perf_counter()
            self.changes = maker.rewrite(self.fgraph, self.mode)
            rewritten = perf_counter()
            maker.overwrite_mutable(self.fgraph, self.inputs, self.mode)
            maker.copy_aliased_outputs(self.fgraph, self.inputs, self.outputs)
        if self.profile is not None:
            self.profile.nb_nodes += len(self.fgraph.apply_nodes)
            self.profile.rewriting_time += rewritten - rewriting
            self.profile.compile_time += perf_counter() - start

    @property
    def unpack_single(self) -> bool:
        return self.form[0] == "one"

    @property
    def output_keys(self) -> list[str] | None:
        return self.form[1] if self.form[0] == "dict" else None

    def create(self, containers: list[Container] | None = None) -> Function:
        """Make a function: with these containers, one an input, or with new ones (a default that is an array is copied, shared
        variables are shared)."""
        if containers is None:
            containers = [_container_for(spec) for spec in self.inputs]
        borrow = [out.borrow for out in self.outputs]
        cells = [None if _is_per_call(spec) else container.storage for spec, container in zip(self.inputs, containers)]
        thunk = _core.Thunk(self.fgraph, cells, len(self.outputs), self.update_pairs, borrow, config.scan__block_steps,
                             config.scan__batch_products)
        return self.function_builder(self, containers, thunk)

    def __reduce__(self) -> Any:
        return _made_again, (self.create(),)


def _profile_of(profile: Any, name: str | None) -> Any:
    """The ProfileStats that `profile` asks for: None, a truth value, a message, or one of them."""
    if profile is None or profile is False:
        return None
    from pyscan.profiling import ProfileStats  # here, since few programs profile
    if isinstance(profile, ProfileStats):
        return profile
    if profile is not True and not isinstance(profile, str):
        raise TypeError(f"`profile` must be a truth value, a message or a ProfileStats; {profile!r} came")
    return ProfileStats(message=name if profile is True else profile)


def _made_again(fn: Function) -> FunctionMaker:
    return fn.maker


def orig_function(inputs: Any, outputs: Any, mode: Any = None, accept_inplace: bool = False, name: str | None = None, profile: Any = None,
                  on_unused_input: str | None = None, output_keys: Any = None, fgraph: Any = None) -> Function:
    """Compile `In` and `Out` objects as they are: nothing is collected or replaced."""
    return FunctionMaker(inputs, outputs, mode, accept_inplace, None, profile, on_unused_input, fgraph, output_keys, name).create()


def _container_for(spec: SymbolicInput) -> Container:
    """The cell of an input: it holds a default, or what an update left; nothing for an input that each call has to give."""
    value = getattr(spec, "value", None)
    if isinstance(value, Container):
        return value
    return _new_container(spec, value.copy() if isinstance(value, np.ndarray) else value)


def _new_container(spec: SymbolicInput, value: Any) -> Container:
    container = Container(spec.variable, [None], strict=spec.strict, allow_downcast=spec.allow_downcast, name=spec.name)
    container.value = value
    return container


def _default(container: Container, spec: SymbolicInput) -> Any:
    """A default for one call: an array that the call may overwrite is copied, since the next call finds the same default."""
    value = container.storage[0]
    return value.copy() if spec.mutable and isinstance(value, np.ndarray) else value


def _is_per_call(spec: SymbolicInput) -> bool:
    """Whether each call hands the value over: all but shared variables and inputs with an update, which live in a cell."""
    return spec.update is None and not spec.implicit


_MISSING = object()


class _Slot:
    """How one explicit input of a call is taken: its place, its type, and a quick test for values that need no conversion."""

    __slots__ = ("position", "spec", "filter", "strict", "allow_downcast", "dtype", "ndim")

    def __init__(self, position: int, spec: SymbolicInput) -> None:
        type_ = spec.variable.type
        self.position, self.spec = position, spec
        self.filter, self.strict, self.allow_downcast = type_.filter, spec.strict, spec.allow_downcast
        # A tensor type with no static length takes every native array of its dtype and rank as it is.
        plain = getattr(type_, "type_kind", None) == "tensor" and all(length is None for length in type_.shape)
        self.dtype = np.dtype(type_.dtype) if plain else None
        self.ndim = type_.ndim if plain else -1


class Function(_core.Caller):
    """A compiled function. Call it with values by position or by the names of its inputs.

    `f(*args, output_subset=[0], **kwargs)` gives only some outputs; `f[x]` or `f["x"]` reads what an input with a default or a
    shared variable holds, and `f["x"] = v` writes it, a default for the next call alone; `f.maker.fgraph` is the graph that runs; `f.counters` says what the last
    call did (generator copies, steps, Python calls); `f.trust_input = True` skips the conversion of arguments.

    `f(*args, out=array)` writes the result into an array of the caller, a memory map for one, and gives that array back. For
    several outputs `out` is a list with an array or None for each, or a dict by the outputs' keys. An array must have the
    output's dtype, rank and shape and be writable; TypeError and ValueError name the output where it is not. Where a loop has
    `until` it may have more rows than come: the rows written are given back. Paths of scans, and other results that are arrays
    of their own, are made right there if the array is contiguous, without a second copy in memory; all others are copied at
    the end, so that arrays may have gaps and share memory with arguments. After an error or Ctrl-C shared variables are as
    they were before the call, but what an `out` array holds is unspecified: the rows of the steps that were done, perhaps.
    An input that is itself named "out" is given by that keyword; such a function takes no arrays for its results.

        >>> import numpy as np, pyscan, pyscan.tensor as at
        >>> x = at.dscalar("x")
        >>> path, _ = pyscan.scan(lambda x: 2.0 * x, outputs_info=[x], n_steps=4)
        >>> f, room = pyscan.function([x], path), np.empty(4)
        >>> f(1.0, out=room) is room, room.tolist()
        (True, [2.0, 4.0, 8.0, 16.0])
    """

    def __init__(self, maker_: FunctionMaker, containers: list[Container], thunk: Any) -> None:
        if isinstance(thunk, _Machine):  # another function's `vm`
            thunk = thunk._thunk
        self.maker = maker_
        self.name = maker_.name
        self.profile = maker_.profile
        self.vm = self.fn = _Machine(self, thunk)
        self._containers = containers
        self._thunk = thunk
        self._form, self._keys = maker_.form
        # Defaults that come back after a call, when `f["x"] = v` has changed them for it; a container that was given is its owner's.
        self._refed = [(container, container.storage[0]) for i, (spec, container) in enumerate(zip(maker_.inputs, containers))
                       if _is_per_call(spec) and not self._is_required(i) and not isinstance(getattr(spec, "value", None), Container)]
        self._names: dict[Any, int] = {}
        self._ambiguous: set = set()
        for i, spec in enumerate(maker_.inputs):
            if spec.name is not None:
                if spec.name in self._names:
                    self._ambiguous.add(spec.name)
                self._names.setdefault(spec.name, i)
        self._by_variable = {spec.variable: i for i, spec in enumerate(maker_.inputs)}
        self._state_lock = threading.RLock()
        self._per_call = [_is_per_call(spec) for spec in maker_.inputs]
        self._all_slots = [_Slot(i, spec) for i, spec in enumerate(maker_.inputs)]
        # The short way of a call, which `_core.Caller` takes: every input that a call may give has to be given, and comes by position.
        explicit = [i for i, spec in enumerate(maker_.inputs) if not spec.implicit]
        only_required = explicit == list(range(len(explicit))) and all(self._is_required(i) for i in explicit)
        if only_required and all(self._per_call[i] for i in explicit) and self._form != "dict":
            self._set_short_way(thunk, tuple((slot.dtype, slot.ndim, not slot.strict) for slot in self._all_slots[:len(explicit)]),
                                self._form == "one")

    def _is_required(self, i: int) -> bool:
        """Whether a call has to give the input: it has no default, and no update has left a value."""
        return self._containers[i].storage[0] is None and not self.maker.inputs[i].implicit

    # ---- calling

    def _call_general(self, *args: Any, **kwargs: Any) -> Any:
        """A call with keywords, with defaults, or with values that have to be converted."""
        subset = kwargs.pop("output_subset", None)
        out = kwargs.pop("out", None) if "out" not in self._names else None
        values = self._run_general(args, kwargs, None if out is None else self._out_list(out))
        if subset is not None:
            return self._chosen(values, subset)
        if self._form == "one":
            return values[0]
        return values if self._form == "list" else dict(zip(self._keys, values))

    def _out_list(self, out: Any) -> list[Any]:
        """What a call gave as `out`, as a list with an array or None for each output."""
        n = len(self.maker.outputs)
        if self._form == "one" and not isinstance(out, (list, tuple)):
            outs = [out]
        elif self._form == "dict":
            if not isinstance(out, dict):
                raise TypeError(f"`out` must be a dict with arrays for some of the outputs {self._keys}, got {type(out).__name__}")
            unknown = [key for key in out if key not in self._keys]
            if unknown:
                raise ValueError(f"`out` names {unknown}, which are no outputs of the function: these are {self._keys}")
            outs = [out.get(key) for key in self._keys]
        else:
            if not isinstance(out, (list, tuple)):
                raise TypeError(f"`out` must be a list with an array or None for each of the {n} outputs, got {type(out).__name__}")
            if len(out) != n:
                raise ValueError(f"`out` must have an array or None for each of the {n} outputs; {len(out)} came")
            outs = list(out)
        arrays = [(i, a) for i, a in enumerate(outs) if isinstance(a, np.ndarray)]
        for k, (i, a) in enumerate(arrays):
            for j, b in arrays[:k]:
                if np.shares_memory(a, b):
                    raise ValueError(f"the arrays given as `out` for outputs {j} and {i} share memory")
        return outs

    def _take(self, slot: _Slot, value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype is slot.dtype and value.ndim == slot.ndim:
            return value
        try:
            return slot.filter(value, strict=slot.strict, allow_downcast=slot.allow_downcast)
        except Exception as error:
            self._explain_bad_argument(slot, error)
            raise

    def _explain_bad_argument(self, slot: _Slot, error: Exception) -> None:
        named = f' with name "{self.name}"' if self.name else ""
        text = (f"Bad input argument to aesara function{named} at index {slot.position} (0-based).  "
                f"\nBacktrace when that variable is created:\n\n{_made_where(slot.spec.variable)}\n")
        if len(error.args) == 1:
            error.args = (f"{text}{error.args[0]}",)
        else:
            error.args = (text, *error.args)

    def _run_general(self, args: tuple, kwargs: dict[str, Any], outs: list[Any] | None = None) -> list[Any]:
        inputs = self.maker.inputs
        if len(args) + len(kwargs) > len(inputs):
            named = "".join(f", {key}=..." for key in kwargs)
            taken = ", ".join(str(spec.name or spec.variable) for spec in inputs if not spec.shared)
            raise TypeError(f"Too many parameter passed to aesara function: {len(args)} by position{named} came; it takes ({taken})")
        given: list[Any] = [_MISSING] * len(inputs)
        for i, arg in enumerate(args):
            given[i] = self._take_explicit(i, arg)
        for key, arg in kwargs.items():
            i = self._position_of(key)
            if given[i] is not _MISSING:
                raise TypeError(f"Multiple values for input: {_shown(inputs[i])}")
            given[i] = self._take_explicit(i, arg)
        try:
            return self._run_with(given, outs)
        finally:
            for container, default in self._refed:
                container.storage[0] = default

    def _take_explicit(self, i: int, value: Any) -> Any:
        spec = self.maker.inputs[i]
        if spec.implicit:
            raise TypeError(f"Tried to provide value for implicit input: {_shown(spec)}")
        return value if self.trust_input else self._take(self._all_slots[i], value)

    def _run_with(self, given: list[Any], outs: list[Any] | None = None) -> list[Any]:
        """Run with the values given. An input that has an update keeps the value given, as the next call would find it, unless the
        call fails; one that has a default alone leaves it as it is."""
        values, replaced = [], []
        for i, (value, spec, container) in enumerate(zip(given, self.maker.inputs, self._containers)):
            if value is _MISSING and self._is_required(i):
                raise TypeError(f"Missing required input: {_shown(spec)}")
            if self._per_call[i]:
                values.append(_default(container, spec) if value is _MISSING else value)
            elif value is not _MISSING:
                # Its own array: another update may take it over.
                replaced.append((container.storage, value.copy() if isinstance(value, np.ndarray) else value))
        if not replaced:
            return self._thunk(values, outs)
        with self._state_lock:
            old = [storage[0] for storage, _ in replaced]
            for storage, value in replaced:
                storage[0] = value
            try:
                return self._thunk(values, outs)
            except BaseException:
                for (storage, _), value in zip(replaced, old):
                    storage[0] = value
                raise

    def _chosen(self, values: list[Any], subset: Any) -> Any:
        if not isinstance(subset, (list, tuple)):
            raise RuntimeError("Output_subset is not a list")
        if self._form == "dict":
            return {self._keys[i] if isinstance(i, int) else i: values[i if isinstance(i, int) else self._keys.index(i)] for i in subset}
        return [values[i] for i in subset]

    # ---- inputs by name

    def _position_of(self, key: Any) -> int:
        if isinstance(key, str):
            if key in self._ambiguous:
                raise TypeError(f"Ambiguous name: {key} - please check the names of the inputs of your function for duplicates.")
            if key in self._names:
                return self._names[key]
        elif isinstance(key, int):
            if 0 <= key < len(self._containers):
                return key
        elif key in self._by_variable:
            return self._by_variable[key]
        raise TypeError(f"Unknown input or state: {key}.{self._known_inputs()}")

    def _known_inputs(self) -> str:
        explicit = [spec for spec in self.maker.inputs if not spec.implicit]
        named = [spec.name for spec in explicit if spec.name is not None]
        if not explicit:
            return " The function is supposed to have no input."
        if len(explicit) == 1 and not named:
            return (" The function has a single input variable which has no name, and thus cannot be assigned through a keyword "
                    "argument (use 'name=...' in a Variable's constructor to give it a name).")
        text = f" The function has {len(named)} named input{'s' if len(named) != 1 else ''} ({', '.join(named)})."
        unnamed = len(explicit) - len(named)
        if unnamed:
            text = (f"{text[:-1]}, and {unnamed} unnamed input{'s' if unnamed != 1 else ''} which thus cannot be accessed through "
                    "keyword argument (use 'name=...' in a variable's constructor to give it a name).")
        return text

    def __getitem__(self, key: Any) -> Any:
        return self._container_of(key).value

    def _container_of(self, key: Any) -> Container:
        try:
            return self._containers[self._position_of(key)]
        except TypeError:
            raise TypeError(f"Unknown input or state: {key}") from None

    def __setitem__(self, key: Any, value: Any) -> None:
        i = self._position_of(key)
        if self._per_call[i] and self._is_required(i):
            raise TypeError(f"the input {_shown(self.maker.inputs[i])} has no default: each call gives its value")
        self._containers[i].value = value

    def __contains__(self, key: Any) -> bool:
        return key in self._names or key in self._by_variable

    # ---- looking inside

    @property
    def counters(self) -> dict[str, int]:
        """What the last call did: generator_copies, scratch_copies, steps, block_steps, tile_steps, allocations, python_calls."""
        return self._thunk.counters

    @property
    def storage_map(self) -> dict[Any, list[Any]]:
        """For each variable of the graph that runs the cell of what is kept between calls: a shared variable's value, a default, a
        constant; cells of all else hold None."""
        cells: dict[Any, list[Any]] = {
            variable: [variable.data if isinstance(variable, _core.Constant) else None] for variable in self.maker.fgraph.variables}
        cells.update(zip(self.maker.fgraph.inputs, (container.storage for container in self._containers)))
        return cells

    @property
    def _check_for_aliased_inputs(self) -> bool:
        """Whether an argument may be overwritten, or kept: then calls copy arguments that share memory with one that is overwritten."""
        return any(spec.mutable or spec.borrow for spec in self.maker.inputs if not spec.shared)

    @property
    def input_storage(self) -> list[Container]:
        """The containers of the inputs: shared ones and those with a default hold a value, the others None."""
        return list(self._containers)

    @property
    def container(self) -> _ByInput:
        """The containers, by an input's variable, name or position."""
        return _ByInput(self, lambda container: container)

    @property
    def value(self) -> _ByInput:
        """What the containers hold, by an input's variable, name or position."""
        return _ByInput(self, lambda container: container.value)

    @property
    def defaults(self) -> list[tuple[bool, bool, Any]]:
        """For each input: whether a call must give it, whether its default comes back after a call, and the default."""
        return [(self._is_required(i), self._per_call[i] and not self._is_required(i), container.storage[0])
                for i, container in enumerate(self._containers)]

    @property
    def outputs(self) -> list[Any]:
        """The output variables of the graph that runs, updates left out."""
        return self.maker.fgraph.outputs[:len(self.maker.outputs)]

    @property
    def unpack_single(self) -> bool:
        """Whether a call gives one value rather than a list."""
        return self.maker.unpack_single

    @property
    def output_keys(self) -> list[str] | None:
        """The keys of the dict that a call gives, or None."""
        return self.maker.output_keys

    @property
    def output_storage(self) -> list[Any]:
        """Empty containers, one an output: values are handed over, not kept."""
        return [Container(variable, [None]) for variable in self.outputs]

    def get_shared(self) -> list[Any]:
        """The shared variables that the function reads or updates, in the order of its inputs."""
        return [spec.variable for spec in self.maker.inputs if spec.shared]

    def free(self) -> None:
        """Does nothing: no value is kept between calls but those of shared variables and defaults."""

    def sync_shared(self) -> None:
        """Does nothing: a call has stored its updates when it returns."""

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self.name!r}>"

    # ---- copies and pickles

    def copy(self, share_memory: bool = False, swap: dict[Any, Any] | None = None, delete_updates: bool = False,
             name: str | None = None, profile: Any = None) -> Function:
        """A function of the same expressions, with its own defaults and the same shared variables; `profile` as for `function`.

        An input that is updated begins with its default again. `swap` maps shared variables to others that take their place
        (same type, else TypeError); `delete_updates` leaves the updates out. `share_memory` is accepted for programs that give
        it: functions keep no memory that could be shared.
        """
        swap = dict(swap or {})
        for shared in (*swap.keys(), *swap.values()):
            if not isinstance(shared, SharedVariable):
                raise TypeError(f"swap maps shared variables to shared variables, and {shared} is none")
        replaced = {old.container: (old, new) for old, new in swap.items()}
        specs, containers = [], []
        for i, (spec, container) in enumerate(zip(self.maker.inputs, self._containers)):
            update = None if delete_updates else spec.update
            variable, new_container = spec.variable, container
            if spec.shared and container in replaced:
                old, new = replaced.pop(container)
                if new.type != variable.type:
                    raise TypeError(f"swap replaces {old} of type {old.type} by {new} of type {new.type}; the types must be equal")
                new_container = new.container
            elif not spec.shared and not spec.implicit:
                from copy import copy
                own = container.value if spec.update is None else spec.value
                own = own.value if isinstance(own, Container) else own
                new_container = _new_container(spec, copy(own) if spec.mutable else own)
            mutable = spec.mutable and (update is not None or not spec.shared)
            value = None if self._is_required(i) else new_container if spec.shared else new_container.storage[0]
            specs.append(In(variable, spec.name, value, update, mutable, spec.strict, spec.allow_downcast, False, spec.implicit,
                            spec.borrow, spec.shared))
            containers.append(new_container)
        if replaced:
            raise ValueError(f"swap names shared variables that the function does not use: {[old for old, _ in replaced.values()]}")
        label = name if name is not None else (f"{self.name} copy" if self.name else None)
        made = FunctionMaker(specs, self.maker.outputs, self.maker.mode, True, on_unused_input="ignore", name=label, form=self.maker.form,
                             profile=profile)
        by_container = {new.container: new for new in swap.values()}
        for spec in made.inputs:
            if spec.shared and spec.value in by_container:
                spec.variable = by_container[spec.value]
        copied = made.create(containers)
        copied.trust_input = self.trust_input
        return copied

    def __copy__(self) -> Function:
        return self.copy(name=self.name)

    def __reduce__(self) -> Any:
        """Flat: one FunctionGraph as it was before rewriting, and a row of plain values for each input and output."""
        specs = self.maker.inputs
        updated = [i for i, spec in enumerate(specs) if spec.update is not None]
        expressions = [out.variable for out in self.maker.outputs] + [specs[i].update for i in updated]
        source = _core.FunctionGraph([spec.variable for spec in specs], expressions, clone=False)
        rows = [(spec.name, spec.mutable, spec.strict, spec.allow_downcast, spec.implicit, spec.borrow, spec.shared, container)
                for spec, container in zip(specs, self._containers)]
        state = {
            "fgraph": source, "inputs": rows, "outputs": [out.borrow for out in self.maker.outputs], "updated": updated,
            "mode": self.maker.mode, "form": self.maker.form, "name": self.name, "trust_input": self.trust_input,
            "accept_inplace": self.maker.accept_inplace,
        }
        return rebuild_function, (state,)


class ProfiledFunction(Function):
    """A function that counts and times its calls in `profile`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        result = super().__call__(*args, **kwargs)
        self.profile.add_call(start)
        return result


class _Machine:
    """What `f.vm` shows: the attributes of the program (`listing()`, `counters`), and the cells of variables."""

    def __init__(self, fn: Function, thunk: Any) -> None:
        self._fn, self._thunk = weakref.ref(fn), thunk

    @property
    def storage_map(self) -> dict[Any, list[Any]]:
        """`Function.storage_map`; ReferenceError when the function is gone."""
        fn = self._fn()
        if fn is None:
            raise ReferenceError("the function that this belonged to is gone")
        return fn.storage_map

    def __getattr__(self, name: str) -> Any:
        return getattr(self._thunk, name)

    def __call__(self, *args: Any) -> Any:
        return self._thunk(*args)


class _ByInput:
    """What `f.container[...]` and `f.value[...]` index."""

    def __init__(self, fn: Function, read: Any) -> None:
        self._fn, self._read = fn, read

    def __getitem__(self, key: Any) -> Any:
        return self._read(self._fn._container_of(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._fn._container_of(key).value = value

    def __contains__(self, key: Any) -> bool:
        return key in self._fn

    def __len__(self) -> int:
        return len(self._fn._containers)


def rebuild_function(state: dict[str, Any]) -> Function:
    """Compile a function again from what pickling keeps of it: see `Function.__reduce__`."""
    source, updated = state["fgraph"], state["updated"]
    n_outputs = len(state["outputs"])
    updates = {i: source.outputs[n_outputs + k] for k, i in enumerate(updated)}
    specs = []
    for i, (name, mutable, strict, allow_downcast, implicit, borrow, shared, container) in enumerate(state["inputs"]):
        value = container if shared else container.storage[0]
        spec = In(source.inputs[i], name, value, updates.get(i), mutable, strict, allow_downcast, False, implicit, borrow, shared)
        specs.append(spec)
    outs = [SymbolicOutput(variable, borrow) for variable, borrow in zip(source.outputs, state["outputs"])]
    made = FunctionMaker(specs, outs, state["mode"], state["accept_inplace"], on_unused_input="ignore", name=state["name"], form=state["form"])
    fn = made.create([row[-1] for row in state["inputs"]])
    fn.trust_input = state["trust_input"]
    return fn


def _shown(spec: SymbolicInput) -> str:
    return spec.name if spec.name is not None else str(spec.variable)


def _made_where(variable: Any) -> str:
    origin = getattr(variable, "origin", None)
    return f'  File "{origin[0]}", line {origin[1]}' if origin else "  (not known)"

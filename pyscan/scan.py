"""scan: writes a loop over symbolic graphs as one node; and its shorthands map, reduce, foldl, foldr, scan_checkpoints.

`scan` calls the user's `fn` once, on variables that stand for one step, and makes a Scan Op of what it returns:
scan_arguments.py reads the arguments, scan_step.py what `fn` returned and used, and here the node is put together.

Relies on: scan_arguments, scan_step, scan_op, updates, sharedvalue, tensor. Relied on by: users.
"""
from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from pyscan._core import Constant, SharedVariable, Variable
from pyscan.config import config
from pyscan.errors import about
from pyscan.graph import clone_replace
from pyscan.records import Record
from pyscan.scan_arguments import (
    SequenceTap,
    State,
    about_steps,
    as_list,
    expand,
    fixed_steps,
    make_state,
    number_of_steps,
    read_outputs_info,
    read_sequences,
    sequence_taps,
)
from pyscan.scan_guard import Draw, next_number, repeated_draws, warn_of
from pyscan.scan_op import Scan, ScanInfo
from pyscan.scan_step import StepResult, check_generators, check_states, closures, read_result, shared_use, until, widen
from pyscan.sharedvalue import collect_new_shareds
from pyscan.tensor.basic import as_tensor_variable, cast, join, ones, switch, zeros
from pyscan.tensor.math import ceil, eq
from pyscan.tensor.random_types import RandomType, generator_given
from pyscan.tensor.shape import shape_padleft, unbroadcast
from pyscan.tensor.subtensor import set_subtensor
from pyscan.tensor.type import TensorType
from pyscan.trial_values import compute_test_values
from pyscan.updates import OrderedUpdates

__all__ = ["foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]


# The node


class _Loop(Record):
    """All that goes into the node, in the order of its lists."""

    sequences: list[SequenceTap]
    states: list[State]  # mit-sot, then sit-sot, then carried generators
    result: StepResult
    n_steps: Any
    paths: list[int] = list  # positions of the outputs that are not fed back
    hidden: list[SharedVariable] = list  # tensors with an update: sit-sots that the user does not see
    carried: list[SharedVariable] = list  # generators with an update
    fixed: list[Variable] = list  # non-sequences
    repeated: list[Draw] = list  # random variables that give the same number in every step

    @property
    def tensors(self):
        return [state for state in self.states if not state.is_generator]

    @property
    def generators(self):
        return [state for state in self.states if state.is_generator]

    def results(self, states):
        return [self.result.outputs[state.position] for state in states]

    def find_inputs(self, given, local, strict, first):
        """Finds what a step uses: fills `hidden`, `carried`, `fixed` and `repeated`; returns the updates of the shared variables that
        the loop carries. `given` are the non-sequences, `local` the shared variables that `fn` made; the variables that it made have
        numbers from `first` on."""
        computed = self.result.outputs + ([] if self.result.condition is None else [self.result.condition])
        known = {tap.inner for tap in self.sequences} | {variable for state in self.states for variable in state.inner}
        fixed = list(dict.fromkeys(v for v in given if not isinstance(v, (SharedVariable, Constant))))
        fixed += closures(computed, known.union(fixed))
        use = shared_use(computed, self.result.updates, known.union(fixed), local)
        fixed += closures(list(use.copies.values()), known.union(fixed))
        handed_on = {state.inner[0]: self.result.outputs[state.position] for state in self.generators}
        handed_on.update((shared, value) for shared, value in use.updates.items() if isinstance(shared.type, RandomType))
        self.repeated = repeated_draws(handed_on, [*computed, *use.updates.values()], known.union(given), first)
        for shared in use.updates:
            # The update belongs to what scan returns: left on the variable, it would bring variables of the step into a function.
            if shared in local and shared.default_update is not None:
                shared.default_update = None
            (self.hidden if isinstance(shared.type, TensorType) else self.carried).append(shared)
        self.fixed = [s for s in use.shared if s not in use.updates and (not strict or s in given)] + fixed
        return use.copies

    def inner_outputs(self, updates):
        """What a step computes, in the order of the Scan's inner outputs."""
        hidden = [as_tensor_variable(updates[shared]) for shared in self.hidden]
        condition = [] if self.result.condition is None else [self.result.condition]
        return [
            *self.results(self.tensors), *hidden, *(self.result.outputs[i] for i in self.paths),
            *self.results(self.generators), *(updates[shared] for shared in self.carried), *condition,
        ]  # fmt: skip

    def info(self) -> ScanInfo:
        past = [tuple(state.taps) for state in self.tensors if not state.is_single]
        n_single = sum(state.is_single for state in self.tensors) + len(self.hidden)
        return ScanInfo(
            n_seqs=len(self.sequences),
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=tuple(past),
            sit_sot_in_slices=((-1,),) * n_single,
            n_nit_sot=len(self.paths),
            n_shared_outs=len(self.generators) + len(self.carried),
            n_non_seqs=len(self.fixed),
            as_while=self.result.condition is not None,
        )

    def outer_inputs(self):
        """The node's inputs, in order."""
        return [
            self.n_steps,
            *(sequence.outer for sequence in self.sequences),
            *(state.buffer for state in self.tensors),
            *(expand(unbroadcast(shape_padleft(shared), 0), self.n_steps) for shared in self.hidden),
            *(state.buffer for state in self.generators),
            *self.carried,
            *[self.n_steps] * len(self.paths),
            *self.fixed,
        ]

    def op(self, updates, **options) -> Scan:
        """The Scan Op. Shared variables and non-sequences get inner stand-ins."""
        outputs = self.inner_outputs(updates)
        n_tensors = len(self.tensors)
        outputs = widen(self.tensors, outputs, lambda made: made[:n_tensors], options["name"] or "scan_fn")
        stand_ins = {variable: variable.type() for variable in (*self.hidden, *self.carried, *self.fixed)}
        inputs = [
            *(sequence.inner for sequence in self.sequences),
            *(variable for state in self.tensors for variable in state.inner),
            *(stand_ins[shared] for shared in self.hidden),
            *(variable for state in self.generators for variable in state.inner),
            *(stand_ins[variable] for variable in (*self.carried, *self.fixed)),
        ]
        return Scan(inputs, clone_replace(outputs, replace=stand_ins), self.info(), **options)

    def collect(self, made):
        """What scan returns, of the node's outputs: the user's outputs in their order, and the updates."""
        made = iter(made)
        outputs: dict[int, Variable] = {}
        for state in self.tensors:
            outputs[state.position] = next(made)[state.offset :]
        # The last row of the whole buffer, the initial one included: a loop of no steps leaves the shared variable as it was.
        hidden = [(shared, next(made)[-1]) for shared in self.hidden]
        for position in self.paths:
            outputs[position] = next(made)
        for state in self.generators:
            outputs[state.position] = next(made)
        updates = OrderedUpdates([(shared, next(made)) for shared in self.carried] + hidden)
        return [outputs[position] for position in sorted(outputs)], updates


def _check_paths(outputs, paths):
    for position in paths:
        output = outputs[position]
        if not isinstance(output.type, TensorType):
            raise AttributeError(
                f"'{type(output.type).__name__}' object has no attribute 'shape': output {position} of `fn` is no tensor, so it has no "
                "path. Carry a generator as a state, outputs_info=[rng], or as an update that `fn` returns, {rng: next_rng}."
            )


def _order_states(states):
    """Mit-sots, sit-sots, generators; each in the user's order."""
    return sorted(states, key=lambda state: (state.is_generator, state.is_single))


def _call(fn, sequences, states, non_sequences, is_one_step):
    """Calls `fn` on the variables (for one step: on the values) and reads what it returned; with the shared variables that it made,
    and the number from which on variables are its own."""
    if is_one_step:
        taps = [sequence.first for sequence in sequences] + [value for state in states for value in state.first]
        taps = [_as_node_input(value) for value in taps]
    else:
        taps = [sequence.inner for sequence in sequences] + [value for state in states for value in state.inner]
    first = next_number()
    with collect_new_shareds() as local:
        returned = _call_step(fn, [*taps, *non_sequences])
    return read_result(returned), set(local), first


def _call_step(fn, args):
    """What `fn` returns; a TypeError of the call itself says what `fn` was given."""
    try:
        return fn(*args)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # not from within `fn`
            given = ", ".join(str(arg) for arg in args) or "none"
            with about(lambda: f"scan calls `fn` with {len(args)} argument(s), taps of sequences, then of states, then non-sequences: {given}."):
                raise
        raise


def _cut_sequences(sequences, n_steps, go_backwards):
    """The taps of the sequences, cut to the number of steps; and that number."""
    taps = [tap for i, (value, taps) in enumerate(read_sequences(sequences)) for tap in sequence_taps(i, value, taps, go_backwards)]
    n_steps = number_of_steps(n_steps, taps)
    for tap in taps:
        outer = as_tensor_variable(tap.outer) if isinstance(n_steps, Variable) else tap.outer
        tap.outer = outer[:n_steps]
    return taps, n_steps


def _match_outputs(outputs_info, outputs):
    """The outputs' infos; all "not fed back" when none were given."""
    if not outputs_info:
        return [(None, None)] * len(outputs)
    if len(outputs_info) != len(outputs):
        raise ValueError(
            "Please provide None as outputs_info for any output that does not feed back into scan (i.e. it behaves like a map) "
            f"outputs_info has {len(outputs_info)} element(s), `fn` returned {len(outputs)} output(s): {', '.join(str(output) for output in outputs)}."
        )
    return outputs_info


def _one_step(result, return_list):
    """What scan returns for one step without a loop: each output with a leading axis of length 1."""
    outputs = [unbroadcast(shape_padleft(o), 0) if isinstance(o.type, TensorType) else o for o in result.outputs]
    return outputs[0] if len(outputs) == 1 and not return_list else outputs, result.updates


def scan(
    fn,
    sequences=None,
    outputs_info=None,
    non_sequences=None,
    n_steps=None,
    truncate_gradient=-1,
    go_backwards=False,
    mode=None,
    name=None,
    profile=False,
    allow_gc=None,
    strict=False,
    return_list=False,
    return_updates=True,
):
    """Builds a loop: calls `fn` once on variables that stand for one step, and returns ``(outputs, updates)``.

    `fn` gets the taps of the sequences, the taps of the states, the non-sequences; it returns outputs, ``(outputs, updates)``
    or either with ``until(condition)`` at the end. Each output has one more leading axis: the steps.

    sequences
        Arrays read along their first axis, or dicts ``{"input": x, "taps": [-1, 0]}``.
    outputs_info
        For each output: None (not fed back), the initial state (shape and dtype of one step), or ``{"initial": v, "taps": [-2,
        -1]}`` with the past values along v's first axis, the oldest first. A generator (a variable, or NumPy's own, which is
        copied) is carried; its output is its last state.
    non_sequences
        What every step gets as it is. Variables that `fn` uses without being given them are found.
    n_steps
        An integer or an integer scalar variable; None: as many as the shortest sequence has rows. With the constant 1 (or -1)
        `fn` is applied without a loop.
    go_backwards
        Reads the sequences from their ends.
    strict
        Whether a shared variable that `fn` uses must be among the non-sequences, or have an update in the loop.
    return_list
        Whether outputs is a list even when it is one.
    return_updates
        False: return the outputs alone.

    `updates` (an OrderedUpdates) goes to `pyscan.function`: without it, generators start each call from the same state.
    Errors are ValueError, TypeError and MissingInputError and name the argument. After Aesara's function of that name.

    >>> import pyscan, pyscan.tensor as at
    >>> x0 = at.dscalar("x0")
    >>> xs, updates = pyscan.scan(lambda x: 0.5 * x, outputs_info=[x0], n_steps=3)
    >>> pyscan.function([x0], xs)(8.0)
    array([4., 2., 1.])
    """
    with config.change_flags(compute_test_value="off"):  # the step is written on variables that have none
        outputs, updates = _scan(
            fn, sequences, outputs_info, non_sequences, n_steps, go_backwards, strict, return_list,
            dict(
                mode=mode, truncate_gradient=truncate_gradient, name=name, profile=profile, strict=strict,
                allow_gc=config.scan__allow_gc if allow_gc is None else allow_gc,
            ),
        )  # fmt: skip
    compute_test_values([*([] if outputs is None else as_list(outputs)), *updates.values()])
    return (outputs, updates) if return_updates else outputs


def _scan(fn, sequences, outputs_info, non_sequences, n_steps, go_backwards, strict, return_list, options):
    infos = read_outputs_info(outputs_info)
    given = [generator_given(v) for v in as_list(non_sequences)]
    given = [v if isinstance(v, Variable) else _as_non_sequence(i, v) for i, v in enumerate(given)]
    is_one_step = fixed_steps(n_steps) in (1, -1)
    taps, n_steps = _cut_sequences(sequences, n_steps, go_backwards)
    states = [make_state(i, initial, back, n_steps) for i, (initial, back) in enumerate(infos) if initial is not None]

    result, local, first = _call(fn, taps, states, given, is_one_step)
    if is_one_step:
        return _one_step(result, return_list)

    if not result.outputs and not result.updates:
        return ([] if return_list else None), OrderedUpdates()
    infos = _match_outputs(infos, result.outputs)
    loop = _Loop(taps, _order_states(states), result, n_steps)
    loop.paths = [i for i, (initial, _) in enumerate(infos) if initial is None]
    check_generators(loop.generators, loop.results(loop.generators))
    _check_paths(result.outputs, loop.paths)
    check_states(loop.tensors, loop.results(loop.tensors), len(taps))
    carried = loop.find_inputs(given, local, strict, first)

    op = loop.op(carried, **options)
    inputs = [_as_node_input(value) for value in loop.outer_inputs()]
    is_count = not isinstance(n_steps, Variable) or (n_steps.type.ndim == 0 and str(n_steps.type.dtype).startswith(("int", "uint")))
    with nullcontext() if is_count else about_steps(n_steps):
        node = op.make_node(*inputs)
    outputs, updates = loop.collect(node.outputs)
    warn_of(loop.repeated, op.name)
    if not return_list and len(outputs) < 2:
        return (outputs[0] if outputs else None), updates
    return outputs, updates


def _as_non_sequence(i, value):
    with about(lambda: f"It is non_sequences[{i}]: give a number, an array or a variable."):
        return as_tensor_variable(value)


def _as_node_input(value):
    return value if isinstance(value, Variable) and not isinstance(value.type, TensorType) else as_tensor_variable(value)


# Shorthands


def _last(output):
    """The last step's value of an output of scan: a carried generator is that already."""
    return output if isinstance(output.type, RandomType) else output[-1]


def map(  # noqa: A001 (Aesara's name)
    fn, sequences, non_sequences=None, truncate_gradient=-1, go_backwards=False, mode=None, name=None
):
    """`scan` of a function of one step's elements alone; returns ``(outputs, updates)``.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dvector("x")
    >>> pyscan.function([x], pyscan.map(lambda a: a + 1, [x])[0])([1.0, 2.0])
    array([2., 3.])
    """
    return scan(
        fn, sequences=sequences, outputs_info=[], non_sequences=non_sequences, truncate_gradient=truncate_gradient,
        go_backwards=go_backwards, mode=mode, name=name,
    )  # fmt: skip


def reduce(fn, sequences, outputs_info, non_sequences=None, go_backwards=False, mode=None, name=None):
    """`scan`, of which the last values alone are returned; returns ``(last values, updates)``.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dvector("x")
    >>> total, _ = pyscan.reduce(lambda a, s: s + a, [x], [at.zeros((), dtype="float64")])
    >>> float(pyscan.function([x], total)([1.0, 2.0, 4.0]))
    7.0
    """
    outputs, updates = scan(
        fn, sequences=sequences, outputs_info=outputs_info, non_sequences=non_sequences, go_backwards=go_backwards, mode=mode, name=name
    )
    if isinstance(outputs, (list, tuple)):
        return [_last(output) for output in outputs], updates
    return _last(outputs), updates


def foldl(fn, sequences, outputs_info, non_sequences=None, mode=None, name=None):
    """`reduce` from the first element to the last."""
    return reduce(fn, sequences, outputs_info, non_sequences=non_sequences, go_backwards=False, mode=mode, name=name)


def foldr(fn, sequences, outputs_info, non_sequences=None, mode=None, name=None):
    """`reduce` from the last element to the first."""
    return reduce(fn, sequences, outputs_info, non_sequences=non_sequences, go_backwards=True, mode=mode, name=name)


def _blocks(sequence, n_steps, n_blocks, block, padding):
    """A sequence's first `n_steps` rows as rows of `block` rows each; the last one filled up with zeros when `padding`."""
    sequence = as_tensor_variable(sequence)[:n_steps]
    rest = [sequence.shape[axis] for axis in range(1, sequence.type.ndim)]
    if padding:
        sequence = join(0, sequence, zeros([n_blocks * block - sequence.shape[0], *rest], dtype=sequence.type.dtype))
    return sequence.reshape([n_blocks, block, *rest], ndim=sequence.type.ndim + 1)


def scan_checkpoints(
    fn, sequences=None, outputs_info=None, non_sequences=None, name="checkpointscan_fn", n_steps=None, save_every_N=10, padding=True
):
    """`scan` in blocks of `save_every_N` steps, of which the last step's values alone are kept: two nested loops.

    `padding` fills up sequences whose length is no multiple of `save_every_N`. Taps are a RuntimeError. After Aesara's function.

    >>> import pyscan, pyscan.tensor as at
    >>> A = at.dvector("A")
    >>> powers, _ = scan_checkpoints(lambda p, A: p * A, outputs_info=[at.ones_like(A)], non_sequences=[A], n_steps=6, save_every_N=2)
    >>> pyscan.function([A], powers)([2.0, 3.0])
    array([[  4.,   9.],
           [ 16.,  81.],
           [ 64., 729.]])
    """
    sequences, infos, fixed = as_list(sequences), as_list(outputs_info), as_list(non_sequences)
    if any(isinstance(value, dict) and "taps" in value for value in sequences + infos):
        raise RuntimeError("scan_checkpoints doesn't work with taps.")
    sequences = [value for value, _ in read_sequences(sequences)]
    if n_steps is None:
        n_steps = number_of_steps(None, [SequenceTap(as_tensor_variable(value), None, None) for value in sequences])
    n_blocks = cast(ceil(n_steps / save_every_N), "int64")
    remainder = n_steps % save_every_N
    lengths = set_subtensor((save_every_N * ones((n_blocks,), dtype="int64"))[-1], switch(eq(remainder, 0), save_every_N, remainder))
    is_state = [initial is not None for initial, _ in read_outputs_info(infos)]
    blocks = [_blocks(value, n_steps, n_blocks, save_every_N, padding) for value in sequences]

    def block(length, *values):
        inner_sequences, values = values[: len(blocks)], values[len(blocks) :]
        states = iter(values[: sum(is_state)])
        outputs, updates = scan(
            fn, sequences=list(inner_sequences), outputs_info=[next(states) if state else None for state in is_state],
            non_sequences=list(values[sum(is_state) :]), n_steps=length, name=name + "_inner", return_list=True,
        )  # fmt: skip
        return [_last(output) for output in outputs], updates

    return scan(
        block, sequences=[lengths, *blocks], outputs_info=infos, non_sequences=fixed, n_steps=n_blocks, name=name + "_outer", allow_gc=True
    )

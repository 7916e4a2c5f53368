"""What scan's `fn` returned, what it used without being given it, and static shapes that it loosens.

Relies on: scan_arguments, scan_op, tensor, updates. Relied on by: scan.
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from pyscan._core import Constant, SharedVariable, Variable
from pyscan.graph import clone, graph_inputs, io_toposort
from pyscan.records import Record
from pyscan.scan_arguments import as_list
from pyscan.scan_op import check_state_result
from pyscan.tensor.basic import as_tensor_variable
from pyscan.tensor.type import TensorType
from pyscan.updates import fitted_update


class until:  # noqa: N801 (users write `until(condition)`)
    """Ends a loop after the step in which the condition, a scalar, is not zero; that step's values are kept.

    >>> import pyscan, pyscan.tensor as at
    >>> xs, _ = pyscan.scan(lambda x: (x * 2, until(x > 4)), outputs_info=[at.constant(1.0, dtype="float64")], n_steps=100)
    >>> pyscan.function([], xs)()
    array([ 2.,  4.,  8., 16.])
    """

    def __init__(self, condition):
        self.condition = as_tensor_variable(condition)
        assert self.condition.type.ndim == 0, (
            f"until takes one truth value a step, a scalar; its condition has {self.condition.type.ndim} dimension(s). "
            "Reduce it first, as in until(at.all(condition)) or until(at.any(condition))."
        )


# What `fn` returned


def _check_leaves(value):
    if isinstance(value, dict):
        for item in value.items():
            _check_leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_leaves(item)
    elif not isinstance(value, (Variable, until)):
        raise ValueError(
            "The return value of your scan lambda expression may only be made of lists, tuples, or dictionaries containing Aesara "
            "variables (or `aesara.scan.utils.until` objects for conditions). In particular if you need to use constant values, "
            f"you can use `tensor.constant` to turn them into Aesara variables. `fn` returned {value!r} in its result."
        )


def _is_outputs(value) -> bool:
    return isinstance(value, Variable) or (isinstance(value, (list, tuple)) and all(isinstance(v, Variable) for v in value))


def _is_updates(value) -> bool:
    if isinstance(value, dict):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value)


class StepResult(Record):
    outputs: list
    updates: dict
    condition: Variable | None = None


def _outputs_or_updates(value):
    """A result without a condition, or None."""
    if _is_outputs(value):
        return StepResult(as_list(value), {})
    return StepResult([], OrderedDict(value)) if _is_updates(value) else None


def read_result(returned) -> StepResult:
    """What `fn` returned: [outputs][, updates][, until(condition)]; ValueError for another form."""
    _check_leaves(returned)
    result = _outputs_or_updates(returned)
    if result is None and isinstance(returned, (list, tuple)) and len(returned) in (2, 3):
        parts = list(returned)
        condition = parts.pop().condition if isinstance(parts[-1], until) else None
        if len(parts) == 1:
            result = _outputs_or_updates(parts[0])
        elif len(parts) == 2 and _is_outputs(parts[0]) and _is_updates(parts[1]):
            result = StepResult(as_list(parts[0]), OrderedDict(parts[1]))
        elif len(parts) == len(returned) == 2 and _is_updates(parts[0]) and _is_outputs(parts[1]):
            raise ValueError(
                "The return value of the lambda function has been restricted. you have to always return first the outputs (if any), "
                "afterwards the updates (if any) and at the end the conclusion"
            )
        if result is not None:
            result.condition = condition
    if result is None:
        raise ValueError(f"Scan cannot parse the return value of your lambda expression, which is: {returned}")
    return result


# What `fn` used without being given it


def closures(roots, given):
    """The free variables (not shared) that the roots use beyond the given ones, in the order of a walk from the last root."""
    found = (v for v in graph_inputs(roots, given) if not isinstance(v, (SharedVariable, Constant)))
    return [v for v in dict.fromkeys(found) if v not in given]


class _SharedUse(Record):
    """The shared variables that a step reads or updates, in the order of a depth-first walk; and the updates of those that
    the loop carries, as `fn` wrote them and as copies for the loop."""

    stops: set
    shared: list[SharedVariable] = list
    updates: dict[SharedVariable, Variable] = dict
    copies: dict[SharedVariable, Variable] = dict
    _seen: set = set

    def walk(self, roots, on_new: Callable[[SharedVariable], None]):
        pending = list(reversed(roots))
        while pending:
            variable = pending.pop()
            if variable in self.stops:
                continue
            if variable.owner is not None:
                if variable.owner not in self._seen:
                    self._seen.add(variable.owner)
                    pending.extend(reversed(variable.owner.inputs))
            elif isinstance(variable, SharedVariable) and variable not in self._seen:
                self._seen.add(variable)
                self.shared.append(variable)
                on_new(variable)


def shared_use(outputs, updates, given, local) -> _SharedUse:
    """Carried are the shared variables that `fn` returned updates for, and the `local` ones (made in `fn`) with a default update."""
    use = _SharedUse(set(given))
    pending = []

    def carry(shared, value):
        value = use.updates[shared] = fitted_update(shared, value)
        pending.append((shared, value))

    def on_new(shared):
        if shared in local and shared.default_update is not None and shared not in use.updates:
            carry(shared, shared.default_update)

    for shared, value in updates.items():
        carry(shared, value)
    use.walk(outputs, on_new)
    for shared, value in pending:  # grows while it is walked
        use.walk([value], on_new)
        use.walk([shared], lambda _: None)
    # Apart from the outputs, as in Aesara: a draw and its next state are two nodes until the graph is rewritten.
    # What the step is given is not copied, even where it is computed outside.
    _, copies = clone(list(given), list(use.updates.values()), copy_inputs=False)
    use.copies = dict(zip(use.updates, copies))
    return use


# Static shapes that the step loosens


def _looser_type(state, result, name):
    """The type that all steps' values of the state have, or None when that is the type it has. TypeError when there is none."""
    have, got = state.inner[0].type, result.type
    shape = []
    for ours, theirs in zip(have.shape, got.shape):
        if None not in (ours, theirs) and ours != theirs:
            raise TypeError(
                f"Inconsistency in the inner graph of scan '{name}' : an input and an output are associated with the same recurrent "
                f"state and should have compatible types but have type '{have}' and '{got}' respectively. The state is {state.label()}."
            )
        shape.append(ours if ours == theirs else (None if theirs is None else ours))
    return None if tuple(shape) == tuple(have.shape) else TensorType(have.dtype, shape)


def _remake(outputs, replacements):
    """The outputs over other inputs, each node made anew for the types that come to it."""
    made = dict(replacements)
    for node in io_toposort(list(replacements), outputs):
        if any(variable in made for variable in node.inputs):
            new = node.clone_with_new_inputs([made.get(variable, variable) for variable in node.inputs], strict=False)
            made.update(zip(node.outputs, new.outputs))
    return [made.get(output, output) for output in outputs]


def widen(states, outputs, results_of, name):
    """Replaces the states' inner variables, and the outputs (all that the step computes), until no step returns less static
    knowledge of a state's shape than the state has. `results_of(outputs)` picks the states' results."""
    while True:
        looser = [_looser_type(state, result, name) for state, result in zip(states, results_of(outputs))]
        if not any(looser):
            return outputs
        replacements = {}
        for state, wider in zip(states, looser):
            if wider is not None:
                inner = [wider(variable.name) for variable in state.inner]
                replacements.update(zip(state.inner, inner))
                state.inner = inner
        outputs = _remake(outputs, replacements)


def check_states(states, results, n_before):
    """ValueError when a step returns a state with another dtype or rank, in the user's words."""
    for number, (state, result) in enumerate(zip(states, results), n_before):
        step, got = state.inner[0].type, result.type
        whose = (
            f" The state is {state.label()}: a step of it has dtype {step.dtype} and {step.ndim} dimension(s), while output "
            f"{state.position} of `fn` has dtype {got.dtype} and {got.ndim} dimension(s)."
        )
        check_state_result(as_tensor_variable(state.buffer), number, result, whose)


def check_generators(states, results):
    """TypeError when a step hands on something else for a carried generator than a generator of its class."""
    for state, result in zip(states, results):
        if result.type != state.inner[0].type:
            raise TypeError(
                f"The state {state.label()} is a generator ({state.inner[0].type}), but output {state.position} of `fn`, which is its next "
                f"state, has type {result.type}. Return the next state in that place: draw.owner.outputs[0] of the step's last draw from it."
            )

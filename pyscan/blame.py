"""Which of the user's variables a failing node computes with, for the message of its error.

In a step the inputs are numbered stand-ins, and rewriting replaces what the user wrote: a node rarely has the user's names on its own
inputs. They are found by walking backwards: within the step to its stand-ins, from these to the loop's arguments, and on to the names.

Relies on: _core. Relied on by: the core (`computed_from`, when a call fails).
"""
from __future__ import annotations

from collections import deque
from typing import Any

from pyscan._core import Apply, Constant, NominalVariable, SharedVariable, Variable

MOST = 8  # names in one message
_WRITES = ("IncSubtensor", "AdvancedIncSubtensor")


def computed_from(node: Apply, nodes: list[Apply]) -> str:
    """The nearest of the user's variables among the ancestors of `node`, with the part each plays in its loop: a text, "" when there
    are none but those that the node's own text shows. `nodes` are those of the program, a loop before the nodes of its step.

    >>> import pyscan.tensor as at
    >>> x = at.dvector("x")
    >>> failing = at.nlinalg.matrix_inverse(at.outer(x + 1, x + 1)).owner
    >>> computed_from(failing, [failing])
    'x'
    """
    shown = {variable.name for variable in node.inputs if not isinstance(variable, NominalVariable)}
    found: dict[str, None] = {}
    loop = _loop_of(node, nodes)
    waiting = deque((variable, loop, "") for variable in node.inputs)
    seen = set()
    while waiting and len(found) < MOST:
        variable, loop, part = waiting.popleft()
        if (variable, loop, part) in seen:
            continue
        seen.add((variable, loop, part))
        if isinstance(variable, NominalVariable):
            if loop is not None:
                waiting.extend((outer, _loop_of(loop, nodes), part or role) for outer, role in _outer(variable, loop))
        elif variable.name is not None and not isinstance(variable, Constant):
            if part or variable.name not in shown:
                found[f"{variable.name}{part}"] = None
        elif variable.owner is not None:
            waiting.extend((parent, loop, part) for parent in variable.owner.inputs)
        elif not isinstance(variable, Constant):
            found[f"{_unnamed(variable)}{part}"] = None
    return ", ".join(found)


def _unnamed(variable: Variable) -> str:
    kind = "a shared variable" if isinstance(variable, SharedVariable) else "a variable"
    made = f" (made in file {variable.origin[0]}, line {variable.origin[1]})" if variable.origin else ""
    return f"{kind} without name of type {variable.type}{made}"


def _graphs(loop: Apply) -> list[Any]:
    return [graph for graph in (getattr(loop.op, "compiled_fgraph", None), getattr(loop.op, "fgraph", None)) if graph is not None]


def _loop_of(node: Apply, nodes: list[Apply]) -> Apply | None:
    """The loop in whose step the node is; None at the top."""
    return next((loop for loop in nodes if any(node in graph.apply_nodes for graph in _graphs(loop))), None)


def _outer(variable: NominalVariable, loop: Apply) -> list[tuple[Variable, str]]:
    """What a stand-in of a loop's step stands for: the variables that the loop was given, and the part that they play."""
    op, info = loop.op, getattr(loop.op, "info", None)
    if info is None:  # another Op with a graph within: its inputs in their order
        return [(outer, "") for outer, inner in zip(loop.inputs, _graphs(loop)[0].inputs) if inner is variable]
    past = [*op.outer_mitmot(loop.inputs), *op.outer_mitsot(loop.inputs)]
    taps = [*info.mit_mot_in_slices, *info.mit_sot_in_slices]
    states = [outer for outer, back in zip(past, taps) for _ in back] + [*op.outer_sitsot(loop.inputs)]
    outers = [*op.outer_seqs(loop.inputs), *states, *op.outer_shared(loop.inputs), *op.outer_non_seqs(loop.inputs)]
    first, last = info.n_seqs, info.n_seqs + len(states)
    pairs = []
    for i, (outer, inner) in enumerate(zip(outers, _graphs(loop)[0].inputs)):
        if inner is variable:
            if i < first:
                pairs.append((_read(outer), " (a sequence)"))
            elif i < last:
                pairs.append((_initial(outer), " (the initial value of a state)"))
            else:
                pairs.append((outer, ""))
    return pairs


def _read(sequence: Variable) -> Variable:
    """The array of which a sequence is a part: the number of steps that cuts it is another argument."""
    while sequence.owner is not None and type(sequence.owner.op).__name__ == "Subtensor":
        whole = sequence.owner.inputs[0]
        if sequence.name is not None and not (whole.name and sequence.name.startswith(f"{whole.name}[")):
            break  # the user's own name
        sequence = whole
    return sequence


def _initial(buffer: Variable) -> Variable:
    """What is written to the first rows of a state's buffer."""
    while buffer.name is None and buffer.owner is not None and type(buffer.owner.op).__name__ in _WRITES:
        buffer = buffer.owner.inputs[1]
    return buffer

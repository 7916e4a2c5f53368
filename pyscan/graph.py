"""Graphs: variables, nodes, Ops, types, `FunctionGraph`, and the walks over them, under Aesara's names.

The types and the walks are made in the core (csrc/graph); here stand the few helpers that need no speed.

    >>> from pyscan.graph import FunctionGraph, graph_inputs
    >>> import pyscan.tensor as at
    >>> x, y = at.dscalars("x", "y")
    >>> list(graph_inputs([x + 2 * y]))
    [x, TensorConstant{2}, y]
    >>> len(FunctionGraph([x, y], [x + 2 * y]).toposort())
    2

Relies on: _core. Relied on by: every layer above.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyscan._core import (
    Apply,
    AtomicVariable,
    Constant,
    FunctionGraph,
    InconsistencyError,
    MethodNotDefined,
    MissingInputError,
    NominalVariable,
    NoParams,
    Op,
    Scratchpad,
    SharedVariable,
    Type,
    Variable,
    ancestors,
    applys_between,
    as_string,
    clone,
    clone_get_equiv,
    equal_computations,
    graph_inputs,
    io_toposort,
    is_in_ancestors,
    orphans_between,
    output_of,
    rebuild_function_graph,
    rebuild_node,
    vars_between,
)

from pyscan.errors import TestValueError


class _HasInnerGraphMeta(type):
    """isinstance by what an Op has, so that any Op with an inner graph counts."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is HasInnerGraph and isinstance(instance, Op) and hasattr(type(instance), "inner_outputs")
        )


class HasInnerGraph(metaclass=_HasInnerGraphMeta):
    """A mixin for Ops with a graph of their own: `fgraph`, `inner_inputs`, `inner_outputs`, `fn` and `clone()`."""


def walk(
    nodes: Iterable, expand: Callable[[Any], Iterable | None], bfs: bool = True, return_children: bool = False,
    hash_fn: Callable[[Any], int] = id,
) -> Iterator:
    """Walk through a graph that `expand` unfolds, each node once.

    Parameters
    ----------
    nodes : iterable
        Where to begin.
    expand : callable
        Gives the nodes next to a node, or None.
    bfs : bool
        Breadth first; otherwise depth first, the last node first.
    return_children : bool
        Yield pairs of a node and what `expand` gave.
    hash_fn : callable
        Nodes with equal hashes are the same.
    """
    queue = deque(nodes)
    take = queue.popleft if bfs else queue.pop
    seen = set()
    while queue:
        node = take()
        key = hash_fn(node)
        if key in seen:
            continue
        seen.add(key)
        children = expand(node)
        yield (node, children) if return_children else node
        if children:
            queue.extend(children)


def clone_replace(output, replace=None, *, rebuild_strict=True, copy_inputs_over=True, **unused):
    """A copy of the graph above `output` in which some variables stand for others.

    Parameters
    ----------
    output : Variable or list of Variables
    replace : dict or pairs, old variable -> new one
        A new one may depend on old ones; these are not replaced in it.
    rebuild_strict : bool
        Fit new inputs to the old ones' types; otherwise make nodes anew for new types.
    copy_inputs_over : bool
        Keep the leaves; otherwise they are copied too (a copy of a shared variable shares its value).

    Returns
    -------
    Variable or list of Variables, as `output`

    Raises
    ------
    ValueError
        When `replace` is of none of these forms.
    TypeError
        When a new variable does not fit.
    """
    if replace is None:
        pairs = []
    elif isinstance(replace, dict):
        pairs = list(replace.items())
    elif isinstance(replace, (list, tuple)):
        pairs = list(replace)
    else:
        raise ValueError(
            f"replace is neither a dictionary, list, tuple or None ! The value provided is {replace},of type {type(replace)}"
        )
    outputs = [output] if isinstance(output, Variable) else list(output)
    olds = [old for old, _ in pairs]
    news = [new if isinstance(new, Variable) else old.type.filter_variable(new) for old, new in pairs]
    copies = clone_get_equiv([], news, copy_inputs=False, copy_orphans=not copy_inputs_over)
    memo: dict = {}
    for old, new in zip(olds, news):
        memo.setdefault(old, copies[new])
    equiv = clone_get_equiv(olds, outputs, copy_inputs=False, copy_orphans=not copy_inputs_over, memo=memo, strict=rebuild_strict)
    results = [equiv[variable] for variable in outputs]
    return results[0] if isinstance(output, Variable) else results


def list_of_nodes(inputs, outputs) -> list[Apply]:
    """The nodes between inputs and outputs, breadth first from the outputs."""
    stops = {variable.owner for variable in inputs}

    def expand(node):
        return [i.owner for i in node.inputs if i.owner is not None and i.owner not in stops]

    return list(walk([o.owner for o in outputs if o.owner is not None], expand))


def view_roots(node: Variable) -> list[Variable]:
    """The variables whose memory a variable may show, found through the Ops' view maps."""
    roots, todo = [], [node]
    while todo:
        variable = todo.pop()
        owner = variable.owner
        viewed = getattr(owner.op, "view_map", {}).get(variable.index) if owner is not None else None
        if viewed:
            todo.extend(owner.inputs[i] for i in reversed(viewed))
        else:
            roots.append(variable)
    return roots


def get_var_by_name(graphs: Iterable[Variable], target_var_id: str, ids: str = "CHAR") -> tuple[Variable, ...]:
    """The variables above the graphs, inner graphs included, whose name or auto_name it is."""

    def expand(variable):
        if variable.owner is None:
            return None
        return [*variable.owner.inputs, *getattr(variable.owner.op, "inner_outputs", ())]

    return tuple(v for v in walk(graphs, expand, bfs=False) if target_var_id in (v.name, v.auto_name))


def replace_nominals_with_dummies(inputs, outputs):
    """The graph with plain variables in the place of nominal inputs, so that it can be given nominal ones anew."""
    dummies = {i: i.type() for i in inputs if isinstance(i, NominalVariable)}
    if not dummies:
        return inputs, outputs
    clone_get_equiv(inputs, outputs, copy_inputs=False, copy_orphans=False, memo=dummies)
    return [dummies[i] for i in inputs], [dummies[o] for o in outputs]


def op_as_string(i, op, leaf_formatter=str, node_formatter=None) -> str:
    """The text of a node whose inputs are described down to the variables `i`."""
    node_formatter = node_formatter or default_node_formatter
    return node_formatter(op, as_string(i, op.inputs, leaf_formatter, node_formatter))


default_leaf_formatter = str


def default_node_formatter(op, argstrings) -> str:
    """`Op(a, b)` for a node and the texts of its inputs."""
    return f"{op.op}({', '.join(argstrings)})"


def get_test_value(v: Any) -> Any:
    """The value of a constant or shared variable, or what stands at another variable's ``tag.test_value``.

    TestValueError where there is none. Anything else than a variable is made one first. An expression has a test value when it
    was given one, or was written while `config.compute_test_value` was on.

    >>> import pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> x.tag.test_value = 3.0
    >>> float(get_test_value(x)), int(get_test_value(2))
    (3.0, 2)
    """
    if not isinstance(v, Variable):
        from pyscan.tensor.basic import as_tensor_variable
        v = as_tensor_variable(v)
    if isinstance(v, Constant):
        return v.data
    if isinstance(v, SharedVariable):
        return v.get_value(borrow=True, return_internal_type=True)
    try:
        return v.tag.test_value
    except AttributeError:
        raise TestValueError(f"{v} has no test value") from None


__all__ = [
    "Apply", "AtomicVariable", "Constant", "FunctionGraph", "HasInnerGraph", "InconsistencyError", "MethodNotDefined", "MissingInputError",
    "NoParams", "NominalVariable", "Op", "Scratchpad", "SharedVariable", "Type", "Variable", "ancestors", "applys_between", "as_string",
    "clone", "clone_get_equiv", "clone_replace", "default_leaf_formatter", "default_node_formatter", "equal_computations", "get_test_value",
    "get_var_by_name", "graph_inputs", "io_toposort", "is_in_ancestors", "list_of_nodes", "op_as_string", "orphans_between", "output_of",
    "rebuild_function_graph", "rebuild_node", "replace_nominals_with_dummies", "vars_between", "view_roots", "walk",
]

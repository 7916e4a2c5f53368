"""Elementwise results are written into arrays that the caller gave to be overwritten, `In(v, mutable=True)`.

Before, and after where nothing else reads `v` later:

    Elemwise{mul,no_inplace}                    IncSubtensor{InplaceSet;::}
     |Elemwise{exp,no_inplace}                   |v
     | |v                                        |Elemwise{mul,no_inplace}
     |2                                            ...

The other operands must be single numbers, so that the result is as long as `v` whatever comes. As all edits that overwrite, this one is
proposed to the graph's features, which may refuse it.

Relies on: `_core`, tensor.elemwise, tensor.subtensor. Relied on by: maker.
"""
from __future__ import annotations

from typing import Any

from pyscan import _core
from pyscan.errors import InconsistencyError

__all__ = ["overwrite_inputs"]


def overwrite_inputs(fgraph: Any, variables: list[Any]) -> None:
    """Let each of `variables`, inputs of the graph that may be destroyed, take one result that is computed from it element by element."""
    if not hasattr(fgraph, "destroyers"):
        fgraph.attach_feature(_core.DestroyHandler())
    for variable in variables:
        if not fgraph.has_destroyers([variable]):
            any(_take(fgraph, variable, node) for node in _elementwise_clients(fgraph, variable, variable))


def _elementwise_clients(fgraph: Any, source: Any, variable: Any) -> list[Any]:
    """The nodes that make of `source` and numbers a result of the type of `variable`."""
    from pyscan.tensor.elemwise import Elemwise

    return [node for node, _ in fgraph.get_clients(source) if node != "output" and isinstance(node.op, Elemwise)
            and node.outputs[0].type == variable.type and all(x is source or all(x.type.broadcastable) for x in node.inputs)]


def _take(fgraph: Any, variable: Any, node: Any) -> bool:
    """Put the last result of the chain that begins with `node` into `variable`, or an earlier one; whether any could be put there."""
    from pyscan.tensor.subtensor import set_subtensor

    chain = [node]
    while len(fgraph.get_clients(chain[-1].outputs[0])) == 1:
        following = _elementwise_clients(fgraph, chain[-1].outputs[0], variable)
        if not following:
            break
        chain.append(following[0])
    everything = (slice(None),) * variable.type.ndim
    for link in reversed(chain):
        computed = link.clone_with_new_inputs(link.inputs).outputs[0]
        try:
            fgraph.replace_validate(link.outputs[0], set_subtensor(variable[everything], computed, inplace=True), reason="overwrite_inputs")
        except InconsistencyError:
            continue
        return True
    return False

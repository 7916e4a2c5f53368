"""Operations made of graphs: an `OpFromGraph` is applied like any other Op, and compiled as if its graph had been written in its place.

Relies on: the graph types of `_core`, scan_op (the inner graph), ops. Relied on by: maker, which puts the graph in its place.
"""
from __future__ import annotations

import warnings
from typing import Any, Sequence

from pyscan import _core
from pyscan._core import Apply, Constant, FunctionGraph, Op, SharedVariable, Variable
from pyscan.errors import PyscanWarning
from pyscan.graph import clone_replace
from pyscan.ops import update_placeholder
from pyscan.scan_op import nominal_graph
from pyscan.tensor.random_types import RandomType

__all__ = ["OpFromGraph", "inline_graphs"]

# Arguments that say how to differentiate, or how to compile what pyscan puts in its place: accepted, and not needed.
_ACCEPTED = {"lop_overrides", "grad_overrides", "rop_overrides", "connection_pattern", "mode", "strict", "on_unused_input", "destroy_map"}


class OpFromGraph(Op):
    """An Op that computes `outputs` of `inputs`.

    Parameters
    ----------
    inputs : list of Variables
        What stands for the Op's inputs: no constants.
    outputs : list of Variables
        Expressions of these. Shared variables in them are found, and become further inputs of each node. A default update of
        theirs that uses one of `inputs` is left out; for a generator a PyscanWarning tells of it.
    inline : bool
        Shown in the Op's text. Either way the graph takes the Op's place in a function, and costs nothing.
    name : str
        Shown in the Op's text.

    TypeError for inputs and outputs of another kind, and for an input given twice; MissingInputError when the outputs need a variable that is not given; TypeError for
    other keywords than Aesara's.

    >>> import pyscan, pyscan.tensor as at
    >>> x, y = at.dvectors("x", "y")
    >>> distance = OpFromGraph([x, y], [at.sqrt(((x - y) ** 2).sum())])
    >>> a = at.dvector("a")
    >>> float(pyscan.function([a], distance(a, [0.0, 0.0]))([3.0, 4.0]))
    5.0
    """

    takes_place = True  # maker asks for it

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any], inline: bool = False, *, name: str | None = None, **accepted: Any) -> None:
        unknown = set(accepted) - _ACCEPTED
        if unknown:
            raise TypeError(f"OpFromGraph got unexpected keywords: {', '.join(sorted(unknown))}")
        if not isinstance(inputs, (list, tuple)) or not isinstance(outputs, (list, tuple)):
            raise TypeError("Inputs and outputs of an OpFromGraph must be lists of Variables")
        for variable in (*inputs, *outputs):
            if not isinstance(variable, Variable):
                raise TypeError(f"Inputs and outputs must be Variable instances; got {variable}")
        for variable in inputs:
            if isinstance(variable, Constant):
                raise TypeError(f"Inputs must not be constants; got {variable}")
        self.is_inline, self.name = inline, name
        self.shared_inputs = [v for v in _core.graph_inputs(outputs, inputs) if isinstance(v, SharedVariable) and v not in inputs]
        stand_ins = {variable: variable.type() for variable in (*inputs, *self.shared_inputs)}
        if len(stand_ins) != len(inputs) + len(self.shared_inputs):
            raise TypeError("an input of an OpFromGraph is given twice")
        self.fgraph = nominal_graph(list(stand_ins.values()), clone_replace(list(outputs), replace=stand_ins))
        for shared in self.shared_inputs:
            _leave_out_update(shared, inputs)
        self.input_types, self.output_types = [v.type for v in inputs], [v.type for v in outputs]

    @property
    def inner_inputs(self) -> list[Variable]:
        return self.fgraph.inputs

    @property
    def inner_outputs(self) -> list[Variable]:
        return self.fgraph.outputs

    @property
    def fn(self) -> Any:
        """The inner graph as a function of its inputs."""
        from pyscan.function import function
        plain = [variable.type() for variable in self.inner_inputs]
        return function(plain, clone_replace(list(self.inner_outputs), dict(zip(self.inner_inputs, plain))), on_unused_input="ignore")

    def clone(self) -> OpFromGraph:
        """Itself: its graph is never changed."""
        return self

    def make_node(self, *inputs: Any) -> Apply:
        n = len(self.input_types)
        if len(inputs) not in (n, n + len(self.shared_inputs)):
            raise ValueError(f"Expected at least {n} input(s), got {len(inputs)}")
        # A node that is made anew is given what took the shared variables' places.
        shared = inputs[n:] or self.shared_inputs
        types = [*self.input_types, *(variable.type for variable in self.shared_inputs)]
        given = [type_.filter_variable(value) for type_, value in zip(types, (*inputs[:n], *shared))]
        return Apply(self, given, [type_() for type_ in self.output_types])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        for cell, value in zip(output_storage, self.fn(*inputs)):
            cell[0] = value

    def __str__(self) -> str:
        return f"{type(self).__name__ if self.name is None else self.name}{{inline={self.is_inline}}}"


def _leave_out_update(shared: SharedVariable, inputs: Sequence[Variable]) -> None:
    """Take a shared variable's default update away when it uses what stands for an input: outside, nobody could compute it."""
    if shared.default_update is None or not set(_core.graph_inputs([shared.default_update], inputs)) & set(inputs):
        return
    shared.default_update = update_placeholder(shared)
    if isinstance(shared.type, RandomType):
        warnings.warn(f"the draws from {shared} in an OpFromGraph give the same numbers in every call: their parameters are inputs of the "
                      "Op, so that its generator can't be carried on from outside. Draw outside, or without these parameters and scale the draws.",
                      PyscanWarning, stacklevel=3)


def inline_graphs(fgraph: FunctionGraph) -> int:
    """Put the graphs of all OpFromGraphs in their places, nested ones too; the number of nodes replaced."""
    count = 0
    while True:
        nodes = [node for node in fgraph.apply_nodes if isinstance(node.op, OpFromGraph)]
        if not nodes:
            return count
        for node in nodes:
            if node not in fgraph.apply_nodes:
                continue
            made = clone_replace(list(node.op.inner_outputs), dict(zip(node.op.inner_inputs, node.inputs)))
            fgraph.replace_all(list(zip(node.outputs, made)), reason="inline_graphs", import_missing=False)
            count += 1

"""ifelse: one of two values, by a condition; and the pass that lets a function compute only the branch that is taken.

Relies on: _core, tensor, graph. Relied on by: users; maker, which has the branches delayed.
"""
from __future__ import annotations

import copy

from pyscan._core import Apply, Constant, Op, Variable
from pyscan.graph import clone_replace
from pyscan.tensor.basic import as_tensor_variable, switch
from pyscan.tensor.random_types import generator_given
from pyscan.trial_values import compute_test_values

__all__ = ["IfElse", "ifelse"]


class IfElse(Op):
    """Inputs: the condition, the values when it is not zero, those when it is zero; outputs: the values taken, copied."""

    __props__ = ("n_outs", "name")
    has_branches = True  # maker asks for it

    def __init__(self, n_outs, as_view=False, name=None):
        super().__init__()
        self.n_outs, self.name = n_outs, name  # what is taken is copied: `as_view` is accepted alone

    def __str__(self):
        return f"if{{{self.name or ''}}}"

    __repr__ = __str__

    def make_node(self, condition, *values):
        condition = as_tensor_variable(condition)
        if condition.type.ndim != 0:
            raise TypeError(f"The condition argument must be a truthy scalar value; {condition} has {condition.type.ndim} dimension(s).")
        if len(values) != 2 * self.n_outs:
            raise ValueError(f"Wrong number of arguments to make_node: expected {2 * self.n_outs}, got {len(values)}")
        values = _as_list(values)
        then, otherwise = values[: self.n_outs], values[self.n_outs :]
        return Apply(self, [condition, *values], [_common_type(a, b)() for a, b in zip(then, otherwise)])

    def perform(self, node, inputs, output_storage):
        condition, *values = inputs
        taken = values[: self.n_outs] if condition else values[self.n_outs :]
        for storage, value in zip(output_storage, taken):
            storage[0] = copy.deepcopy(value)


class DelayedIfElse(Op):
    """What a compiled function has in place of an IfElse: a branch is a function of its own, called when it is taken.

    Inputs: the condition, then what the two functions need; each entry of `branches` is a function and the positions of its
    arguments among these.
    """

    def __init__(self, name, branches):
        super().__init__()
        self.name, self.branches = name, branches

    def __str__(self):
        return f"if{{{self.name or ''}}}"

    __repr__ = __str__

    def perform(self, node, inputs, output_storage):
        condition, *values = inputs
        compute, positions = self.branches[0 if condition else 1]
        for storage, value in zip(output_storage, compute(*[values[i] for i in positions])):
            storage[0] = value


def delay_branches(fgraph, mode):
    """Let each IfElse of the graph compute what only one of its branches needs when that branch is taken, and not otherwise.

    Before: every node runs, and the IfElse picks. After: nodes from which nothing leads but to one branch are in a function of
    that branch (a DelayedIfElse), so that they cost nothing, and raise nothing, where it is not taken. Numbers that elementwise
    operations make, which cannot fail, are computed and chosen by a switch: that costs less than a call. Draws stay where
    they are, since their generators move on at each call. Runs before the passes that overwrite; those run in the functions too.
    """
    _join_equal_conditions(fgraph)
    for node in reversed(fgraph.toposort()):  # what is within a branch of another goes with it
        if type(node.op) is not IfElse or node not in fgraph.apply_nodes or not all(map(_is_tensor, node.outputs)):
            continue
        n = node.op.n_outs
        sides = [_needed_by(fgraph, node, range(1, 1 + n)), _needed_by(fgraph, node, range(1 + n, 1 + 2 * n))]
        if all(map(_is_number, node.outputs)) and all(map(_is_cheap, sides[0] | sides[1])):
            made = [switch(node.inputs[0], a, b) for a, b in zip(node.inputs[1 : 1 + n], node.inputs[1 + n :])]
        elif sides[0] or sides[1]:
            made = _delayed(node, sides, mode)
        else:
            continue
        fgraph.replace_all(list(zip(node.outputs, made)), reason="delay_branches", import_missing=False)


def _join_equal_conditions(fgraph):
    """Make one IfElse of those with the same condition, so that what their branches share is needed by one branch alone."""
    first = {}
    for node in fgraph.toposort():
        if type(node.op) is not IfElse:
            continue
        earlier = first.setdefault(node.inputs[0], node)
        if earlier is node or _depends(node, earlier):
            continue
        a, b = earlier.op.n_outs, node.op.n_outs
        values = [*earlier.inputs[1 : 1 + a], *node.inputs[1 : 1 + b], *earlier.inputs[1 + a :], *node.inputs[1 + b :]]
        joined = Apply(IfElse(a + b, name=earlier.op.name), [node.inputs[0], *values], [v.type() for v in (*earlier.outputs, *node.outputs)])
        fgraph.replace_all(list(zip((*earlier.outputs, *node.outputs), joined.outputs)), reason="delay_branches", import_missing=False)
        first[node.inputs[0]] = joined


def _depends(node, earlier):
    pending, seen = list(node.inputs), set()
    while pending:
        owner = pending.pop().owner
        if owner is earlier:
            return True
        if owner is not None and owner not in seen:
            seen.add(owner)
            pending.extend(owner.inputs)
    return False


def _needed_by(fgraph, node, positions):
    """The nodes that nothing needs but the inputs of `node` at these positions."""
    taken, pending = set(), [node.inputs[i].owner for i in positions]
    while pending:
        owner = pending.pop()
        if owner is None or owner in taken or owner.op.destroy_map or not all(map(_is_tensor, (*owner.inputs, *owner.outputs))):
            continue
        users = [user for output in owner.outputs for user in fgraph.clients.get(output, ())]
        if all(user in taken or (user is node and i in positions) for user, i in users):
            taken.add(owner)
            pending.extend(variable.owner for variable in owner.inputs)  # tried again for each of their users
    return taken


def _is_tensor(variable):
    return getattr(variable.type, "type_kind", None) in ("tensor", "scalar")


def _is_number(variable):
    return getattr(variable.type, "type_kind", None) == "tensor" and variable.type.ndim == 0


def _is_cheap(node):
    if getattr(node.op, "kind", None) != "elemwise" or not all(map(_is_number, (*node.inputs, *node.outputs))):
        return False
    divides = node.op.scalar_op.name in ("int_div", "floor_divide", "mod")
    return not divides or node.outputs[0].type.dtype.startswith("float")


def _sources(values, inside):
    """The variables, constants apart, that the values are computed from by the nodes `inside`."""
    found, pending, seen = {}, list(reversed(values)), set()
    while pending:
        variable = pending.pop()
        if variable.owner not in inside:
            if not isinstance(variable, Constant):
                found[variable] = None
        elif variable.owner not in seen:
            seen.add(variable.owner)
            pending.extend(reversed(variable.owner.inputs))
    return list(found)


def _delayed(node, sides, mode):
    """The outputs of the DelayedIfElse that takes the node's place."""
    from pyscan.function import function

    n = node.op.n_outs
    given, branches = {}, []
    for values, inside in zip((node.inputs[1 : 1 + n], node.inputs[1 + n :]), sides):
        fresh = {variable: variable.type() for variable in _sources(values, inside)}
        compute = function(list(fresh.values()), clone_replace(list(values), replace=fresh), mode=mode, on_unused_input="ignore")
        branches.append((compute, [given.setdefault(variable, len(given)) for variable in fresh]))
    return Apply(DelayedIfElse(node.op.name, branches), [node.inputs[0], *given], [output.type() for output in node.outputs]).outputs


def _common_type(a, b):
    """The less specific of the two types."""
    for one, other in ((a.type, b.type), (b.type, a.type)):
        if one.is_super(other):
            return one
    if hasattr(a.type, "shape") and a.type.dtype == b.type.dtype and a.type.ndim == b.type.ndim:
        return type(a.type)(a.type.dtype, [m if m == n else None for m, n in zip(a.type.shape, b.type.shape)])
    for what in ("ndim", "dtype"):
        one, other = getattr(a.type, what, None), getattr(b.type, what, None)
        if one != other:
            raise TypeError(f"IfElse requires compatible {what} values for both branches: got true_branch={one}, false_branch={other}. "
                            f"They are {a} of type {a.type} and {b} of type {b.type}.")
    raise TypeError(f"IfElse requires compatible types for both branches: got true_branch={a.type}, false_branch={b.type}.")


def _as_list(value):
    values = map(generator_given, value if isinstance(value, (list, tuple)) else [value])
    return [v if isinstance(v, Variable) else as_tensor_variable(v) for v in values]


def ifelse(condition, then_branch, else_branch, name=None):
    """The value (or the list of values) of one branch: of `then_branch` when the condition, a scalar, is not zero.

    The branches must have equal dtypes and ranks, value by value (else TypeError), and equal lengths (ValueError).
    What only the other branch needs is not computed, draws apart. After Aesara's function of that name.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> f = pyscan.function([x], ifelse(x > 0, x, -x))
    >>> float(f(-2.0))
    2.0
    """
    then, otherwise = _as_list(then_branch), _as_list(else_branch)
    if len(then) != len(otherwise):
        raise ValueError(f"The number of values on the `then` branch must match the `else` branch: got {len(then)} for `then`, "
                         f"and {len(otherwise)} for `else`.")
    outputs = IfElse(len(then), name=name).make_node(condition, *then, *otherwise).outputs
    compute_test_values(outputs)
    return type(then_branch)(outputs) if type(then_branch) in (list, tuple) else list(outputs) if isinstance(then_branch, list) else outputs[0]

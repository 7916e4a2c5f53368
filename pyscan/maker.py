"""From a user's variables to a compiled graph: shared variables and updates are collected, the graph is copied and rewritten.

The order of work, one function each: `collect` (givens, shared variables, updates) -> `checked_graph` (a FunctionGraph with the
features that guard it) -> `rewrite` (the mode's passes, and each loop's body with the same) -> `overwrite_mutable`
-> `copy_aliased_outputs`.

Relies on: the graph types and passes of `_core`, io, mode, sharedvalue. Relied on by: function, scan_op (`rewrite`).
"""
from __future__ import annotations

import warnings
from typing import Any, Iterable

from pyscan import _core
from pyscan.config import config
from pyscan.errors import UnusedInputError, about
from pyscan.io import In, SymbolicInput, SymbolicOutput
from pyscan.updates import fitted_update

__all__ = ["collect", "checked_graph", "rewrite", "overwrite_mutable", "copy_aliased_outputs", "leaves", "rebuild_collect_shared", "Replacer"]


def leaves(variables: Iterable[Any], seen: set | None = None, stops: Any = ()) -> list[Any]:
    """The variables without an owner that the given ones depend on, in the order in which a walk from left to right meets them.

    The walk does not go beyond `stops`. `seen` gets the leaves and stops met, and the nodes.
    """
    seen = set() if seen is None else seen
    found: list[Any] = []
    stack = list(variables)[::-1]
    while stack:
        variable = stack.pop()
        owner = None if variable in stops else variable.owner
        key = variable if owner is None else owner
        if key in seen:
            continue
        seen.add(key)
        if owner is None:
            found.append(variable)
        else:
            stack.extend(reversed(owner.inputs))
    return found


class Replacer:
    """Gives variables with others in place of some of their ancestors; only nodes that depend on a replaced one are made anew."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._new: dict[Any, Any] = {}
        self._used: set[Any] = set()  # what replacements are computed from

    def replace(self, old: Any, new: Any) -> None:
        """From now on `new` (as it is after the replacements so far) stands for `old`."""
        if not isinstance(old, _core.Variable):
            raise TypeError(f"`givens` keys must be Variables; {old!r} came")
        if not isinstance(new, _core.Variable):
            new = _as_shared(new)
        if old in self._new or old in self._used:
            raise AssertionError(
                "When using 'givens' or 'replace' with several (old_v, new_v) replacement pairs, you can not have a new_v variable "
                "depend on an old_v one. For instance, givens = {a:b, b:(a+1)} is not allowed. Here, the old_v "
                f"{old} is used to compute other new_v's, but it is scheduled to be replaced by {new}.")
        self._new[old] = self(old.type.filter_variable(new) if self._strict else new)
        pending = [new]
        while pending:
            variable = pending.pop()
            if variable not in self._used and variable not in self._new:
                self._used.add(variable)
                pending.extend(variable.owner.inputs if variable.owner is not None else ())

    @property
    def replaced(self) -> dict[Any, Any]:
        """What stands for each variable met so far."""
        return self._new

    def __call__(self, variable: Any) -> Any:
        if not self._new:
            return variable
        new, stack = self._new, [variable]
        while stack:
            current = stack[-1]
            if current in new:
                stack.pop()
                continue
            node = current.owner
            if node is None:
                new[current] = current
                continue
            waiting = [x for x in node.inputs if x not in new]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            inputs = [new[x] for x in node.inputs]
            same = all(a is b for a, b in zip(inputs, node.inputs))
            outputs = node.outputs if same else node.clone_with_new_inputs(inputs, strict=self._strict).outputs
            for old, made in zip(node.outputs, outputs):
                new.setdefault(old, made)
                if made is not old and made.name is None:
                    made.name = old.name
        return new[variable]


def _as_shared(value: Any) -> Any:
    from pyscan.sharedvalue import shared
    return shared(value)


def _pairs(mapping: Any, what: str) -> list[tuple[Any, Any]]:
    items = list(mapping.items()) if hasattr(mapping, "items") else list(mapping or ())
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise TypeError(f"The `{what}` parameter must be an ordered mapping or a list of pairs")
    return [(a, b) for a, b in items]


def _checked_updates(updates: Any, replacer: Replacer) -> dict[Any, Any]:
    checked: dict[Any, Any] = {}
    if not hasattr(updates, "items") and not isinstance(updates, (list, tuple, type(None))):
        raise TypeError("The `updates` parameter must be an ordered mapping or a list of pairs")
    for target, value in _pairs(updates, "updates"):
        if target in checked:
            raise ValueError("this shared variable already has an update expression", (target, checked[target]))
        checked[target] = replacer(fitted_update(target, value))
    return checked


def as_input(param: Any, allow_downcast: bool | None) -> SymbolicInput:
    """The `In` for one entry of function's inputs; TypeError for what can't be one."""
    if isinstance(param, SymbolicInput):
        variable = param.variable
        if isinstance(variable, _core.SharedVariable):
            raise _shared_input_error(variable)
        if param.allow_downcast is None:
            param.allow_downcast = allow_downcast
        return param
    if isinstance(param, _core.Constant):
        raise TypeError("Constants not allowed in param list", param)
    if isinstance(param, _core.SharedVariable):
        raise _shared_input_error(param)
    if isinstance(param, _core.Variable):
        return In(param, allow_downcast=allow_downcast)
    raise TypeError(f"Unknown parameter type: {type(param)}")


def _shared_input_error(variable: Any) -> TypeError:
    return TypeError(
        f"Cannot use a shared variable ({variable}) as explicit input. Consider substituting a non-shared variable via the `givens` parameter")


def as_output(output: Any) -> SymbolicOutput:
    """The `Out` for one entry of function's outputs."""
    if isinstance(output, SymbolicOutput):
        return output
    if isinstance(output, _core.Variable):
        return SymbolicOutput(output)
    raise TypeError(f"Outputs must be aesara Variable or Out instances. Received {output} of type {type(output)}")


class _Collector:
    """Walks expressions for shared variables and takes up the default updates of those it meets."""

    def __init__(self, updates: dict[Any, Any], no_default_updates: Any, replacer: Replacer, inputs: set) -> None:
        self.updates, self.replacer, self.inputs = updates, replacer, inputs
        self.shared: dict[Any, None] = {}  # in the order found
        self._blocked = no_default_updates
        self._seen: set = set()

    def visit(self, variable: Any) -> None:
        for leaf in leaves([variable], self._seen, self.inputs):
            if isinstance(leaf, _core.SharedVariable):
                self._found(leaf)

    def _found(self, variable: Any) -> None:
        self.shared.setdefault(variable)
        default = variable.default_update
        if default is None or variable in self.updates:
            return
        if self._blocked is False or (isinstance(self._blocked, list) and variable not in self._blocked):
            self.updates[variable] = self.replacer(fitted_update(variable, default))

    def visit_updates(self) -> None:
        """Visit every update, those found on the way as well."""
        done = 0
        while done < len(self.updates):
            for target, expression in list(self.updates.items())[done:]:
                done += 1
                self.visit(expression)
                if target not in self.shared:
                    self.shared[target] = None
                    self._seen.add(target)


def collect(inputs: list[SymbolicInput], outputs: list[SymbolicOutput], updates: Any, givens: Any, no_default_updates: Any,
            strict: bool) -> tuple[list[SymbolicInput], list[SymbolicOutput]]:
    """Apply the givens and find the shared variables; returns all inputs (the user's, then the shared ones) and the outputs."""
    if not isinstance(no_default_updates, (bool, list)):
        raise TypeError(f"The `no_default_update` argument must be a boolean or list; no_default_updates={no_default_updates!r} came")
    replacer = Replacer(strict)
    targets = {spec.variable for spec in inputs}
    pairs = _pairs(givens, "givens")
    for old, _ in pairs:
        if isinstance(old, _core.Variable) and old in targets:
            raise RuntimeError(_GIVEN_INPUT.format(x=old))
    for old, new in pairs:
        with about(lambda old=old, new=new: f"It is about the pair of {old} and {new!r} in `givens`."):
            replacer.replace(old, new)
    collector = _Collector(_checked_updates(updates, replacer), no_default_updates, replacer, targets)
    for old, _ in pairs:
        collector.visit(replacer(old))
    specs = []
    for spec in inputs:
        if spec.update is not None and givens:
            spec = _with_update(spec, replacer(spec.update))
        specs.append(spec)
    outs = [SymbolicOutput(replacer(out.variable), out.borrow) for out in outputs]
    for variable in [*(s.update for s in specs if s.update is not None), *(out.variable for out in outs)]:
        collector.visit(variable)
    collector.visit_updates()
    for variable in collector.shared:
        update = collector.updates.get(variable)
        specs.append(In(variable, value=variable.container, update=update, mutable=update is not None, borrow=True, shared=True))
    return specs, outs


def rebuild_collect_shared(outputs: Any, inputs: Any = None, replace: Any = None, updates: Any = None, rebuild_strict: bool = True,
                           copy_inputs_over: bool = True, no_default_updates: Any = False, clone_inner_graphs: bool = False) -> tuple:
    """What `function` makes of expressions before it compiles them: replacements applied, shared variables and updates found.

    Parameters
    ----------
    outputs
        A Variable, an `Out`, or a list or tuple of them.
    inputs
        Variables and `In` objects that are given: the walk ends there.
    replace, updates, no_default_updates, rebuild_strict
        As `givens`, `updates`, `no_default_updates` and `rebuild_strict` of `function`.
    copy_inputs_over
        Keep the inputs; otherwise they and the expressions are copied.
    clone_inner_graphs
        Accepted: inner graphs are never changed.

    Returns (inputs, outputs, (what stands for each old variable, what each update's target becomes, the pairs of targets and
    updates, the shared variables found)), after Aesara's function of that name. Errors are those of `function`.

    >>> import pyscan, pyscan.tensor as at
    >>> x, s = at.dscalar("x"), pyscan.shared(1.0, name="s")
    >>> inputs, output, (clones, updates, pairs, shared) = rebuild_collect_shared(x * s, [x], updates={s: s + x})
    >>> inputs, shared, list(updates)
    ([x, s], [s], [s])
    """
    if not isinstance(no_default_updates, (bool, list)):
        raise TypeError(f"The `no_default_update` argument must be a boolean or list; no_default_updates={no_default_updates!r} came")
    replacer = Replacer(rebuild_strict)
    given = [spec.variable if isinstance(spec, SymbolicInput) else spec for spec in inputs or ()]
    pairs = _pairs(replace, "replace")
    for old, new in pairs:
        replacer.replace(old, new)
    # A variable that another one stands for is not found, nor its default update.
    targets = {variable for variable in given if not isinstance(variable, _core.SharedVariable)} | {old for old, _ in pairs}
    collector = _Collector(_checked_updates(updates, replacer), no_default_updates, replacer, targets)
    listed = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    made = [replacer(out.variable if isinstance(out, SymbolicOutput) else out) for out in listed]
    for variable in made:
        collector.visit(variable)
    collector.visit_updates()
    shared = [variable for variable in collector.shared if variable not in given]
    everything = [replacer(variable) for variable in given] + shared
    expressions = made + list(collector.updates.values())
    equiv = dict(replacer.replaced)
    if not copy_inputs_over:
        copies = _core.clone_get_equiv(everything, expressions, copy_inputs=True, copy_orphans=True)
        equiv = {old: copies.get(new, new) for old, new in equiv.items()} | copies
        everything, expressions = [copies[variable] for variable in everything], [copies[variable] for variable in expressions]
    new_outputs = [SymbolicOutput(variable, out.borrow) if isinstance(out, SymbolicOutput) else variable
                   for out, variable in zip(listed, expressions)]
    update_pairs = list(zip(collector.updates, expressions[len(made):]))
    result = new_outputs if isinstance(outputs, (list, tuple)) else new_outputs[0]
    return everything, result, (equiv, dict(update_pairs), update_pairs, shared)


def _with_update(spec: SymbolicInput, update: Any) -> In:
    return In(spec.variable, spec.name, getattr(spec, "value", None), update, spec.mutable, spec.strict, spec.allow_downcast,
              False, spec.implicit, spec.borrow, spec.shared)


_GIVEN_INPUT = (
    "You are trying to replace variable '{x}' through the `givens` parameter, but this variable is an input to your function. "
    "Replacing inputs is currently forbidden because it has no effect. One way to modify an input `x` to a function evaluating f(x) "
    "is to define a new input `y` and use `aesara.function([y], f(x), givens={{x: g(y)}})`. Another solution consists in using "
    "`aesara.clone_replace`, e.g. like this: `aesara.function([x], aesara.clone_replace(f(x), replace={{x: g(x)}}))`.")


def _check_unused(inputs: list[SymbolicInput], outputs: list[SymbolicOutput], policy: str) -> None:
    used: set = set()
    leaves([*(out.variable for out in outputs), *(s.update for s in inputs if s.update is not None)], used, {s.variable for s in inputs})
    start = ("aesara.function was asked to create a function computing outputs given certain inputs, but the provided input variable "
             "at index {} is not part of the computational graph needed to compute the outputs: {}.\n")
    end = ("To make this {} into {}, you can pass the parameter on_unused_input={!r} to aesara.function. "
           "To disable it completely, use on_unused_input='ignore'.")
    for i, spec in enumerate(inputs):
        variable = spec.variable
        if spec.shared or spec.update is not None or spec.has_placeholder or variable in used:
            continue
        if policy == "warn":
            warnings.warn(start.format(i, variable) + end.format("warning", "an error", "raise"), stacklevel=5)
        elif policy == "raise":
            raise UnusedInputError(start.format(i, variable) + end.format("error", "a warning", "warn"))
        elif policy != "ignore":
            raise ValueError(f"Invalid value for keyword on_unused_input of aesara.function: '{policy}'.\n"
                             "Valid values are 'raise', 'warn', and 'ignore'.")


def _check_duplicates(inputs: list[SymbolicInput]) -> None:
    first: dict[Any, int] = {}
    for i, spec in enumerate(inputs):
        if spec.variable in first:
            raise UnusedInputError(
                f"Variable {spec.variable} is used twice in inputs to aesara.function, at indices {first[spec.variable]} and {i}.  "
                "This would result in values provided for it being ignored. Please do not duplicate variables in the inputs list.")
        first[spec.variable] = i


def checked_graph(inputs: list[SymbolicInput], outputs: list[SymbolicOutput], accept_inplace: bool, on_unused_input: str | None,
                  fgraph: Any = None) -> tuple[Any, list[tuple[int, int]]]:
    """A FunctionGraph of the outputs and then the updates, guarded by a Supervisor; and which output updates which input.

    The values of tensor variables are protected always, since a call that fails must leave them as they were; a generator is
    free to be destroyed when an update for it is given, or when its `In` is mutable.
    """
    _check_duplicates(inputs)
    _check_unused(inputs, outputs, on_unused_input if on_unused_input is not None else config.on_unused_input)
    updated = [i for i, spec in enumerate(inputs) if spec.update is not None]
    pairs = [(len(outputs) + k, i) for k, i in enumerate(updated)]
    if fgraph is None:
        expressions = [out.variable for out in outputs] + [inputs[i].update for i in updated]
        fgraph = _core.FunctionGraph([spec.variable for spec in inputs], expressions, clone=True, update_mapping=dict(pairs))
    else:
        _check_given_graph(fgraph, inputs, outputs, updated, dict(pairs))
    destroying = [node for node in fgraph.apply_nodes if getattr(node.op, "destroy_map", None)]
    if destroying and not accept_inplace:
        raise TypeError(f"Graph must not contain inplace operations: {destroying[0]}")
    if destroying:
        fgraph.attach_feature(_core.DestroyHandler())
    protected = [
        variable for spec, variable in zip(inputs, fgraph.inputs)
        if not (spec.mutable and not (spec.shared and _is_array(variable.type))) and not (destroying and fgraph.has_destroyers([variable]))
    ]
    fgraph.attach_feature(_core.Supervisor(protected))
    fgraph.attach_feature(_core.PreserveVariableAttributes())
    return fgraph, pairs


def _is_array(type_: Any) -> bool:
    return getattr(type_, "type_kind", None) in ("tensor", "scalar")


def _check_given_graph(fgraph: Any, inputs: list, outputs: list, updated: list[int], mapping: dict[int, int]) -> None:
    for own, spec in zip(fgraph.inputs, inputs):
        if own is not spec.variable:
            raise ValueError(f"`fgraph`'s input does not match the provided input: {own}, {spec.variable}")
    for own, out in zip(fgraph.outputs, outputs):
        if own is not out.variable:
            raise ValueError(f"`fgraph`'s output does not match the provided output: {own}, {out.variable}")
    if len(fgraph.inputs) != len(inputs) or len(fgraph.outputs) not in (len(outputs), len(outputs) + len(updated)):
        raise ValueError(f"`fgraph` has {len(fgraph.inputs)} inputs and {len(fgraph.outputs)} outputs; "
                         f"{len(inputs)} and {len(outputs)} were given")
    if len(fgraph.outputs) == len(outputs):
        for i in updated:
            fgraph.add_output(inputs[i].update, import_missing=False)
    fgraph.update_mapping = mapping


def _evaluate(node: Any) -> list[Any]:
    """The values of a node whose inputs are constants, for constant folding."""
    return _core.evaluate(node.outputs)


def rewrite(fgraph: Any, mode: Any) -> dict[str, int]:
    """Run the mode's passes on the graph, then compile the bodies of the loops that are left; returns how often each pass changed something."""
    if any(getattr(node.op, "takes_place", False) for node in fgraph.apply_nodes):
        from pyscan.builders import inline_graphs  # here, since few programs have graphs as operations
        inline_graphs(fgraph)
    for rewriter in mode.rewriters:
        rewriter.rewrite(fgraph)
    passes = list(mode.passes)
    if any(getattr(node.op, "has_branches", False) for node in fgraph.apply_nodes):
        from pyscan.ifelse import delay_branches  # here, since few programs have branches
        overwriting = {name for name, _, tags, _ in _core.passes() if "inplace" in tags}
        changes = _core.rewrite(fgraph, [name for name in passes if name not in overwriting], _evaluate)
        delay_branches(fgraph, mode)
        changes |= _core.rewrite(fgraph, [name for name in passes if name in overwriting], _evaluate)
    else:
        changes = _core.rewrite(fgraph, passes, _evaluate)
    loops = [node for node in fgraph.toposort() if getattr(node.op, "kind", None) == "scan"]
    met: dict = {}
    for node in loops:
        if len(loops) > 1:
            node.op.compile_with(met)
        node.op = node.op.compiled(mode.for_bodies())
    return changes


def _alias_root(variable: Any) -> Any:
    """The variable whose memory this one shares, as far as the view maps tell."""
    while variable.owner is not None:
        view_map = getattr(variable.owner.op, "view_map", None)
        position = variable.index
        if not view_map or position not in view_map:
            break
        variable = variable.owner.inputs[view_map[position][0]]
    return variable


def overwrite_mutable(fgraph: Any, inputs: list[SymbolicInput], mode: Any) -> None:
    """Let elementwise results take the memory of arrays that may be overwritten, where the mode overwrites at all."""
    variables = [variable for spec, variable in zip(inputs, fgraph.inputs)
                 if spec.mutable and not spec.shared and spec.update is None and _is_array(variable.type) and variable.type.ndim > 0]
    if variables and "local_inplace_setsubtensor" in mode.passes:
        from pyscan.overwrite import overwrite_inputs  # here, since few functions have such inputs
        overwrite_inputs(fgraph, variables)


def copy_aliased_outputs(fgraph: Any, inputs: list[SymbolicInput], outputs: list[SymbolicOutput]) -> None:
    """Put a copy before each output that shares memory with a later output, with an input that keeps its value, or with a
    constant, so that the caller may write into what it gets; a view where both sides are declared as borrowed."""
    from pyscan.ops import deep_copy_op, view_op
    specs = dict(zip(fgraph.inputs, inputs))
    borrows = [out.borrow for out in outputs] + [False] * (len(fgraph.outputs) - len(outputs))
    roots = [_alias_root(variable) for variable in fgraph.outputs]
    last = {root: i for i, root in enumerate(roots)}
    can_destroy = hasattr(fgraph, "has_destroyers")
    for i, root in enumerate(roots):
        if last[root] > i:
            both = borrows[i] and borrows[last[root]]
        elif root.owner is None and not (root in specs and specs[root].update is not None) and not (
                can_destroy and fgraph.has_destroyers([root])):
            both = borrows[i] and (root not in specs or specs[root].borrow)
        else:
            continue
        copied = (view_op if both else deep_copy_op)(fgraph.outputs[i])
        fgraph.change_node_input("output", i, copied, reason="copy_aliased_outputs", import_missing=True)

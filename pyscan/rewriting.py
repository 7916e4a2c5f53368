"""Rewriters: objects that change a `FunctionGraph` in place, under Aesara's names.

A node rewriter proposes what takes a node's place; a graph rewriter decides which nodes it is asked about, and in which order. Each
proposal goes through `FunctionGraph.replace_all_validate_remove`, so that features (a `DestroyHandler`, a `Supervisor`) may veto it:
the graph is then as it was, and the rewriter's `failure_callback` is told.

    >>> import pyscan.tensor as at
    >>> from pyscan.graph import FunctionGraph
    >>> x = at.dvector("x")
    >>> fgraph = FunctionGraph([x], [at.exp(at.log(x)) + 1.0], clone=False)
    >>> in2out(PatternNodeRewriter((at.exp, (at.log, "x")), "x")).rewrite(fgraph)
    1
    >>> fgraph
    FunctionGraph(Elemwise{add,no_inplace}(x, InplaceDimShuffle{x}(TensorConstant{1.0})))

Relies on: features, graph, patterns, the passes of `_core`. Relied on by: the users' programs alone; pyscan's own passes are in C.
"""
from __future__ import annotations

import logging
import traceback
import warnings
from collections import deque
from typing import Any, Callable, Iterable, Sequence

from pyscan import _core
from pyscan.config import config
from pyscan.features import DestroyHandler, Feature, InconsistencyError, NodeFinder, ReplaceValidate
from pyscan.graph import Apply, FunctionGraph, Op, Variable, clone_get_equiv, clone_replace, equal_computations, io_toposort
from pyscan.patterns import Pattern, built, matched

__all__ = [
    "EquilibriumGraphRewriter", "FromFunctionGraphRewriter", "FromFunctionNodeRewriter", "GraphRewriter", "MergeOptimizer",
    "NodeProcessingGraphRewriter", "NodeRewriter", "OpKeyGraphRewriter", "PatternNodeRewriter", "RemovalNodeRewriter", "Rewriter",
    "SequentialGraphRewriter", "SequentialNodeRewriter", "SubstitutionNodeRewriter", "WalkingGraphRewriter", "copy_stack_trace",
    "graph_rewriter", "in2out", "inplace_graph_rewriter", "is_same_graph", "node_rewriter", "out2in", "pre_greedy_node_rewriter",
    "rewrite_graph", "walking_rewriter",
]

_logger = logging.getLogger("pyscan.rewriting")


# ---- what both kinds have


class Rewriter:
    """Something that has a name and may ask for features on the graph that it changes."""

    name: str | None = None

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that the rewriter needs."""

    def __repr__(self) -> str:
        return self.name or f"{type(self).__name__}()"


class NodeRewriter(Rewriter):
    """Proposes replacements for the outputs of one node: write `transform`, and `tracks` if it looks at some Ops alone."""

    def tracks(self) -> Sequence[Any] | None:
        """The Ops, or classes of Ops, whose nodes it can change; None for any."""
        return None

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        """The replacement for a node: a list with one variable an output (None where the output stays, or has no reader), a dict
        from old variable to new one (the key "remove" may name nodes that have to leave the graph), or False for no change."""
        raise NotImplementedError(f"{type(self).__name__} has no transform(fgraph, node)")


class GraphRewriter(Rewriter):
    """Changes a graph: write `apply`."""

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Change the graph."""
        raise NotImplementedError(f"{type(self).__name__} has no apply(fgraph)")

    def rewrite(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Attach what the rewriter needs, and change the graph; gives what `apply` gives."""
        self.add_requirements(fgraph)
        return self.apply(fgraph, *args, **kwargs)

    def __call__(self, fgraph: FunctionGraph) -> Any:
        return self.rewrite(fgraph)


def _handles(tracks: Sequence[Any] | None, op: Op) -> bool:
    """Whether an Op is among those tracked: by equality, or by its class."""
    return tracks is None or any(isinstance(op, track) if isinstance(track, type) else op == track for track in tracks)


# ---- node rewriters


class FromFunctionNodeRewriter(NodeRewriter):
    """A node rewriter of a function `f(fgraph, node)`: see `node_rewriter`, which makes them."""

    def __init__(self, fn: Callable, tracks: Sequence[Any] | None = None, requirements: Iterable[Callable] = ()) -> None:
        self.fn, self._tracks, self.requirements = fn, tracks, tuple(requirements)
        self.name = self.__name__ = getattr(fn, "__name__", None)
        self.__doc__ = getattr(fn, "__doc__", None)

    def tracks(self) -> Sequence[Any] | None:
        return self._tracks

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        return self.fn(fgraph, node) if _handles(self._tracks, node.op) else False

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for requirement in self.requirements:
            requirement(fgraph)

    def __repr__(self) -> str:
        return f"FromFunctionNodeRewriter({self.fn!r}, {self._tracks!r}, {self.requirements!r})"

    def __str__(self) -> str:
        return str(self.name)


def node_rewriter(tracks: Sequence[Any] | None, inplace: bool = False, requirements: Iterable[Callable] = ()) -> Callable:
    """Make a node rewriter of the function below.

    Parameters
    ----------
    tracks : list of Ops or of classes of Ops, or None for all
    inplace : bool
        The replacements overwrite their inputs: the graph gets a `DestroyHandler`.
    requirements : callables
        Each is called with the graph before it is changed.

    TypeError when `tracks` is no list, ValueError when it is empty or holds something else.

    >>> import pyscan.tensor as at
    >>> from pyscan.graph import FunctionGraph
    >>> @node_rewriter([at.sqrt])
    ... def root_of_square(fgraph, node):
    ...     (square,) = node.inputs
    ...     if square.owner is not None and square.owner.op == at.sqr:
    ...         return [at.abs(square.owner.inputs[0])]
    >>> x = at.dscalar("x")
    >>> fgraph = FunctionGraph([x], [at.sqrt(at.sqr(x))], clone=False)
    >>> out2in(root_of_square).rewrite(fgraph)
    1
    >>> fgraph
    FunctionGraph(Elemwise{abs,no_inplace}(x))
    """
    if tracks is not None:
        if not isinstance(tracks, (list, tuple)):
            raise TypeError(f"tracks must be None or a list of Ops and classes of Ops, got {tracks!r}")
        if not tracks:
            raise ValueError("Use None instead of an empty list to track all Ops.")
        for track in tracks:
            if not (isinstance(track, Op) or (isinstance(track, type) and issubclass(track, Op))):
                raise ValueError(f"tracks are Ops or classes of Ops, got {track!r}")
    wanted = (*requirements, _attach_destroy_handler) if inplace else tuple(requirements)
    return lambda fn: FromFunctionNodeRewriter(fn, tracks, wanted)


def _attach_destroy_handler(fgraph: FunctionGraph) -> None:
    fgraph.attach_feature(DestroyHandler())


class _OneOpNodeRewriter(NodeRewriter):
    """What node rewriters share that look at the nodes of one Op. What they bring need not be looked at again."""

    reentrant = False

    def op_key(self) -> Op:
        """The Op whose nodes are replaced or removed."""
        raise NotImplementedError(f"{type(self).__name__} has no op_key()")

    def tracks(self) -> list[Op]:
        return [self.op_key()]


class SubstitutionNodeRewriter(_OneOpNodeRewriter):
    """Puts one Op in the place of another, on the same inputs.

    With `transfer_tags` the new variables get the old ones' tags. An Op that gives another number of outputs is a ValueError
    where the rewriter is applied.
    """

    def __init__(self, op1: Op, op2: Op, transfer_tags: bool = True) -> None:
        self.op1, self.op2, self.transfer_tags = op1, op2, transfer_tags
        self.name = f"{op1} -> {op2}"

    def op_key(self) -> Op:
        return self.op1

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        if node.op != self.op1:
            return False
        replacements = self.op2.make_node(*node.inputs).outputs
        if self.transfer_tags:
            for old, new in zip(node.outputs, replacements):
                new.tag.__dict__.update(vars(old.tag))
        return replacements


class RemovalNodeRewriter(_OneOpNodeRewriter):
    """Takes nodes of an Op with one input and one output out: the input stands in the output's place.

    TypeError where the rewriter is applied to a node with another number of them.
    """

    def __init__(self, op: Op) -> None:
        self.op, self.name = op, f"{op}(x) -> x"

    def op_key(self) -> Op:
        return self.op

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        if node.op != self.op:
            return False
        if len(node.inputs) != 1 or len(node.outputs) != 1:
            raise TypeError(f"{node} has {len(node.inputs)} inputs and {len(node.outputs)} outputs; it can be removed when it has one each")
        return node.inputs


class PatternNodeRewriter(NodeRewriter):
    """Replaces what looks like one pattern by what the other says.

    A pattern is a string (any variable; the same string stands for the same variable everywhere), a tuple of an Op (or a class of
    Ops) and patterns for its inputs, a number (a constant of that value), a variable (itself), or a dict
    ``{"pattern": p, "constraint": f}``, which stands for a `p` that `f(variable)` accepts.

    Parameters
    ----------
    in_pattern : tuple
        What to look for.
    out_pattern : tuple, str, number or Variable
        What takes its place; its strings are those of `in_pattern`. It may be a Variable too, or what a function of Op, in the
        place of an Op, gives.
    allow_multiple_clients : bool
        Whether inner results of the pattern may have readers outside of it.
    name : str
        Shown in messages; default `in -> out`.
    tracks, get_nodes : list of Ops, callable(fgraph, node)
        Look at the nodes of `tracks`, and try the pattern on those that `get_nodes` gives for one.
    allow_cast : bool
        Cast the replacement to the old variable's type where they differ; otherwise nothing is replaced there.

    TypeError when `in_pattern` does not begin with an Op, ValueError when `out_pattern` has a string that `in_pattern` lacks.
    """

    def __init__(self, in_pattern: Any, out_pattern: Any, allow_multiple_clients: bool = False, skip_identities_fn: Any = None,
                 name: str | None = None, tracks: Sequence[Any] = (), get_nodes: Callable | None = None,
                 values_eq_approx: Any = None, allow_cast: bool = True) -> None:
        self.pattern = Pattern(in_pattern, out_pattern)
        self.in_pattern, self.out_pattern = in_pattern, out_pattern
        self.allow_multiple_clients, self.skip_identities_fn = allow_multiple_clients, skip_identities_fn
        self._tracks, self.get_nodes = list(tracks), get_nodes
        if self._tracks and get_nodes is None:
            raise ValueError("tracks needs get_nodes: which nodes to try the pattern on")
        self.values_eq_approx, self.allow_cast = values_eq_approx, allow_cast
        self.name = name or str(self.pattern)

    def op_key(self) -> Any:
        """The Op that the pattern begins with."""
        return self.pattern.op

    def tracks(self) -> Sequence[Any]:
        return self._tracks or [self.pattern.op]

    def transform(self, fgraph: FunctionGraph, node: Apply, get_nodes: bool = True) -> Any:
        if get_nodes and self.get_nodes is not None:
            return self._transform_others(fgraph, node)
        if not _handles([self.pattern.op], node.op):
            return False
        bound = matched(self.pattern, node, self._may_enter(fgraph), self.skip_identities_fn)
        if bound is None:
            return False
        (old,) = node.outputs if len(node.outputs) == 1 else (node.default_output(),)
        new = self._fitted(built(self.pattern.out_pattern, bound), old)
        return False if new is None else [new if output is old else None for output in node.outputs]

    def _may_enter(self, fgraph: FunctionGraph) -> Callable[[Variable], bool]:
        """Whether the pattern may go on to the node behind a variable."""
        return lambda variable: self.allow_multiple_clients or len(fgraph.clients.get(variable, ())) <= 1

    def _transform_others(self, fgraph: FunctionGraph, node: Apply) -> Any:
        for real in self.get_nodes(fgraph, node):  # type: ignore[misc]
            found = None if real == "output" else self.transform(fgraph, real, get_nodes=False)
            if found:
                return dict(zip(real.outputs, found))
        return False

    def _fitted(self, new: Variable, old: Variable) -> Variable | None:
        """The replacement as one of the old variable's type; None when it can't be."""
        if self.values_eq_approx is not None:
            new.tag.values_eq_approx = self.values_eq_approx
        if old.type.is_super(new.type):
            return new
        dtype = getattr(old.type, "dtype", None)
        if not self.allow_cast or dtype is None or getattr(new.type, "ndim", None) != old.type.ndim:
            return None
        from pyscan.tensor import cast
        cast_new = cast(new, dtype)
        return cast_new if old.type.is_super(cast_new.type) else None


class SequentialNodeRewriter(NodeRewriter):
    """Asks several node rewriters in turn; the first that changes something wins.

    With `apply_all_rewrites` the result is handed on to the next ones, for nodes with one output.
    """

    def __init__(self, *rewriters: NodeRewriter, apply_all_rewrites: bool = False, profile: bool = False) -> None:
        self.rewriters, self.apply_all_rewrites = rewriters, apply_all_rewrites
        self.name = "+".join(str(rewriter) for rewriter in rewriters)

    def tracks(self) -> Sequence[Any] | None:
        found: list[Any] = []
        for rewriter in self.rewriters:
            tracked = rewriter.tracks()
            if tracked is None:
                return None
            found.extend(tracked)
        return found

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        result: Any = False
        for rewriter in self.rewriters:
            if not _handles(rewriter.tracks(), node.op):
                continue
            found = rewriter.transform(fgraph, node)
            if found is None or found is False:
                continue
            result = found
            owner = found[0].owner if isinstance(found, (list, tuple)) and len(found) == 1 and found[0] is not None else None
            if not self.apply_all_rewrites or owner is None:
                break
            node = owner
        return result

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters:
            rewriter.add_requirements(fgraph)


# ---- graph rewriters


class FromFunctionGraphRewriter(GraphRewriter):
    """A graph rewriter of a function `f(fgraph)`: see `graph_rewriter`, which makes them."""

    def __init__(self, fn: Callable, requirements: Iterable[Callable] = ()) -> None:
        self.fn, self.requirements = fn, tuple(requirements)
        self.name = self.__name__ = getattr(fn, "__name__", None)
        self.__doc__ = getattr(fn, "__doc__", None)

    def apply(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        return self.fn(fgraph, *args, **kwargs)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for requirement in self.requirements:
            requirement(fgraph)


def graph_rewriter(f: Callable) -> FromFunctionGraphRewriter:
    """Make a graph rewriter of the function below, which is called with the graph."""
    return FromFunctionGraphRewriter(f)


def inplace_graph_rewriter(f: Callable) -> FromFunctionGraphRewriter:
    """Make a graph rewriter of the function below, for graphs with a `DestroyHandler`."""
    return FromFunctionGraphRewriter(f, (_attach_destroy_handler,))


class SequentialGraphRewriter(GraphRewriter):
    """Applies graph rewriters one after the other. `failure_callback(exception, self, rewriter)` is told of one that raises,
    and the next ones go on; without it the exception is raised."""

    def __init__(self, *rewriters: Any, name: str | None = None, failure_callback: Callable | None = None) -> None:
        listed = list(rewriters[0]) if len(rewriters) == 1 and isinstance(rewriters[0], (list, tuple)) else list(rewriters)
        self.data, self.name, self.failure_callback = listed, name, failure_callback

    def apply(self, fgraph: FunctionGraph) -> Any:
        results = []
        for rewriter in self.data:
            try:
                results.append(rewriter.apply(fgraph))
            except AssertionError:
                raise
            except Exception as error:
                if self.failure_callback is None:
                    raise
                self.failure_callback(error, self, rewriter)
        return results

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.data:
            rewriter.add_requirements(fgraph)

    def __iter__(self) -> Any:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: Any) -> Any:
        return self.data[i]

    @staticmethod
    def warn(error: Exception, sequence: Any, rewriter: Any) -> None:
        """A `failure_callback` that logs the error and goes on, or raises it where `config.on_opt_error` is "raise"."""
        _report(f"{rewriter} failed", error)


class MergeOptimizer(GraphRewriter):
    """Makes equal computations and equal constants one. It is the pass `merge` that functions are compiled with."""

    name = "merge"

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of changes."""
        return _core.rewrite(fgraph, ["merge"], None)["merge"]


def _report(what: str, error: Exception) -> None:
    """What `config.on_opt_error` asks for: the error is raised, logged, or passed over."""
    if config.on_opt_error == "raise":
        raise error
    if config.on_opt_error != "ignore":
        _logger.error("%s:\n%s", what, "".join(traceback.format_exception(error)))


class _Updater(Feature):
    """Tells a walk of nodes that come into the graph while it goes on."""

    def __init__(self, arrived: Callable[[Apply], None]) -> None:
        self._arrived = arrived

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._arrived(node)


class NodeProcessingGraphRewriter(GraphRewriter):
    """What graph rewriters share that ask a node rewriter: `process_node`.

    Parameters
    ----------
    node_rewriter : NodeRewriter or None
        None for classes that pass one to `process_node`.
    ignore_newtrees : bool or "auto"
        Whether nodes that replacements bring are not looked at; "auto": as the node rewriter's `reentrant` says.
    failure_callback : callable
        Called with (exception, self, pairs of replacements, node rewriter, node) when the node rewriter raised, or the graph refused
        what it proposed; the walk then goes on. Without it the exception is raised. `warn`, `warn_inplace` (silent about what a
        feature vetoes) and `warn_ignore` (silent) are there to be given.
    """

    @staticmethod
    def warn(error: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any) -> None:
        """Logs the error, or raises it where `config.on_opt_error` is "raise"."""
        _report(f"{node_rewriter} failed on {node}", error)

    @staticmethod
    def warn_inplace(error: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any) -> None:
        """Like `warn`, but what a feature of the graph refused is no error."""
        if not isinstance(error, InconsistencyError):
            _report(f"{node_rewriter} failed on {node}", error)

    @staticmethod
    def warn_ignore(error: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any) -> None:
        """Says nothing."""

    def __init__(self, node_rewriter: NodeRewriter | None, ignore_newtrees: Any, failure_callback: Callable | None = None) -> None:
        self.node_rewriter, self.failure_callback = node_rewriter, failure_callback
        self.ignore_newtrees = not getattr(node_rewriter, "reentrant", True) if ignore_newtrees == "auto" else bool(ignore_newtrees)
        self.name = str(node_rewriter) if node_rewriter is not None else None

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(ReplaceValidate())
        if self.node_rewriter is not None:
            self.node_rewriter.add_requirements(fgraph)

    def process_node(self, fgraph: FunctionGraph, node: Apply, node_rewriter: NodeRewriter | None = None) -> bool:
        """Ask the node rewriter about one node, and change the graph; whether something changed."""
        rewriter = node_rewriter or self.node_rewriter
        if rewriter is None:
            raise TypeError(f"{type(self).__name__} has no node rewriter")
        try:
            replacements = rewriter.transform(fgraph, node)
        except Exception as error:
            return self._failed(error, [(output, None) for output in node.outputs], rewriter, node)
        if replacements is None or replacements is False:
            return False
        pairs, remove = _replacement_pairs(replacements, rewriter, node)
        pairs = [(old, new) for old, new in pairs if old is not new and new is not None]
        if not pairs:
            return False
        try:
            fgraph.replace_all_validate_remove(pairs, reason=rewriter, remove=remove)
        except Exception as error:
            return self._failed(error, pairs, rewriter, node)
        return True

    def _failed(self, error: Exception, pairs: list, rewriter: NodeRewriter, node: Apply) -> bool:
        if self.failure_callback is None:
            raise error
        self.failure_callback(error, self, pairs, rewriter, node)
        return False

    def walk(self, fgraph: FunctionGraph, nodes: Iterable[Apply], last_first: bool, wants: Callable[[Apply], bool]) -> int:
        """Process nodes, and those that come into the graph meanwhile and are wanted; the number of changes."""
        waiting = deque(nodes)
        current: list[Apply | None] = [None]

        def arrived(node: Apply) -> None:
            if node is not current[0] and wants(node):
                waiting.append(node)
        updater = None if self.ignore_newtrees else _Updater(arrived)
        if updater is not None:
            fgraph.attach_feature(updater)
        changes = 0
        try:
            while waiting:
                current[0] = waiting.pop() if last_first else waiting.popleft()
                if current[0] in fgraph.apply_nodes:
                    changes += self.process_node(fgraph, current[0])
        finally:
            if updater is not None:
                fgraph.remove_feature(updater)
        return changes


def _replacement_pairs(replacements: Any, rewriter: NodeRewriter, node: Apply) -> tuple[list[tuple[Variable, Any]], list[Apply]]:
    """What a node rewriter gave, as pairs (old, new) and the nodes that have to go."""
    if isinstance(replacements, dict):
        remove = list(replacements.get("remove", ()))
        return [(old, new) for old, new in replacements.items() if not isinstance(old, str)], remove
    if not isinstance(replacements, (list, tuple)):
        raise TypeError(f"Node rewriter {rewriter} gave wrong type of replacement. Expected list, tuple, dict or False; got {replacements!r}")
    if len(replacements) != len(node.outputs):
        raise ValueError(f"Node rewriter {rewriter} gave {len(replacements)} replacements for {node}, which has {len(node.outputs)} outputs")
    return list(zip(node.outputs, replacements)), []


class WalkingGraphRewriter(NodeProcessingGraphRewriter):
    """Asks a node rewriter about each node once, from the inputs to the outputs (`order="in_to_out"`) or back ("out_to_in").

    ValueError for another order. See `NodeProcessingGraphRewriter` for the other arguments. `in2out` and `out2in` make them.
    """

    def __init__(self, node_rewriter: NodeRewriter, order: str = "in_to_out", ignore_newtrees: Any = False,
                 failure_callback: Callable | None = None) -> None:
        if order not in ("in_to_out", "out_to_in"):
            raise ValueError("order must be 'in_to_out' or 'out_to_in'")
        self.order = order
        super().__init__(node_rewriter, ignore_newtrees, failure_callback)

    def apply(self, fgraph: FunctionGraph, start_from: Sequence[Variable] | None = None) -> int:
        """The number of changes; `start_from`: walk through what these variables depend on alone."""
        # Not fgraph.toposort(): a graph that a feature objects to, as it is now, may be walked through to be repaired.
        nodes = io_toposort(fgraph.inputs, fgraph.outputs if start_from is None else start_from)
        return self.walk(fgraph, nodes, self.order == "out_to_in", lambda node: True)


class OpKeyGraphRewriter(NodeProcessingGraphRewriter):
    """Asks a node rewriter with an `op_key()` about the nodes of that Op (or list of Ops), last first; new ones too, unless they
    are to be ignored. TypeError for a node rewriter without `op_key`."""

    def __init__(self, node_rewriter: Any, ignore_newtrees: Any = False, failure_callback: Callable | None = None) -> None:
        if not hasattr(node_rewriter, "op_key"):
            raise TypeError(f"{node_rewriter} must have an `op_key` method.")
        super().__init__(node_rewriter, ignore_newtrees, failure_callback)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        super().add_requirements(fgraph)
        fgraph.attach_feature(NodeFinder())

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of changes."""
        key = self.node_rewriter.op_key()  # type: ignore[union-attr]
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        if any(isinstance(one, type) for one in keys):
            nodes = [node for node in fgraph.toposort() if _handles(keys, node.op)]
        else:
            nodes = [node for one in keys for node in fgraph.get_nodes(one)]
        return self.walk(fgraph, nodes, True, lambda node: _handles(keys, node.op))


class EquilibriumGraphRewriter(NodeProcessingGraphRewriter):
    """Applies rewriters of nodes and of graphs again and again, until none changes anything.

    Parameters
    ----------
    rewriters : NodeRewriters and GraphRewriters
    max_use_ratio : float
        How many changes each may make, times the nodes that the graph has at most; a rewriter that goes beyond is left out, with
        a UserWarning.
    tracks_on_change_inputs : accepted, every node is looked at in each round.
    """

    def __init__(self, rewriters: Iterable[Any], failure_callback: Callable | None = None, ignore_newtrees: bool = True,
                 tracks_on_change_inputs: bool = False, max_use_ratio: float | None = None, final_rewriters: Iterable[GraphRewriter] = (),
                 cleanup_rewriters: Iterable[GraphRewriter] = ()) -> None:
        super().__init__(None, ignore_newtrees, failure_callback)
        if max_use_ratio is None:
            raise ValueError("max_use_ratio has to be a number")
        self.max_use_ratio = max_use_ratio
        listed = list(rewriters)
        self.node_rewriters = [rewriter for rewriter in listed if isinstance(rewriter, NodeRewriter)]
        self.global_rewriters = [rewriter for rewriter in listed if not isinstance(rewriter, NodeRewriter)]
        self.final_rewriters, self.cleanup_rewriters = list(final_rewriters), list(cleanup_rewriters)

    def get_node_rewriters(self, node: Apply) -> list[NodeRewriter]:
        """Those that look at nodes of this kind."""
        return [rewriter for rewriter in self.node_rewriters if _handles(rewriter.tracks(), node.op)]

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        super().add_requirements(fgraph)
        for rewriter in [*self.node_rewriters, *self.global_rewriters, *self.final_rewriters, *self.cleanup_rewriters]:
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of changes that node rewriters made."""
        used: dict[Any, int] = {}
        most, total = 1, 0
        while True:
            most = max(most, len(fgraph.apply_nodes))
            limit = max(1, int(self.max_use_ratio * most))
            before = sum(used.values())
            changed = self._apply_globals(fgraph, self.global_rewriters, used, limit)
            for node in fgraph.toposort():
                self._apply_nodes(fgraph, node, used, limit)
            changed = self._apply_globals(fgraph, [*self.final_rewriters, *self.cleanup_rewriters], used, limit) or changed
            total = sum(count for rewriter, count in used.items() if isinstance(rewriter, NodeRewriter))
            if not changed and sum(used.values()) == before:
                return total

    def _apply_globals(self, fgraph: FunctionGraph, rewriters: list, used: dict, limit: int) -> bool:
        changed = False
        for rewriter in rewriters:
            if used.get(rewriter, 0) >= limit:
                continue
            listener = _Changes()
            fgraph.attach_feature(listener)
            try:
                rewriter.apply(fgraph)
            finally:
                fgraph.remove_feature(listener)
            if listener.n:
                changed = True
                self._count(rewriter, used, limit)
        return changed

    def _apply_nodes(self, fgraph: FunctionGraph, node: Apply, used: dict, limit: int) -> None:
        for rewriter in self.get_node_rewriters(node):
            if node not in fgraph.apply_nodes:
                return
            if used.get(rewriter, 0) < limit and self.process_node(fgraph, node, rewriter):
                self._count(rewriter, used, limit)

    def _count(self, rewriter: Any, used: dict, limit: int) -> None:
        used[rewriter] = used.get(rewriter, 0) + 1
        if used[rewriter] >= limit:
            warnings.warn(f"EquilibriumGraphRewriter: {rewriter} made {limit} changes, as many as max_use_ratio={self.max_use_ratio} "
                          "allows, and is left out from here on", stacklevel=4)


class _Changes(Feature):
    """Counts the changes of a graph."""

    n = 0

    def on_change_input(self, fgraph: FunctionGraph, node: Any, i: int, var: Any, new_var: Any, reason: Any = None) -> None:
        self.n += 1


# ---- short forms


def walking_rewriter(order: str, *node_rewriters: NodeRewriter, name: str | None = None, **kwargs: Any) -> WalkingGraphRewriter:
    """A `WalkingGraphRewriter` over one or several node rewriters; by default a rewriter that fails is logged, and a veto of the
    graph's features is no failure."""
    one = node_rewriters[0] if len(node_rewriters) == 1 else SequentialNodeRewriter(*node_rewriters)
    kwargs.setdefault("failure_callback", NodeProcessingGraphRewriter.warn_inplace)
    made = WalkingGraphRewriter(one, order=order, **kwargs)
    if name:
        made.name = name
    return made


def in2out(*node_rewriters: NodeRewriter, **kwargs: Any) -> WalkingGraphRewriter:
    """A walk from the inputs to the outputs: see `walking_rewriter`."""
    return walking_rewriter("in_to_out", *node_rewriters, **kwargs)


def out2in(*node_rewriters: NodeRewriter, **kwargs: Any) -> WalkingGraphRewriter:
    """A walk from the outputs to the inputs: see `walking_rewriter`."""
    return walking_rewriter("out_to_in", *node_rewriters, **kwargs)


def pre_greedy_node_rewriter(fgraph: FunctionGraph, rewriters: Sequence[NodeRewriter], out: Variable) -> Variable:
    """A variable as node rewriters would have it, worked out on copies of the nodes that change: the graph stays as it is."""
    copies = clone_get_equiv([], [out], copy_inputs=False, copy_orphans=False)
    inner = FunctionGraph(outputs=[copies[out]], clone=False)
    EquilibriumGraphRewriter(rewriters, max_use_ratio=10, failure_callback=NodeProcessingGraphRewriter.warn).rewrite(inner)
    return inner.outputs[0]


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """Gives `to_var` back. A rewritten node is explained by the leaves that it is computed from, whose lines pyscan keeps."""
    return to_var


def rewrite_graph(fgraph: Any, include: Sequence[str] = ("canonicalize",), custom_rewrite: GraphRewriter | None = None,
                  clone: bool = False, **kwargs: Any) -> Any:
    """Rewrite a graph by passes that tags choose, then by a rewriter of one's own.

    Parameters
    ----------
    fgraph : FunctionGraph, Variable or list of Variables
    include : names or tags of passes; others are named by `exclude` and `require`
    custom_rewrite : GraphRewriter
    clone : bool
        Whether a FunctionGraph is copied first; variables are, unless it is False.

    Returns the rewritten FunctionGraph, Variable or list.

    >>> import pyscan.tensor as at
    >>> rewrite_graph(at.constant(2.0) * at.constant(3.0))
    TensorConstant{6.0}
    """
    from pyscan.mode import RewriteDatabaseQuery
    graph = fgraph
    if not isinstance(fgraph, FunctionGraph):
        outputs = [fgraph] if isinstance(fgraph, Variable) else list(fgraph)
        graph = FunctionGraph(outputs=outputs, clone=clone)
    elif clone:
        graph = fgraph.clone()
    _core.rewrite(graph, list(RewriteDatabaseQuery(include, **kwargs).passes()), lambda node: _core.evaluate(node.outputs))
    if custom_rewrite is not None:
        custom_rewrite.rewrite(graph)
    if isinstance(fgraph, FunctionGraph):
        return graph
    return graph.outputs[0] if isinstance(fgraph, Variable) else list(graph.outputs)


def is_same_graph(var1: Variable, var2: Variable, givens: Any = None) -> bool:
    """Whether two variables are the same computation of the same leaves, when `givens` (a dict or pairs) take their places in both.

    >>> import pyscan.tensor as at
    >>> x, y = at.dscalars("x", "y")
    >>> is_same_graph(x + 1, x + 1), is_same_graph(x + 1, y + 1), is_same_graph(x + 1, y + 1, givens={y: x})
    (True, False, True)
    """
    if givens:
        var1, var2 = clone_replace([var1, var2], givens)
    return equal_computations([var1], [var2])

"""Graphs as text: `debugprint` (also `dprint`) as a tree with one line a variable, `pp` as one line of mathematics, and the
`Print` operation that shows values while a function runs.

All walks keep their own stack, so that chains of any length can be printed. The forms are Aesara's, line by line.

Relies on: the graph types of `_core`, io, formulas. Relied on by: the package's top.
"""
from __future__ import annotations

import hashlib
import sys
import warnings
from io import StringIO
from typing import Any, Callable, Iterable, Iterator, TextIO

import numpy as np

from pyscan import _core
from pyscan._core import as_string
from pyscan.formulas import (
    ConstantPrinter, DefaultPrinter, FunctionPrinter, IgnorePrinter, LeafPrinter, OperatorPrinter, PatternPrinter, PPrinter, Printer,
    PrinterState, constant_printer, default_printer, leaf_printer, pp, pprint,
)
from pyscan.io import SymbolicInput, SymbolicOutput

__all__ = [
    "ConstantPrinter", "DefaultPrinter", "FunctionPrinter", "IgnorePrinter", "LeafPrinter", "OperatorPrinter", "PPrinter", "PatternPrinter",
    "Print", "Printer", "PrinterState", "as_string", "char_from_number", "constant_printer", "debugprint", "default_printer", "dprint",
    "get_node_by_id", "hex_digest", "leaf_printer", "min_informative_str", "pp", "pprint",
]


def char_from_number(number: int) -> str:
    """The number in base 26 with capital letters as digits: A, B, ..., Z, BA, BB, ..."""
    text = chr(ord("A") + number % 26)
    while number >= 26:
        number //= 26
        text = chr(ord("A") + number % 26) + text
    return text


# ---- debugprint


def _has_inner_graph(variable: Any) -> bool:
    return variable.owner is not None and hasattr(variable.owner.op, "inner_outputs")


def _inner_graph(op: Any) -> tuple[list[Any], list[Any]]:
    """Inner inputs and outputs: of the compiled body when the function was compiled, else of the body as it was written."""
    compiled = getattr(op, "compiled_fgraph", None)
    if compiled is not None:
        return compiled.inputs, compiled.outputs
    return op.inner_inputs, op.inner_outputs


def _scan_roles(node: Any) -> dict[Any, str]:
    """For each outer and inner variable of a loop, the role that it plays; a variable with two roles has the last one."""
    info = node.op.info
    inner_inputs, inner_outputs = _inner_graph(node.op)
    roles: dict[Any, str] = {node.inputs[0]: "n_steps"}

    def label(field: str, variables: Iterator[Any], count: int, taps: Any = None) -> None:
        for i in range(count):
            if taps is None:
                roles[next(variables)] = f"{field}-{i}"
            else:
                for j in range(len(taps[i])):
                    roles[next(variables)] = f"{field}-{i}-{j}"

    counts = (("mit_mot", len(info.mit_mot_in_slices)), ("mit_sot", len(info.mit_sot_in_slices)), ("sit_sot", len(info.sit_sot_in_slices)))
    inner, outer = iter(inner_inputs), iter(node.inputs[1:])
    label("outer_in_seqs", outer, info.n_seqs)
    label("inner_in_seqs", inner, info.n_seqs)
    for kind, count in counts:
        label(f"outer_in_{kind}", outer, count)
        label(f"inner_in_{kind}", inner, count, {"mit_mot": info.mit_mot_in_slices, "mit_sot": info.mit_sot_in_slices}.get(kind))
    label("outer_in_shared", outer, info.n_shared_outs)
    label("inner_in_shared", inner, info.n_shared_outs)
    label("outer_in_nit_sot", outer, info.n_nit_sot)
    label("outer_in_non_seqs", outer, info.n_non_seqs)
    label("inner_in_non_seqs", inner, info.n_non_seqs)
    inner, outer = iter(inner_outputs), iter(node.outputs)
    for kind, count in (*counts, ("nit_sot", info.n_nit_sot), ("shared", info.n_shared_outs)):
        label(f"outer_out_{kind}", outer, count)
        label(f"inner_out_{kind}", inner, count, info.mit_mot_out_slices if kind == "mit_mot" else None)
    return roles


def _roles(node: Any) -> dict[Any, str]:
    return _scan_roles(node) if getattr(node.op, "kind", None) == "scan" else {}


class _Options:
    """The arguments of `debugprint` that stay the same for every line."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


class _Section:
    """What the lines of one tree share: where they are (in which loop's body) and what is known about the compiled function."""

    def __init__(self, topo: dict[Any, int] | None = None, storage: Any = None, arrows: dict[Any, Any] | None = None,
                 parent: Any = None, body_of: Any = None) -> None:
        self.topo, self.storage, self.arrows, self.parent, self.body_of = topo, storage, arrows, parent, body_of


class _TreePrinter:
    """Prints trees one after another. `done` has what has been printed, `used_ids` what has an id."""

    def __init__(self, file: Any, done: dict, used_ids: dict, options: _Options) -> None:
        self.file, self.done, self.used_ids, self.options = file, done, used_ids, options
        self.inner: dict[Any, None] = {}            # variables whose body is still to be printed, in order
        self.default_updates: dict[Any, None] = {}  # shared variables, in order
        self.roles: dict[Any, dict[Any, str]] = {}  # node -> variable -> role

    def tree(self, variable: Any, section: _Section, prefix: str = "", child_prefix: str | None = None) -> None:
        """Print a variable and what it is computed from, down to the depth asked for."""
        depth = self.options.depth
        stack = [(variable, prefix, prefix if child_prefix is None else child_prefix, depth, section.parent)]
        while stack:
            variable, prefix, child_prefix, depth, parent = stack.pop()
            if _has_inner_graph(variable):
                self.inner.setdefault(variable)  # also just below the depth asked for
            if depth == 0:
                continue
            node = variable.owner
            if node is None:
                self._leaf(variable, prefix, parent, section)
                continue
            fresh = node not in self.done
            self._computed(variable, prefix, parent, section)
            if fresh and not (self.options.stop_on_name and variable.name is not None):
                last = len(node.inputs) - 1
                for i in range(last, -1, -1):
                    stack.append((node.inputs[i], child_prefix + " |", child_prefix + ("  " if i == last else " |"), depth - 1, node))

    def _id(self, thing: Any, variable: Any) -> str:
        """The id of an Apply or a leaf, given when it is first asked for."""
        text = self.used_ids.get(thing)
        if text is None:
            kind = self.options.id_type
            number = {"int": len(self.used_ids), "id": id(variable)}.get(kind)
            if kind == "CHAR":
                number = char_from_number(len(self.used_ids))
            elif kind == "auto":
                number = variable.auto_name
            text = "" if number is None else f"[id {number}]"
            self.used_ids[thing] = text
        self.done[thing] = text
        return text

    def _computed(self, variable: Any, prefix: str, parent: Any, section: _Section) -> None:
        node, options = variable.owner, self.options
        position = "" if len(node.outputs) == 1 else f".{variable.index}"
        parts = [f"{prefix}{node.op}{position}"]
        identity = self._id(node, variable)
        if identity:
            parts.append(identity)
        if options.print_type:
            parts.append(f"<{variable.type}>")
        if variable.name:
            parts.append(f"'{variable.name}'")
        if options.print_destroy_map and node.op.destroy_map:
            parts.append(f"d={node.op.destroy_map}")
        if options.print_view_map and node.op.view_map:
            parts.append(f"v={node.op.view_map}")
        if section.topo:
            parts.append(str(section.topo[node]))
        if section.storage and node.outputs[0] in section.storage:
            parts.append(str(section.storage[node.outputs[0]]))
        if options.print_op_info and node not in self.roles:
            self.roles[node] = _roles(node)
        known = (self.roles.get(parent) if parent is not None else None) or self.roles.get(node)
        if known and variable in known:
            parts.append(f"({known[variable]})")
        print(" ".join(parts), file=self.file)

    def _leaf(self, variable: Any, prefix: str, parent: Any, section: _Section) -> None:
        options = self.options
        parts = [f"{prefix}{variable}"]
        identity = self._id(variable, variable)
        if identity:
            parts.append(identity)
        if options.print_type:
            parts.append(f"<{variable.type}>")
        if section.storage and variable in section.storage:
            parts.append(str(section.storage[variable]))
        update = getattr(variable, "default_update", None)
        if options.print_default_updates and update is not None:
            target = update if update.owner is None else update.owner
            parts.append(f"<- {self._id(target, variable)}")
            if variable not in self.default_updates:
                self.default_updates[variable] = None
                del self.done[target]  # its tree is to be printed in the section of default updates
        if section.arrows is not None and variable in section.arrows:
            outer = section.arrows[variable]
            parts.append(f"-> {self._id(outer if outer.owner is None else outer.owner, variable)}")
        for node in dict.fromkeys((section.body_of, parent)):
            known = self.roles.get(node) if node is not None else None
            if known and variable in known:
                parts.append(f"({known[variable]})")
        print(" ".join(parts), file=self.file)

    def bodies(self) -> None:
        """Print the inner graphs of all variables met so far, and of those that come up meanwhile."""
        print("\nInner graphs:", file=self.file)
        printed = 0
        while printed < len(self.inner):
            pending = list(self.inner)[printed:]
            for variable in pending:
                self._body(variable)
            printed += len(pending)

    def _body(self, variable: Any) -> None:
        node = variable.owner
        inner_inputs, inner_outputs = _inner_graph(node.op)
        arrows = None
        if hasattr(node.op, "get_oinp_iinp_iout_oout_mappings"):
            mapping = node.op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_inner_inp"]
            arrows = {inner_inputs[i]: node.inputs[o] for i, o in mapping.items()}
        if self.options.print_op_info:
            self.roles[node] = _roles(node)
        print(file=self.file)
        self.tree(variable, _Section(arrows=arrows, parent=node))
        if self.options.print_fgraph_inputs:
            for inner in inner_inputs:
                self.tree(inner, _Section(arrows=arrows, parent=node, body_of=node), "-")
            arrows = None
        for inner in inner_outputs:
            self.tree(inner, _Section(arrows=arrows, parent=node, body_of=node), " >", " >")

    def updates(self) -> None:
        """Print the default updates of the shared variables met so far, and of those that come up meanwhile."""
        print("\nDefault updates:", file=self.file)
        printed = 0
        while printed < len(self.default_updates):
            for variable in list(self.default_updates)[printed:]:
                print(file=self.file)
                self.tree(variable.default_update, _Section(arrows={variable.default_update: variable}))
                printed += 1


def _roots(graph: Any, print_storage: bool) -> tuple[list[Any], list[tuple[Any, _Section]]] | None:
    """(inputs, [(output, section)]) of one object given to debugprint; None for something that is not part of a graph."""
    if isinstance(graph, _core.Variable):
        return [], [(graph, _Section())]
    if isinstance(graph, _core.Apply):
        return [], [(out, _Section()) for out in graph.outputs]
    if isinstance(graph, (SymbolicInput, SymbolicOutput)):
        return [], [(graph.variable, _Section())]
    storage = None
    if hasattr(graph, "maker"):
        if print_storage:
            storage = graph.storage_map
        graph = graph.maker.fgraph
    if isinstance(graph, _core.FunctionGraph):
        topo = {node: i for i, node in enumerate(graph.toposort())}
        return list(graph.inputs), [(out, _Section(topo, storage)) for out in graph.outputs]
    return None


def debugprint(graph_like: Any, depth: int = -1, print_type: bool = False, file: Any = None, id_type: str = "CHAR",
               stop_on_name: bool = False, done: dict | None = None, print_storage: bool = False, used_ids: dict | None = None,
               print_op_info: bool = False, print_destroy_map: bool = False, print_view_map: bool = False,
               print_fgraph_inputs: bool = False, print_default_updates: bool = False, ids: str | None = None) -> str | TextIO:
    """Print a graph as a tree, one line a variable.

    Parameters
    ----------
    graph_like
        A Variable, Apply, compiled function, FunctionGraph, `In` or `Out`, or a list, tuple or set of these.
    depth
        How many levels are shown; -1 for all.
    print_type, print_storage, print_destroy_map, print_view_map, print_op_info
        Add to each line the type, the cell of a function's input that is kept between calls, the destroy map, the view map, and
        the role that a variable plays for a loop.
    file
        None prints and returns `sys.stdout`; "str" returns the text; a text stream is written to and returned.
    id_type
        "CHAR", "int", "id" (Python's id), "auto" (the variable's auto_name), or "" for no ids.
    stop_on_name
        Do not go below a computed variable that has a name.
    done, used_ids
        Dicts to give to several calls, so that they share ids.
    print_fgraph_inputs, print_default_updates
        List the inputs of function graphs and loops' bodies first; show the default updates of shared variables.

    Raises TypeError for an object that is not part of a graph. The form is Aesara's.
    """
    if not isinstance(depth, int):
        raise TypeError(f"depth parameter must be an int, got {depth!r}")
    if ids is not None:
        warnings.warn("`ids` is deprecated; use `id_type` instead.", DeprecationWarning, stacklevel=2)
        id_type = ids
    stream = StringIO() if isinstance(file, str) and file == "str" else sys.stdout if file is None else file
    options = _Options(depth=depth, print_type=print_type, id_type=id_type, stop_on_name=stop_on_name, print_op_info=print_op_info,
                       print_destroy_map=print_destroy_map, print_view_map=print_view_map, print_fgraph_inputs=print_fgraph_inputs,
                       print_default_updates=print_default_updates)
    printer = _TreePrinter(stream, {} if done is None else done, {} if used_ids is None else used_ids, options)
    inputs: list[Any] = []
    outputs: list[tuple[Any, _Section]] = []
    for graph in graph_like if isinstance(graph_like, (list, tuple, set)) else (graph_like,):
        roots = _roots(graph, print_storage)
        if roots is not None:
            inputs += roots[0] if print_fgraph_inputs else []
            outputs += roots[1]
        elif isinstance(graph, (int, float, np.ndarray)):
            print(graph, file=stream)
        else:
            raise TypeError(f"debugprint cannot print an object type {type(graph)}")
    if depth != 0:
        for variable in inputs:
            printer.tree(variable, _Section(parent=variable.owner), "-")
        for variable, section in outputs:
            section.parent = variable.owner
            printer.tree(variable, section)
    if printer.inner:
        printer.bodies()
    if printer.default_updates:
        printer.updates()
    if isinstance(stream, StringIO) and stream is not file:
        return stream.getvalue()
    if file is None:
        stream.flush()
    return stream


dprint = debugprint


# ---- shorter forms


def min_informative_str(obj: Any, indent_level: int = 0, _prev_obs: dict | None = None, _tag_generator: Any = None) -> str:
    """The variable in terms of named variables and constants, one a line, each with a letter that later lines can refer to."""
    tags: dict[int, str] = {} if _prev_obs is None else _prev_obs
    lines, stack = [], [(obj, indent_level)]
    while stack:
        current, level = stack.pop()
        if id(current) in tags:
            lines.append(f"{' ' * level}<{tags[id(current)]}>")
            continue
        tag = tags[id(current)] = char_from_number(len(tags))
        if not isinstance(current, _core.Variable) and hasattr(current, "__array__"):
            text = "<ndarray>"
        elif getattr(current, "name", None) is not None:
            text = current.name
        elif getattr(current, "owner", None) is not None:
            text = str(current.owner.op)
            stack.extend((x, level + 1) for x in reversed(current.owner.inputs))
        else:
            text = str(current)
        lines.append(f"{' ' * level}{tag}. {text}")
    return "\n".join(lines)


def hex_digest(text: str) -> str:
    """A short text that stands for a longer one."""
    return hashlib.sha256(text.encode()).hexdigest()


def get_node_by_id(graphs: Any, target_var_id: str, id_types: str = "CHAR") -> Any:
    """The Apply or leaf that debugprint calls `[id target_var_id]`, or None."""
    used: dict = {}
    debugprint(graphs, file="str", id_type=id_types, used_ids=used)
    wanted = f"[id {target_var_id}]"
    return next((thing for thing, text in used.items() if text == wanted), None)


# ---- Print


def _print_fn(op: Print, value: Any) -> None:
    for attr in op.attrs:
        shown = getattr(value, attr)
        print(op.message, attr, "=", shown() if callable(shown) else shown)


class Print(_core.Op):
    """Gives its input unchanged and, each time that it runs, prints attributes of its value.

    `Print("message", attrs=("__str__", "shape"))(x)` prints `message __str__ = ...` and `message shape = ...`. Attributes that can
    be called are called. `global_fn(op, value)` replaces the printing altogether.
    """

    view_map = {0: [0]}
    __props__ = ("message", "attrs", "global_fn")

    def __init__(self, message: str = "", attrs: Iterable[str] = ("__str__",), global_fn: Callable[[Any, Any], Any] = _print_fn) -> None:
        self.message, self.attrs, self.global_fn = message, tuple(attrs), global_fn

    def make_node(self, x: Any) -> Any:
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]
        self.global_fn(self, inputs[0])

    def do_constant_folding(self, fgraph: Any, node: Any) -> bool:
        """Never: it would print once, while the function is compiled."""
        return False

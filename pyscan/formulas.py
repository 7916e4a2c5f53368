"""Graphs as one line of mathematics: `pp`.

A printer gives pieces: texts, and variables whose own pieces go in their place; one loop joins them, so that chains of any length
can be printed in time that grows with the text. Programs add printers of their own with `pprint.assign`.

Relies on: the graph types of `_core`. Relied on by: printing, which has these names too.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable

from pyscan import _core

__all__ = ["pp", "pprint", "PPrinter", "Printer"]


class PrinterState:
    """What printers hand on: the PPrinter at work and the precedence of what is around (kept for printers that read it)."""

    def __init__(self, props: Any = None, **more: Any) -> None:
        self.precedence = -1000
        self.memo: dict[Any, str] = {}
        if props is not None:
            self.__dict__.update(props if isinstance(props, dict) else props.__dict__)
        self.__dict__.update(more)


class Printer:
    """Turns a computed variable into pieces: texts, and variables whose own pieces go in their place.

    A subclass defines `pieces(output)`, or `process(output, pstate)` that gives the text at once.
    """

    pieces: Callable[[Any], list[Any]] | None = None

    def process(self, output: Any, pstate: PrinterState | None = None) -> str:
        printer = pprint if pstate is None or not hasattr(pstate, "pprinter") else pstate.pprinter
        return printer._joined(self.pieces(output), pstate)


def _separated(items: Iterable[Any], separator: str) -> list[Any]:
    pieces: list[Any] = []
    for item in items:
        pieces += [separator, item] if pieces else [item]
    return pieces


class OperatorPrinter(Printer):
    """`(a + b)`, or `(-a)` for one input; always in brackets."""

    def __init__(self, operator: str, precedence: float, assoc: str = "left") -> None:
        self.operator, self.precedence, self.assoc = operator, precedence, assoc

    def pieces(self, output: Any) -> list[Any]:
        inputs = output.owner.inputs
        if len(inputs) == 1:
            return ["(" + self.operator, inputs[0], ")"]
        return ["(", *_separated(inputs, f" {self.operator} "), ")"]


class PatternPrinter(Printer):
    """A text with `%(0)s`, `%(1)s`, ... for the inputs; one pattern an output."""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = [pattern if isinstance(pattern, str) else pattern[0] for pattern in patterns]

    def pieces(self, output: Any) -> list[Any]:
        pieces: list[Any] = []
        rest = self.patterns[output.index]
        while (start := rest.find("%(")) >= 0:
            end = rest.index(")s", start)
            pieces += [rest[:start], output.owner.inputs[int(rest[start + 2:end])]]
            rest = rest[end + 2:]
        return [*pieces, rest]


class FunctionPrinter(Printer):
    """`name(a, b, keyword=value)`; one name an output."""

    def __init__(self, names: Any, keywords: Any = None) -> None:
        self.names, self.keywords = list(names), list(keywords or ())

    def pieces(self, output: Any) -> list[Any]:
        words = [f"{keyword}={getattr(output.owner.op, keyword)}" for keyword in self.keywords]
        return [self.names[output.index] + "(", *_separated([*output.owner.inputs, *words], ", "), ")"]


class IgnorePrinter(Printer):
    """The first input alone."""

    def pieces(self, output: Any) -> list[Any]:
        return [output.owner.inputs[0]]


class DefaultPrinter(Printer):
    """`op(a, b)`; a leaf's own text for a leaf."""

    def pieces(self, output: Any) -> list[Any]:
        if output.owner is None:
            return leaf_printer.pieces(output)
        return [f"{output.owner.op}(", *_separated(output.owner.inputs, ", "), ")"]


_GREEK = ("alpha", "beta", "gamma", "delta", "epsilon")


class LeafPrinter(Printer):
    """The variable's text; Greek letters with a backslash."""

    def pieces(self, output: Any) -> list[Any]:
        return ["\\" + output.name if output.name in _GREEK else str(output)]


class ConstantPrinter(Printer):
    """The constant's data."""

    def pieces(self, output: Any) -> list[Any]:
        return [str(output.data)]


class _ElemwisePrinter(Printer):
    """Arithmetic in brackets, the rest as functions."""

    OPERATORS = {"add": "+", "mul": "*", "sub": "-", "neg": "-", "true_divide": "/", "floor_divide": "//", "pow": "**"}

    def pieces(self, output: Any) -> list[Any]:
        scalar_op, inputs = output.owner.op.scalar_op, output.owner.inputs
        name = scalar_op.name
        if getattr(scalar_op, "kind", None) == "cast":
            return [f"{output.type.dtype}(", inputs[0], ")"]
        if name in self.OPERATORS:
            return OperatorPrinter(self.OPERATORS[name], 0).pieces(output)
        if name == "abs":
            return ["|", inputs[0], "|"]
        if name == "identity":
            return [inputs[0]]
        if name == "second":
            name = "fill"
        return [f"{name}(", *_separated(inputs, ", "), ")"]


class _DimShufflePrinter(Printer):
    def pieces(self, output: Any) -> list[Any]:
        order, x = list(output.owner.op.new_order), output.owner.inputs[0]
        while order and order[0] == "x":
            order.pop(0)
        if order == list(range(x.type.ndim)):
            return [x]
        if order == list(range(x.type.ndim))[::-1]:
            return [x, ".T"]
        return [f"DimShuffle{{{', '.join(map(str, order))}}}(", x, ")"]


class _SubtensorPrinter(Printer):
    """Indices as they are; of slices the dtypes of their ends, as in the operation's own text."""

    def pieces(self, output: Any) -> list[Any]:
        return self.indexed(output.owner.op, output.owner.inputs[0], output.owner.inputs[1:])

    @staticmethod
    def indexed(op: Any, x: Any, indices: Any) -> list[Any]:
        values = iter(indices)
        items: list[list[Any]] = []
        for entry in op.idx_list:
            if isinstance(entry, tuple):
                start, stop, step = (next(values).type.dtype if given else "" for given in entry)
                items.append([f"{start}:{stop}" + (f":{step}" if step else "")])
            else:
                items.append([next(values)])
        flat = [piece for i, item in enumerate(items) for piece in ([", "] if i else []) + item]
        return [x, "[", *flat, "]"]


class _IncSubtensorPrinter(Printer):
    def pieces(self, output: Any) -> list[Any]:
        op, (x, y, *indices) = output.owner.op, output.owner.inputs
        name = "set_subtensor(" if op.set_instead_of_inc else "inc_subtensor("
        return [name, *_SubtensorPrinter.indexed(op, x, indices), ", ", y, ")"]


class _MakeVectorPrinter(Printer):
    def pieces(self, output: Any) -> list[Any]:
        return ["[", *_separated(output.owner.inputs, ", "), "]"]


class _DotPrinter(Printer):
    def pieces(self, output: Any) -> list[Any]:
        return (OperatorPrinter("\\dot", -1) if str(output.owner.op) == "dot" else DefaultPrinter()).pieces(output)


class _ReducePrinter(Printer):
    def pieces(self, output: Any) -> list[Any]:
        op = output.owner.op
        if op.reduce_name == "add":
            return FunctionPrinter(["sum"], ["axis"]).pieces(output)
        return DefaultPrinter().pieces(output)


leaf_printer, constant_printer, default_printer = LeafPrinter(), ConstantPrinter(), DefaultPrinter()
# How the operations of ops.def print, by their kind; others print as `op(a, b)`.
_BY_KIND: dict[str, Printer] = {
    "elemwise": _ElemwisePrinter(), "dimshuffle": _DimShufflePrinter(), "subtensor": _SubtensorPrinter(),
    "inc_subtensor": _IncSubtensorPrinter(), "make_vector": _MakeVectorPrinter(), "careduce": _ReducePrinter(),
    "dot": _DotPrinter(), "join": FunctionPrinter(["join"]), "alloc": FunctionPrinter(["alloc"]),
}


class PPrinter(Printer):
    """The printers in force: those assigned to an Op or a class of Ops, then conditions (the latest first), then by kind."""

    def __init__(self) -> None:
        self.printers: list[tuple[Callable[[Any, Any], bool], Any]] = []
        self.printers_dict: dict[Any, Any] = {}

    def assign(self, condition: Any, printer: Any) -> None:
        """Use the printer for an Op, for a class of Ops, or where `condition(pstate, variable)` holds."""
        if isinstance(condition, (_core.Op, type)):
            self.printers_dict[condition] = printer
        else:
            self.printers.insert(0, (condition, printer))

    def clone(self) -> PPrinter:
        """A copy that can be changed apart."""
        copied = PPrinter()
        copied.printers, copied.printers_dict = list(self.printers), dict(self.printers_dict)
        return copied

    def clone_assign(self, condition: Any, printer: Any) -> PPrinter:
        """A copy with one more printer."""
        copied = self.clone()
        copied.assign(condition, printer)
        return copied

    def process(self, variable: Any, pstate: Any = None) -> str:
        """The variable as one line of text."""
        if not isinstance(pstate, PrinterState):
            pstate = PrinterState(pstate, pprinter=self)
        variable.owner  # what has none (a function, a number) is refused here, as in Aesara
        return self._joined([variable], pstate)

    def _joined(self, pieces: list[Any], pstate: Any) -> str:
        texts: list[str] = []
        stack = pieces[::-1]
        while stack:
            piece = stack.pop()
            if isinstance(piece, str):
                texts.append(piece)
                continue
            printer = self._printer_for(piece, pstate)
            if getattr(printer, "pieces", None) is not None:
                stack.extend(reversed(printer.pieces(piece)))
            else:
                texts.append(printer.process(piece, pstate))
        return "".join(texts)

    def _printer_for(self, variable: Any, pstate: Any) -> Any:
        node = variable.owner
        if node is not None and self.printers_dict:
            for key in (node.op, type(node.op)):
                if key in self.printers_dict:
                    return self.printers_dict[key]
        for condition, printer in self.printers:
            if condition(pstate, variable):
                return printer
        if node is not None:
            return _BY_KIND.get(getattr(node.op, "kind", ""), default_printer)
        return constant_printer if isinstance(variable, _core.Constant) else leaf_printer

    def __call__(self, variable: Any, pstate: Any = None) -> str:
        return self.process(variable, pstate)


pprint = PPrinter()
pp = pprint

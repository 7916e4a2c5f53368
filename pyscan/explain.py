"""`explain(fn)`: for every random variable and every recurrent output of a compiled function, whether it is in place and, if not, who
forbade it; and `show_versions()`.

The answers are read off the compiled graph: what is in place is written in the Ops' destroy maps, and each refused proposal was
noted on its graph, in the feature's own words, when the refusal happened.

Relies on: a compiled function's graph and counters. Relied on by: the package's top, `__main__`.
"""
from __future__ import annotations

import sys
from typing import Any, Iterator

from pyscan.records import FrozenRecord

__all__ = ["explain", "Explanation", "Finding", "Placed", "show_versions"]


class Finding(FrozenRecord):
    """One random variable or recurrent output: `where` it stands (the loops around it, outermost first), whether it is
    `in_place`, and, if not, the `refusals`: what was proposed and the words with which it was refused."""

    kind: str
    what: str
    where: tuple[str, ...]
    in_place: bool
    refusals: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        place = " in ".join(("", *reversed(self.where))) if self.where else ""
        state = "in place" if self.in_place else "not in place"
        lines = [f"{self.kind} {self.what}{place}: {state}" + (f" ({self.note})" if self.note else "")]
        return "\n".join(lines + [f"    refused: {text}" for text in self.refusals])


class Placed(FrozenRecord):
    """One operation of a loop's body: `what` it is, the `loop` it stands in, its `phase`, and `why` it has that one.

    The phases are "once" (before the first step), "before" (for a block of steps, ahead of the recurrence), "core" (step by
    step, the recurrence itself) and "after" (for a block of steps, behind it)."""

    what: str
    loop: str
    phase: str
    why: str

    def __str__(self) -> str:
        return f"{self.phase:<6} {self.what} in {self.loop}: {self.why}"


class Explanation(FrozenRecord):
    """What `explain` found. Its text lists the findings; `findings` has them as objects, `phases` says when each operation of a
    loop runs, `counters` what the last call did."""

    name: str
    passes: tuple[str, ...]
    findings: tuple[Finding, ...]
    counters: dict[str, int] = dict  # type: ignore[assignment]
    phases: tuple[Placed, ...] = ()

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The findings that are not in place."""
        return tuple(finding for finding in self.findings if not finding.in_place)

    def __str__(self) -> str:
        lines = [f"function {self.name}", f"passes: {', '.join(self.passes) or 'none'}"]
        lines += [str(finding) for finding in self.findings] or ["no random variable and no recurrent output"]
        lines += [str(placed) for placed in self.phases]
        if self.counters:
            copies = self.counters.get("generator_copies", 0)
            lines.append(f"the last call copied {copies} generator{'s' if copies != 1 else ''}")
        return "\n".join(lines)

    __repr__ = __str__


def explain(fn: Any) -> Explanation:
    """Say for every random variable and recurrent output of a compiled function whether it is in place, and why not; and for each
    operation in a loop whether it runs before, in or after the recurrence, and why. TypeError for what is no compiled function.

    >>> import pyscan, pyscan.tensor as at
    >>> stream = at.random.RandomStream(23)
    >>> path, updates = pyscan.scan(lambda: stream.normal(), n_steps=10)
    >>> print(pyscan.explain(pyscan.function([], path, updates=updates)).refused)
    ()
    >>> print([placed.phase for placed in pyscan.explain(pyscan.function([], path, updates=updates)).phases])
    ['before']
    """
    if not hasattr(fn, "maker"):
        raise TypeError(f"explain takes a compiled function, got {fn!r} of type {type(fn).__name__}")
    passes = fn.maker.mode.passes
    findings = tuple(_findings(fn.maker.fgraph, (), passes))
    counters = fn.counters
    return Explanation(fn.name, passes, findings, dict(counters) if counters else {}, tuple(_placed(fn.vm.phases())))


def _findings(fgraph: Any, where: tuple[str, ...], passes: tuple[str, ...]) -> Iterator[Finding]:
    for node in fgraph.toposort():
        kind = getattr(node.op, "kind", None)
        if kind == "random":
            yield _of_random_variable(fgraph, node, where, passes)
        elif kind == "scan":
            yield from _of_loop(fgraph, node, where, passes)
            if node.op.compiled_fgraph is not None:
                yield from _findings(node.op.compiled_fgraph, (*where, _loop_name(node)), passes)


def _placed(rows: list[tuple[Any, Any, str, int]]) -> Iterator[Placed]:
    """An operation once, where its instructions run: in the core if one of them does."""
    found: dict[tuple[int, int], tuple[Any, Any, str, int]] = {}
    for loop, node, phase, state in rows:
        before = found.get((id(loop), id(node)))
        if before is None or before[2] != "core":
            found[id(loop), id(node)] = loop, node, phase, state
    bodies_that_call = {id(loop) for loop, node, _, _ in rows if getattr(node.op, "kind", None) is None}
    for loop, node, phase, state in found.values():
        yield Placed(_operation_name(node), _loop_name(loop), phase, _why(loop, node, phase, state, id(loop) in bodies_that_call))


def _why(loop: Any, node: Any, phase: str, state: int, has_call: bool) -> str:
    is_draw = getattr(node.op, "kind", None) == "random"
    if phase == "once":
        return "the same in every step"
    if phase == "before":
        return "drawn ahead: its generator advances by itself" if is_draw else "depends on no carried state"
    if phase == "after":
        return "no carried state depends on it"
    if state >= 0:
        return f"depends on the carried {_state_name(loop, state)}"
    if has_call:
        return "the body calls Python, so that nothing runs ahead"
    return "its generator is also read by what runs step by step" if is_draw else "what it feeds, or its kind, runs step by step"


def _state_name(loop: Any, state: int) -> str:
    """A state as the findings count it."""
    op = loop.op
    outputs = [*op.outer_mitmot_outs(loop), *op.outer_mitsot_outs(loop), *op.outer_sitsot_outs(loop)]
    return f"state output {list(loop.outputs).index(outputs[state])}" if state < len(outputs) else f"shared variable {state - len(outputs)}"


def _operation_name(node: Any) -> str:
    origin = getattr(node, "origin", None)
    return str(node.op) + (f" ({origin[0]}:{origin[1]})" if origin else "")


def _loop_name(node: Any) -> str:
    origin = getattr(node, "origin", None)
    return f"the loop {node.op.name or 'scan_fn'!r}" + (f" ({origin[0]}:{origin[1]})" if origin else "")


def _of_random_variable(fgraph: Any, node: Any, where: tuple[str, ...], passes: tuple[str, ...]) -> Finding:
    name = node.outputs[1].name
    what = (f"{name!r}, " if name else "") + str(node.op)
    origin = getattr(node, "origin", None)
    if origin:
        what += f" ({origin[0]}:{origin[1]})"
    in_place = bool(node.op.destroy_map)
    refusals = () if in_place else _refusals(fgraph, "random_make_inplace", node, node.outputs[0], node.inputs[0], passes)
    return Finding("random variable", what, where, in_place, refusals)


def _of_loop(fgraph: Any, node: Any, where: tuple[str, ...], passes: tuple[str, ...]) -> Iterator[Finding]:
    op, outputs = node.op, list(node.outputs)
    sources = op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_outer_out"]
    states = [*op.outer_mitmot_outs(node), *op.outer_mitsot_outs(node), *op.outer_sitsot_outs(node)]
    for kind, variables in (("state", states), ("generator", op.outer_shared_outs(node))):
        for variable in variables:
            position = outputs.index(variable)
            in_place = position in (op.destroy_map or {})
            source = node.inputs[sources[position]]
            refusals = () if in_place else _refusals(fgraph, "scan_make_inplace", node, variable, source, passes)
            note = "" if in_place or kind == "state" else "the loop works on one copy a call, and draws in place in that"
            label = variable.name or (str(source) if kind == "generator" else f"output {position}")
            yield Finding(kind, f"{label} of {_loop_name(node)}", where, in_place, refusals, note)


def _refusals(fgraph: Any, pass_name: str, node: Any, output: Any, source: Any, passes: tuple[str, ...]) -> tuple[str, ...]:
    """What the graph noted about proposals of this pass for this output: those that name what would be overwritten, or all of
    the node's when none does. A proposal is noted as the text of the node proposed, which differs from this node's in the Op."""
    if pass_name not in passes:
        return (f"the mode does not run {pass_name}",)
    inputs = str(node)[len(str(node.op)):]
    found = [text for reason, proposal, text in fgraph.vetoes
             if reason == pass_name and (proposal == str(output) or proposal.endswith(inputs))]
    naming = [text for text in found if str(source) in text]
    return tuple(dict.fromkeys(naming or found))


def show_versions(file: Any = None) -> None:
    """Print what a report of a bug should have: versions of pyscan, Python, NumPy and what else is there, the machine, and
    which way each distribution is drawn. To a file that is open for text, or to standard output.

    Distributions that were not used so far are compared with the generator's own methods now, which takes some milliseconds.

    >>> import io
    >>> text = io.StringIO()
    >>> show_versions(text)
    >>> [line.split()[0] for line in text.getvalue().splitlines()][:3]
    ['pyscan', 'python', 'numpy']
    """
    import platform

    import numpy

    from pyscan import _core
    from pyscan.config import FLAGS, config
    from pyscan.version import __version__
    out, build = sys.stdout if file is None else file, _core.build()
    rows = [("pyscan", __version__), ("python", sys.version.replace("\n", " ")), ("numpy", numpy.__version__)]
    rows += [(package, _version(package)) for package in ("scipy", "graphviz", "joblib", "arviz", "aesara")]
    library = "with" if build["has_library"] else "without"
    rows += [("built", f"by {build['compiler']} for NumPy {build['numpy']}, {library} its static library")]
    rows += [("machine", platform.platform()), ("processor", _processor())]
    rows += [("kernels", f"{_core.cpu_level()}, of {', '.join(_core.cpu_levels())}")]
    changed = {name: getattr(config, name) for name, row in FLAGS.items() if getattr(config, name) != row[0]}
    rows += [("flags", str(changed or "all as by default")), *_ways_to_draw()]
    for name, value in rows:
        print(f"{name:<10} {value}", file=out)


def _version(package: str) -> str:
    import importlib.metadata
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _ways_to_draw() -> Iterator[tuple[str, str]]:
    from pyscan import selfcheck
    for title, whose, ways in (("draws", "", selfcheck.ways()), ("legacy", "draws of RandomStates ", selfcheck.legacy_ways())):
        for way, meaning in selfcheck.WAYS.items():
            names = [name for name in ways if ways[name] == way]
            if names:
                yield title, f"{whose}by {meaning}: {', '.join(names)}"
        missing = [name for name in ways if ways[name] is None]
        if missing:
            yield title, f"{whose}not at all, as SciPy is not installed: {', '.join(missing)}"


def _processor() -> str:
    import platform
    try:
        with open("/proc/cpuinfo") as file:
            models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        return f"{models[0]} ({len(models)} cores)" if models else platform.processor() or "not known"
    except OSError:
        return platform.processor() or "not known"

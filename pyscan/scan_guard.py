"""Warns of random variables that give the same number in every step of a loop, since nothing carries their generator on.

Before, nobody notices: `scan(lambda: at.random.normal(rng=rng), n_steps=3)` is one number, three times. After, it still is (as
in Aesara), and a PyscanWarning says so. A generator is traced from each draw back to where the step got it. It moves when
the step's updates or states hand on a state that some draw moved; what every step gets as it is does not. A generator that
the step makes itself from a seed is the user's wish, and so is a draw that was made before the loop and is only read in it.

Relies on: scan_op, tensor.random, ifelse, formulas. Relied on by: scan.
"""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from itertools import islice

from pyscan._core import Apply, SharedVariable, Variable, dists
from pyscan.errors import PyscanWarning
from pyscan.graph import ancestors, io_toposort
from pyscan.records import Record
from pyscan.scan_op import Scan
from pyscan.tensor.random import AbstractRNGConstructor, RandomType, RandomVariable, random_generator_type

_PACKAGE = os.path.dirname(__file__)

# Where a generator comes from: a variable that the step was given, and whether a draw moved it on the way.
Source = tuple[Variable, bool]


def _number_of(variable: Variable) -> int:
    """Variables are numbered in the order in which they are made; 0 for one whose `auto_name` somebody changed."""
    digits = variable.auto_name.removeprefix("auto_")
    return int(digits) if digits.isdecimal() else 0


def next_number() -> int:
    """A number that no variable has yet, and below those of all that are made from now on."""
    return _number_of(random_generator_type())


# Tracing generators through one step


class Draw(Record):
    """A random variable of a step: its node, and where its generator comes from (nothing: made in the step). `loop` is the
    inner loop that carries the generator, if one does."""

    node: Apply
    sources: set[Source]
    loop: Scan | None = None


class _Step:
    """One step: `slots` maps each carried generator, as the step gets it, to what the step hands on; `roots` is what it computes."""

    def __init__(self, slots: Mapping[Variable, Variable], roots: Iterable[Variable], given: Iterable[Variable], first: int):
        self.slots = slots
        self.first = first  # variables with lower numbers were made before the step was written
        self.draws: list[Draw] = []
        self._found: dict[Variable, set[Source]] = {}
        self._listed: set = set()
        for node in io_toposort(list(given), [*roots, *slots.values()]):
            self._visit(node)
        self.moving = self._moving_slots()

    def sources(self, generator: Variable) -> set[Source]:
        return self._found.get(generator, {(generator, False)})

    def repeats(self, draw: Draw) -> bool:
        """Whether every step draws from the same state."""
        return bool(draw.sources) and not any(source in self.moving for source, _ in draw.sources)

    def _visit(self, node):
        if isinstance(node.op, RandomVariable) and isinstance(node.inputs[0].type, RandomType):
            sources = self.sources(node.inputs[0])
            self._found[node.outputs[0]] = {(source, True) for source, _ in sources}
            if self._is_new(node):
                self._add(Draw(node, sources))
        elif isinstance(node.op, Scan):
            self._visit_loop(node)
        else:
            for position, output in enumerate(node.outputs):
                if isinstance(output.type, RandomType):
                    self._found[output] = self._handed_on(node, position, output)

    def _add(self, draw: Draw) -> None:
        """Note a draw once: two copies of a loop, one for its path and one for its updates, have the same body."""
        key = draw.node, frozenset(draw.sources), id(draw.loop)
        if key not in self._listed:
            self._listed.add(key)
            self.draws.append(draw)

    def _is_new(self, node) -> bool:
        return _number_of(node.outputs[0]) >= self.first

    def _handed_on(self, node, position, output) -> set[Source]:
        """Sources of a generator that is neither drawn from nor looped over there."""
        from pyscan.ifelse import IfElse  # here, since few programs choose between generators
        if isinstance(node.op, IfElse):
            branches = node.inputs[1 + position], node.inputs[1 + node.op.n_outs + position]
            return self.sources(branches[0]) | self.sources(branches[1])
        if isinstance(node.op, AbstractRNGConstructor) and not self._is_new(node):
            return {(output, False)}
        is_view = position in (node.op.view_map or {})
        generators = [v for v in node.inputs if isinstance(v.type, RandomType)]
        return {(source, moved or not is_view) for v in generators for source, moved in self.sources(v)}

    def _visit_loop(self, node):
        """An inner loop: its body is traced alone, and what the body is given stands for what the node is given."""
        op = node.op
        carried = list(zip(op.inner_shared(), op.inner_shared_outs()))
        body = _traced_body(op)
        given = dict(zip(op.inner_shared(), op.outer_shared(node.inputs)))
        given.update(zip(op.inner_non_seqs(), op.outer_non_seqs(node.inputs)))

        def outside(sources: set[Source]) -> set[Source]:
            reached = body.reached(sources)
            return {(far, moved or far_moved) for near, moved in reached for far, far_moved in self.sources(given.get(near, near))}

        for (inner, _), output in zip(carried, op.outer_shared_outs(node.outputs)):
            self._found[output] = outside({(inner, inner in body.moving)})
        if self._is_new(node):
            for draw in body.draws:
                is_carried = any(source in body.slots for source, _ in draw.sources)
                sources, loop = outside(draw.sources), op if is_carried else draw.loop
                self._add(Draw(draw.node, sources, loop))

    # Carried generators

    def reached(self, sources: set[Source]) -> set[Source]:
        """The sources, and those from which earlier steps made them."""
        found, pending = set(sources), list(sources)
        while pending:
            source, moved = pending.pop()
            if source in self.slots:
                earlier = {(s, moved or m) for s, m in self.sources(self.slots[source])} - found
                found |= earlier
                pending += earlier
        return found

    def _moving_slots(self) -> set[Variable]:
        """The carried generators whose state differs from step to step: a draw stands on the way from one step's state to a
        later one of the same slot, or they are made from such a slot, or anew by the step."""
        moving = {slot for slot, result in self.slots.items() if not self.sources(result) or (slot, True) in self.reached(self.sources(result))}
        return {slot for slot in self.slots if moving & {source for source, _ in self.reached({(slot, False)})}}


def _traced_body(op: Scan) -> _Step:
    """The step of a loop, traced alone: once, however many nodes and loops around them have it."""
    if op.traced is None:
        op.traced = _Step(dict(zip(op.inner_shared(), op.inner_shared_outs())), op.inner_outputs, op.inner_inputs, 0)
    return op.traced


# What the warning says


def _parameter_text(variable) -> str:
    """A parameter as the user wrote it, where that is short."""
    is_short = len(list(islice(ancestors([variable]), 12))) < 12
    from pyscan.formulas import pp  # here, since few programs are warned
    text = pp(variable) if is_short else ""
    return text if 0 < len(text) <= 40 else "..."


def _draw_text(node) -> str:
    draw = node.outputs[1]
    if draw.name is not None:
        return f"random variable {draw.name!r}"
    row = next((row for row in dists() if row["name"] == node.op.name), None)
    names = [parameter.split("=")[0].strip() + "=" for parameter in row["params"].split(",")] if row else []
    params = node.inputs[3:]
    names = names if len(names) == len(params) else [""] * len(params)
    return f"random variable {node.op.name}({', '.join(name + _parameter_text(p) for name, p in zip(names, params))})"


def _message(draw: Draw, loop_name: str) -> str:
    node, loop = draw.node, f"the loop {loop_name!r}"
    where = f" ({node.origin[0]}:{node.origin[1]})" if node.origin else ""
    names = sorted({str(s) for s, _ in draw.sources if s.name is not None or not isinstance(s, SharedVariable)})
    generator = f"its generator{' ' + ', '.join(names) if names else ''}"
    inner = "" if draw.loop is None else f" The inner loop {draw.loop.name!r} carries it: return that scan's updates from the step, too."
    return (
        f"{_draw_text(node)}{where} repeats in every step of {loop}: each step draws from the same state of {generator}, since nothing "
        f"carries it on to the next step.{inner} Draw by a RandomStream, srng.{node.op.name}(...); or return the generator's next "
        "state, draw.owner.outputs[0], from the step: as an update, {rng: next_rng}, or as a state, outputs_info=[rng, None]. If the "
        "repeat is wanted, draw before the loop, or silence pyscan.errors.PyscanWarning with warnings.filterwarnings."
    )


def _user_level() -> int:
    """The `stacklevel`, for a caller of this function's caller's, of the nearest frame that is not pyscan's own."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def repeated_draws(slots, roots, given, first) -> list[Draw]:
    """The draws of a step that see the same state in every step, and of which nobody was told yet.

    `slots` maps the carried generators to the states that the step hands on; `roots` are the variables that it computes, `given` those
    that it gets; what has a number below `first` was made before.
    """
    step = _Step(slots, roots, given, first)
    found = [draw for draw in step.draws if step.repeats(draw) and not getattr(draw.node.tag, "is_known_to_repeat", False)]
    for draw in found:
        draw.node.tag.is_known_to_repeat = True  # copies keep the tag: a loop around this one does not report it again
    return found


def warn_of(draws: Iterable[Draw], loop_name: str) -> None:
    """One PyscanWarning for each draw, at the line of the user's call of scan. The step of an inner loop holds copies of a draw, one
    for its number and one for its next state: these have the same text."""
    for message in dict.fromkeys(_message(draw, loop_name) for draw in draws):
        warnings.warn(message, PyscanWarning, stacklevel=_user_level())

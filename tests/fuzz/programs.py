"""Hypothesis strategies that build whole functions: several loops that feed each other, nested to a depth of three with draws, shared
variables and `until` at each level, the shorthands of scan, generators as states, givens, updates that swap.

``program_cases()`` gives a `Case` as strategies.py does; `LOOPS` has a maker for each kind of loop. A maker gets the `Scene`, adds what
the loop computes to its pool, and the loop's updates to its updates.
"""
import warnings

import numpy as np
from hypothesis import strategies as st

import pyscan
import pyscan.tensor as at
from pyscan.errors import PyscanWarning
from pyscan.graph import clone_replace
from pyscan.maker import leaves
from pyscan.scan import scan_checkpoints, until

from .operations import WIDTH, choose, tame
from .strategies import DTYPES, Body, Case, array, as_state

N_CALLS = 2
BIT_GENERATORS = (np.random.PCG64, np.random.PCG64, np.random.MT19937, np.random.SFC64, np.random.Philox, np.random.PCG64DXSM)
AWKWARD = {"f": (np.nan, np.inf, -np.inf, 1e38, 1e-40, -0.0), "c": (complex(np.nan, 1), complex(np.inf, -np.inf), complex(0, np.nan)), "b": (True,)}
LENGTHS_AT = {1: 7, 2: 5, 3: 4}  # nested loops multiply
LOOPS = []


def loop(function):
    LOOPS.append(function)
    return function


def with_awkward(draw, values):
    """The values, now and then with a NaN, an infinity or the ends of the integers among them."""
    if values.size == 0 or draw(st.integers(0, 3)):
        return values
    values = np.array(values)
    kind = values.dtype.kind
    ends = (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max) if kind in "iu" else AWKWARD[kind]
    values.flat[draw(st.integers(0, values.size - 1))] = draw(st.sampled_from(ends))
    return values


class Scene(Body):
    """The function that is built: what is in scope outside of all loops, and the updates so far."""

    def __init__(self, draw, case, stream, depth):
        super().__init__(draw, case, stream)
        self.depth = depth
        self.updates, self.counts = {}, [draw(st.sampled_from((0, 1, 2, 3, 5, 20, 40)[:LENGTHS_AT[depth]])) for _ in range(N_CALLS)]
        self.n_steps = at.lscalar("n")
        case.inputs.append(self.n_steps)
        for call, count in zip(case.arguments, self.counts):
            call.append(np.asarray(count))

    def argument(self, dtype, shape):
        """A new input, with other values in each call."""
        variable = at.tensor(dtype, shape=(None,) * len(shape))
        self.case.inputs.append(variable)
        for call in self.case.arguments:
            call.append(with_awkward(self.draw, array(self.draw, dtype, shape)))
        return variable

    def rows(self, dtype, row, extra):
        """A new input with a row for each step of the call, and `extra` ones."""
        variable = at.tensor(dtype, shape=(None,) * (1 + len(row)))
        self.case.inputs.append(variable)
        for call, count in zip(self.case.arguments, self.counts):
            call.append(with_awkward(self.draw, array(self.draw, dtype, (count + extra, *row))))
        return variable

    def shared(self, dtype, shape):
        variable = pyscan.shared(np.array(with_awkward(self.draw, array(self.draw, dtype, shape)), order="C"))
        self.case.shared.append(variable)
        return variable

    def generator(self):
        """A new shared generator of one of the kinds."""
        bits = choose(self, *BIT_GENERATORS)(self.draw(st.integers(0, 3)))
        variable = pyscan.shared(choose(self, np.random.Generator, np.random.Generator, np.random.RandomState)(bits))
        self.case.shared.append(variable)
        return variable

    def any_state(self):
        """(initial value, dtype, shape) of a state: an input, a shared variable, a constant, or what was computed before."""
        if self.pool and choose(self, True, False):
            value, shape = self.one_of(self.pool)
            return value, value.dtype, shape
        dtype, shape = choose(self, *DTYPES), choose(self, (), (), (WIDTH,), (1,), (2, WIDTH))
        maker = choose(self, self.argument, self.shared, lambda dtype, shape: at.constant(array(self.draw, dtype, shape)))
        return maker(dtype, shape), dtype, shape


def tensors(case):
    """The shared variables that are arrays, with their shapes."""
    return [(v, np.shape(v.get_value(borrow=True))) for v in case.shared if isinstance(v.type, at.TensorType)]


def condition(body):
    return until(at.gt(tame(body.pick()[0]).sum(), choose(body, 0.0, 1.0, 6.0)))


def inner_count(body):
    """The number of steps of an inner loop: fixed, of the call, or another one in each step of the loop around it."""
    how = choose(body, "fixed", "symbol", "computed")
    if how == "fixed":
        return body.draw(st.integers(0, 3))
    if how == "symbol":
        return at.as_tensor(np.int64(body.draw(st.integers(0, 3)))) + 0
    return at.mod(at.cast(at.abs(tame(body.pick()[0]).sum()), "int64"), 3)


def draws(body, updates):
    """A draw that is added to the pool: of the stream, or of a generator that is handed on by hand."""
    generators = [v for v in body.case.shared if not isinstance(v.type, at.TensorType)]
    if not generators or choose(body, True, False):
        variable = body.stream.normal(tame(body.pick()[0]).sum(), 0.5)
    else:
        rng = choose(body, *generators)
        draw = choose(body, lambda rng: at.random.uniform(0.0, 2.0, rng=rng), lambda rng: at.random.poisson(3.0, rng=rng))
        moved, variable = draw(updates.get(rng, rng)).owner.outputs
        updates[rng] = moved
    body.add(variable, ())


def moves(body, updates):
    """An update of a shared array, of its own dtype and shape."""
    arrays = tensors(body.case)
    if arrays:
        variable, shape = choose(body, *arrays)
        updates[variable] = as_state(body, variable.dtype, shape, updates.get(variable, variable))


def grow(body, updates, depth):
    """What one step of a loop computes, loops within included."""
    for _ in range(body.draw(st.integers(1, 3))):
        body.grow()
    if choose(body, True, False):
        draws(body, updates)
    if choose(body, True, False):
        moves(body, updates)
    if depth > 1:
        nested(body, updates, depth - 1)
        if choose(body, True, False, False):
            nested(body, updates, depth - 1)


def inner_states(body):
    """What the states of an inner loop begin with, as (outputs_info, variable, shape, number of taps), from the pool."""
    for _ in range(body.draw(st.integers(1, 2))):
        value, shape = choose(body, *body.pool) if body.pool else (at.constant(0.5), ())
        if shape and shape[0] > 1 and choose(body, True, False):
            taps = choose(body, [-1, -2], [-2])
            yield {"initial": value, "taps": taps}, value, shape[1:], len(taps)
        else:
            yield value, value, shape, 1


def nested(body, updates, depth):
    """An inner loop with states of several types and a path, perhaps over rows of the pool; its updates go up by hand."""
    states, inner = list(inner_states(body)), Body(body.draw, body.case, body.stream, body.level + 1)
    sequences = [item for item in body.pool if item[1]] if choose(body, True, False) else []
    sequences = [choose(body, *sequences)] if sequences else []
    shapes = [shape[1:] for _, shape in sequences] + [shape for _, _, shape, n in states for _ in range(n)]

    def step(*values):
        mine, past = {}, iter(values[len(sequences):])
        inner.pool = list(body.pool) + list(zip(values, shapes))
        grow(inner, mine, depth)
        outputs = [as_state(inner, value.dtype, shape, [next(past) for _ in range(n)][-1]) for _, value, shape, n in states]
        outputs.append(tame(inner.pick()[0]).sum())
        return (outputs, mine, condition(inner)) if choose(body, True, False, False) else (outputs, mine)

    values, found = pyscan.scan(
        step, sequences=[v for v, _ in sequences], outputs_info=[info for info, *_ in states] + [None], return_list=True,
        n_steps=None if sequences else inner_count(body), go_backwards=choose(body, True, False))
    body.case.notes.append(f"level {inner.level}")
    for value, shape in zip(values, [*(shape for _, _, shape, _ in states), ()]):
        body.add(at.sum(value, axis=0), shape)
    updates.update(found)


def finish(scene, outputs, shapes, updates):
    """Adds what a loop over the call's steps computed to the scene: the sums, the last rows, or the last step's values."""
    for output, shape in zip(outputs, shapes):
        form = choose(scene, "sum", "path", "last", "tail")
        if form == "path":
            scene.case.outputs.append(output)
        elif form == "tail":
            scene.case.outputs.append(output[-2:])
        elif form == "last" and min(scene.counts) > 0:
            scene.add(output[-1], shape)
        else:
            scene.add(at.sum(output, axis=0), shape)
    scene.updates.update(updates)


# -- kinds of loops ----------------------------------------------------------------------------------------------------

@loop
def whole_scan(scene):
    """A scan with sequences, states, paths, updates and loops within, in any direction, strict or not."""
    sequences, arguments = [], []
    for _ in range(scene.draw(st.integers(0, 2))):
        dtype, row = choose(scene, *DTYPES), choose(scene, (), (WIDTH,))
        taps = choose(scene, [0], [-1, 0], [1], [2, 0])
        reach = max(*taps, 0) - min(*taps, 0)
        sequences.append({"input": scene.rows(dtype, row, reach), "taps": taps})
        arguments += [row] * len(taps)
    states = [scene.any_state() for _ in range(scene.draw(st.integers(0, 2)))]
    fixed = tensors(scene.case)
    strict, as_while = choose(scene, True, False), choose(scene, True, False, False)
    body = Body(scene.draw, scene.case, scene.stream)

    def step(*values):
        updates = {}
        body.pool = [] if strict else list(scene.pool)
        for value, shape in zip(values, [*arguments, *(s[2] for s in states), *(shape for _, shape in fixed)]):
            body.add(value, shape)
        grow(body, updates, scene.depth)
        past = values[len(arguments):]
        outputs = [as_state(body, dtype, shape, v) for v, (_, dtype, shape) in zip(past, states)]
        outputs += [tame(body.pick()[0]).sum(), body.one_of(body.pool)[0] + 0]
        return (outputs, updates, condition(body)) if as_while else (outputs, updates)

    outputs, updates = pyscan.scan(
        step, sequences=sequences, outputs_info=[s[0] for s in states] + [None, None], non_sequences=[v for v, _ in fixed], n_steps=scene.n_steps,
        go_backwards=choose(scene, True, False), strict=strict, return_list=True)
    scene.case.outputs.append(choose(scene, lambda path: path, lambda path: path[-1:], lambda path: at.sum(path))(outputs.pop()))
    finish(scene, outputs, [s[2] for s in states] + [()], updates)


@loop
def equal_loops(scene):
    """A loop and its copies: equal in everything, from another start, or going on where the first one ended."""
    start, shape = scene.argument("float64", ()), ()
    counter = scene.shared(choose(scene, "int64", "float32"), ())
    n_steps = choose(scene, 3, 17, scene.n_steps)
    limit = choose(scene, None, 2.5)

    def step(x):
        y = at.tanh(x) + scene.stream.normal() if choose(scene, True, False) else at.sin(x) + counter
        return ([y], {counter: counter + at.cast(1, counter.dtype)}, *([] if limit is None else [until(at.gt(y, limit))]))

    first, updates = pyscan.scan(step, outputs_info=[start], n_steps=n_steps)
    how = choose(scene, "equal", "start", "further", "steps")
    replaced = {"equal": {}, "start": {start: scene.argument("float64", ())}, "further": dict(updates), "steps": {scene.n_steps: scene.n_steps // 2}}[how]
    copies = clone_replace([first, *updates.values()], replaced, copy_inputs_over=True)
    scene.case.notes.append(f"copy {how}")
    for path, moved in ((first, updates.values()), (copies[0], copies[1:])):
        finish(scene, [path], [shape], {})
        if choose(scene, True, False):
            scene.updates.update(zip(updates, moved))


@loop
def shorthands(scene):
    """map, reduce, foldl and foldr with several sequences and outputs, draws and updates among them."""
    kinds = choose(scene, *DTYPES), choose(scene, "float64", "int64", "float32")
    row = choose(scene, (), (WIDTH,))
    sequences = [scene.rows(dtype, row, 0) for dtype in kinds]
    name = choose(scene, "map", "reduce", "foldl", "foldr")
    starts = [] if name == "map" else [scene.any_state() for _ in range(scene.draw(st.integers(1, 3)))]
    body = Body(scene.draw, scene.case, scene.stream)

    def step(*values):
        updates = {}
        body.pool = list(scene.pool)
        for value, shape in zip(values, [row, row] + [s[2] for s in starts]):
            body.add(value, shape)
        grow(body, updates, min(scene.depth, 2))
        if name == "map":
            return [as_state(body, dtype, row, v) for dtype, v in zip(kinds, values)], updates
        return [as_state(body, dtype, shape, v) for v, (_, dtype, shape) in zip(values[2:], starts)], updates

    if name == "map":
        outputs, updates = pyscan.map(step, sequences, go_backwards=choose(scene, True, False))
        finish(scene, outputs, [row, row], updates)
        return
    outputs, updates = getattr(pyscan, name)(step, sequences, [s[0] for s in starts])
    for output, (_, _, shape) in zip(outputs if isinstance(outputs, list) else [outputs], starts):
        scene.add(output, shape)
    scene.updates.update(updates)


@loop
def checkpoints(scene):
    """scan_checkpoints over sequences, with a state and draws."""
    start, dtype, shape = scene.any_state()
    sequence = scene.rows(choose(scene, *DTYPES), (), 0)
    body = Body(scene.draw, scene.case, scene.stream)

    def step(x, s):
        updates = {}
        body.pool = [(x, ()), (s, shape)]
        grow(body, updates, 1)
        return [as_state(body, dtype, shape, s)], updates

    path, updates = scan_checkpoints(step, [sequence], [start], save_every_N=choose(scene, 1, 2, 3, 7), padding=True)
    scene.case.outputs.append(path)
    scene.updates.update(updates)


@loop
def generator_states(scene):
    """A generator that is a state of the loop, and perhaps its own update, beside another state."""
    rng, (start, dtype, shape) = scene.generator(), scene.any_state()
    as_while = choose(scene, True, False)
    body = Body(scene.draw, scene.case, scene.stream)

    def step(rng, s):
        body.pool = list(scene.pool) + [(s, shape)]
        moved, x = at.random.normal(tame(body.pick()[0]).sum(), 0.5, rng=rng).owner.outputs
        body.add(x, ())
        if choose(scene, True, False):
            moved, x = at.random.exponential(2.0, rng=moved).owner.outputs
            body.add(x, ())
        body.grow()
        outputs = [moved, as_state(body, dtype, shape, s)]
        return (outputs, {}, condition(body)) if as_while else (outputs, {})

    (moved, path), updates = pyscan.scan(step, outputs_info=[rng, start], n_steps=choose(scene, scene.n_steps, 4), return_list=True)
    finish(scene, [path], [shape], updates)
    if choose(scene, True, True, False):
        scene.updates[rng] = moved
    elif choose(scene, True, False):
        scene.case.outputs.append(at.random.normal(rng=moved))


# -- the function ------------------------------------------------------------------------------------------------------

def swap(scene):
    """Updates that exchange the values of shared variables of one type, perhaps in a ring of three."""
    dtype, shape = choose(scene, *DTYPES), choose(scene, (), (WIDTH,))
    ring = [scene.shared(dtype, shape) for _ in range(choose(scene, 2, 3))]
    for variable in ring:
        scene.add(variable, shape)
    return dict(zip(ring, ring[1:] + ring[:1]))


def give(scene):
    """An input or a shared variable that is given by an expression of a new input."""
    case = scene.case
    i = scene.draw(st.integers(1, len(case.inputs) - 1)) if len(case.inputs) > 1 else 0
    if i and choose(scene, True, False):
        old, values = case.inputs.pop(i), [call.pop(i) for call in case.arguments]
        new = old.type()
        case.inputs.append(new)
        for call, value in zip(case.arguments, values):
            call.append(value)
        case.givens[old] = at.invert(new) if old.dtype == "bool" else at.cast(new * 2, old.dtype)
    elif tensors(case):
        old, shape = choose(scene, *tensors(case))
        case.givens[old] = at.cast(scene.argument(old.dtype, shape), old.dtype)


@st.composite
def program_cases(draw):
    """Strategy: a Case with one to three loops of any kind, called twice."""
    case = Case(arguments=[[] for _ in range(N_CALLS)])
    scene = Scene(draw, case, at.random.RandomStream(draw(st.integers(0, 5))), draw(st.sampled_from((1, 1, 2, 2, 3))))
    swapped = swap(scene) if choose(scene, True, False, False) else {}
    for _ in range(draw(st.integers(0, 2))):
        shape = choose(scene, (), (WIDTH,))
        scene.add(scene.shared(choose(scene, *DTYPES), shape), shape)
    if choose(scene, True, False):
        scene.generator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyscanWarning)  # draws that are the same in every step are wanted
        for _ in range(draw(st.integers(1, 3))):
            maker = choose(scene, *LOOPS)
            case.notes.append(maker.__name__)
            maker(scene)
            if choose(scene, True, False):
                draws(scene, scene.updates)
            if choose(scene, True, False):
                moves(scene, scene.updates)
    case.outputs += [v for v, _ in scene.pool[-3:]]
    if choose(scene, True, False, False):
        case.outputs.append(choose(scene, *case.outputs, *(v for v, _ in tensors(case))))
    case.shared += [rng for rng, _ in scene.stream.updates()]
    case.updates = list({**scene.updates, **swapped}.items()) if choose(scene, True, True, True, False) else []
    made_outside = set(leaves(case.outputs + [value for _, value in case.updates]))
    case.updates += [(rng, rng.default_update) for rng, _ in scene.stream.updates() if rng.default_update is not None and rng in made_outside]
    if choose(scene, True, False, False):
        give(scene)
    case.again_in = choose(scene, "FAST_RUN", "FAST_COMPILE", "")
    return case

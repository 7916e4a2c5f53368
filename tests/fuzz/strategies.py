"""Hypothesis strategies that build whole scans: taps, several streams, shared and protected inputs, nesting, `until`,
no, one and many steps; now and then something wrong inside, so that errors are compared too.

``scan_cases()`` gives a ``Case``: symbolic inputs, outputs and updates, arguments for two calls, and the shared
variables. A pool of (variable, shape) pairs grows while a body is built; lengths are known while building, so that
bodies are valid unless the strategy wants an error.
"""
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import pyscan
import pyscan.tensor as at
from pyscan.scan import until

from .operations import DTYPES_OF, FORMS, KIND_OF, WIDTH, elementwise, library_function, tame

DTYPES = ("float64", "float64", "float64", "float64", "float32", "float32", "int64", "int64", "int32", "bool", "int8", "int16", "uint8", "uint16",
          "uint32", "uint64", "complex128", "complex64")
MAX_ELEMENTS, MAX_RANK = 48, 3


@dataclass
class Case:
    """A function to be built in several ways, and the arguments to call it with."""

    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    arguments: list = field(default_factory=list)  # two lists of values, one a call
    shared: list = field(default_factory=list)
    givens: dict = field(default_factory=dict)
    again_in: str = ""  # the mode of a function that is pickled and copied too
    notes: list = field(default_factory=list)

    def __repr__(self):
        values = [[np.asarray(v).tolist() for v in call] for call in self.arguments]
        return f"Case({', '.join(self.notes)}; arguments={values})"


def number(draw, dtype):
    """A small number of the dtype (now and then an awkward one)."""
    if dtype == "bool":
        return draw(st.booleans())
    if "int" in dtype:
        return draw(st.integers(0 if dtype.startswith("u") else -3, 5))
    real = draw(st.sampled_from((0.5, 1.0, -1.5, 2.0, 0.25, -0.0, 3.0, 1e-3, 7.0)))
    return complex(real, draw(st.sampled_from((0.0, 1.0, -2.5)))) if KIND_OF[dtype] == "c" else real


def array(draw, dtype, shape):
    """A NumPy array of the dtype and shape, in one of several layouts."""
    choices = np.array([number(draw, dtype) for _ in range(min(4, max(1, int(np.prod(shape)))))], dtype=dtype)
    values = np.array(np.resize(choices, shape), dtype=dtype)
    layout = draw(st.sampled_from(("plain", "plain", "strided", "reversed", "transposed", "read-only", "unaligned", "broadcast"))) if shape else "plain"
    if layout == "read-only":
        values.flags.writeable = False
        return values
    if layout == "unaligned" and values.size:
        view = np.zeros(values.nbytes + 1, dtype="int8")[1:].view(dtype).reshape(shape)
        view[...] = values
        return view
    if layout == "broadcast" and shape[0] > 0:
        return np.broadcast_to(values[:1], shape)
    if layout == "strided":
        wide = np.zeros(shape[:-1] + (2 * shape[-1],), dtype=dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "reversed":
        return np.ascontiguousarray(values[::-1])[::-1]
    if layout == "transposed":
        return np.ascontiguousarray(values.T).T
    return values


class Body:
    """What is in scope while a body is built: numeric variables with their shapes, and the case for new inputs."""

    def __init__(self, draw, case, stream, level=0):
        self.draw, self.case, self.stream, self.level = draw, case, stream, level
        self.pool = []

    def pick(self, *dtypes, beside=()):
        """A variable of one of the dtypes from the pool that broadcasts with the shape `beside`, or a constant."""
        fitting = [item for item in self.pool if (not dtypes or item[0].dtype in dtypes) and can_broadcast(item[1], beside)]
        if fitting and self.draw(st.integers(0, 5)):
            picked = self.one_of(fitting)
        else:
            dtype = self.draw(st.sampled_from(tuple(d for d in DTYPES if not dtypes or d in dtypes)))
            picked = at.constant(np.asarray(number(self.draw, dtype), dtype=dtype)), ()
        self.picked = picked[1]
        return picked

    def one_of(self, items):
        """One of the pool's items, more often one that came late."""
        return self.draw(st.sampled_from(items[-2:] if self.draw(st.booleans()) else items))

    def tensor(self, kinds, shape):
        """A variable of these kinds of dtype: of this rank at least, or of this very shape."""
        rank = shape if isinstance(shape, int) else None
        fitting = [(v, s) for v, s in self.pool if KIND_OF[v.dtype] in kinds and (len(s) >= rank if rank is not None else s == shape)]
        if fitting and self.draw(st.integers(0, 9)):
            return self.one_of(fitting)
        shape = shape if rank is None else (2, WIDTH)[2 - max(rank, 1):] if rank < 3 else (2, 1, WIDTH)
        dtype = self.draw(st.sampled_from(tuple(d for d in DTYPES if KIND_OF[d] in kinds)))
        values = np.array([number(self.draw, dtype) for _ in range(3)], dtype=dtype)
        return at.constant(np.resize(values, shape)), shape

    def add(self, variable, shape):
        assert variable.ndim == len(shape), (variable, variable.ndim, shape)
        self.pool.append((variable, shape))
        return variable, shape

    def grow(self):
        """Add one computed variable to the pool."""
        makers = (arithmetic, elementwise, elementwise, sample, *FORMS, library_function)
        kind = self.draw(st.integers(0, 9))
        maker = makers[kind] if kind < 4 else self.draw(st.sampled_from(makers[4:]))
        variable, shape = maker(self)
        if len(shape) > MAX_RANK or np.prod(shape) > MAX_ELEMENTS:
            variable, shape = at.sum(variable), ()
        self.add(variable, shape)


def can_broadcast(a, b):
    """Whether two shapes broadcast: from the last axis on, lengths are equal or 1."""
    return all(n == m or 1 in (n, m) for n, m in zip(a[::-1], b[::-1]))


def arithmetic(body):
    numeric = ("float64", "float32", "int64", "int32")
    a, sa = body.pick(*numeric)
    b, sb = body.pick(*numeric, beside=sa)
    name = body.draw(st.sampled_from(("add", "sub", "mul", "true_div", "maximum", "minimum")))
    return getattr(at, name)(a, b), np.broadcast_shapes(sa, sb)


def sample(body):
    """A draw of the stream whose parameters may depend on anything; now and then a parameter is bad at run time."""
    name = body.draw(st.sampled_from(
        ("normal", "normal", "uniform", "exponential", "integers", "binomial", "poisson", "bernoulli", "gamma", "beta", "categorical")))
    x, shape = body.pick("float64", "float32")
    positive = at.clip(at.abs(at.switch(at.isnan(x), 0.5, x)), 0.1, 4.0)
    size = body.draw(st.sampled_from((None, None, (WIDTH,), (2, WIDTH), "symbolic"))) if not shape else None
    if size == "symbolic":
        size = (at.as_tensor(np.int64(2)) + 0, WIDTH)
    out_shape = shape if size is None else (2, WIDTH) if len(size) == 2 else (WIDTH,)
    stream = body.stream
    if name == "normal" and body.draw(st.integers(0, 30)) == 0:
        return stream.normal(0.0, x, size=size), out_shape  # negative now and then
    makers = {
        "normal": lambda: stream.normal(at.switch(at.isnan(x), 0.0, x), 0.5, size=size),
        "uniform": lambda: stream.uniform(-positive, positive, size=size),
        "exponential": lambda: stream.exponential(positive, size=size),
        "integers": lambda: stream.integers(0, at.cast(positive * 10, "int64") + 1, size=size),
        "binomial": lambda: stream.binomial(at.cast(positive * 20, "int64"), positive / 4.5, size=size),
        "poisson": lambda: stream.poisson(positive * 4, size=size),
        "bernoulli": lambda: stream.bernoulli(positive / 4.5, size=size),
        "gamma": lambda: stream.gamma(positive, 2.0, size=size),
        "beta": lambda: stream.beta(positive, 1.5, size=size),
        "categorical": lambda: stream.categorical(at.as_tensor([0.2, 0.5, 0.3])),
    }
    return makers[name](), () if name == "categorical" else out_shape


def as_state(body, dtype, shape, previous):
    """An expression of exactly the dtype and shape: a variable of the pool that broadcasts to it, joined to the past."""
    fitting = [(v, s) for v, s in body.pool if len(s) <= len(shape) and all(n in (1, m) for n, m in zip(s[::-1], shape[::-1]))]
    value = body.one_of(fitting)[0] if fitting else at.constant(1.0)
    kind = KIND_OF[dtype]
    if kind == "b":
        return at.cast(at.xor(at.neq(value, 0), previous), "bool")
    if kind in "iu" and KIND_OF[value.dtype] in "iu" and body.draw(st.booleans()):
        return at.cast(value + previous, dtype)  # wraps around
    if kind in "fc" and (kind == "c" or KIND_OF[value.dtype] != "c") and body.draw(st.integers(0, 3)) == 0:
        return at.cast(value + previous, dtype)  # NaN and infinity stay
    if kind == "c":
        damped = at.switch(at.gt(at.abs(value), 1e3), 1.0, at.switch(at.isnan(at.abs(value)), 0.0, value))
        return at.cast(damped + previous * 0.5, dtype)
    value = at.cast(at.real(value) if KIND_OF[value.dtype] == "c" else value, "float64")
    damped = at.clip(at.switch(at.isnan(value), 0.0, value), *((-1e3, 1e3) if kind == "f" else (0, 100) if kind == "u" else (-50, 50)))
    return at.cast(damped + at.cast(previous, "float64") * 0.5, dtype)


def _sequence(draw, case, n_steps):
    dtype, row = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(((), (), (WIDTH,), (2, WIDTH))))
    taps = draw(st.sampled_from(((0,), (0,), (-1, 0), (0, 1), (2,), (1, -1), (-3, 1))))
    reach = max(max(taps), 0) - min(min(taps), 0)
    length = n_steps + reach + draw(st.sampled_from((0, 0, 1, 2)))
    if draw(st.integers(0, 60)) == 0:
        length = max(length - 3, 0)
    variable = at.tensor(dtype, shape=(None,) * (1 + len(row)))
    case.inputs.append(variable)
    for call in case.arguments:
        call.append(array(draw, dtype, (length,) + row))
    return {"input": variable, "taps": list(taps)}, row, taps


def _state(draw, case):
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(((), (), (WIDTH,), (1,), (2, WIDTH), (1, WIDTH), (0,))))
    taps = draw(st.sampled_from(((-1,), (-1,), (-1,), (-2, -1), (-1, -2), (-3,), (-1, -3))))
    past = -min(taps)
    full = shape if taps == (-1,) else (past,) + shape
    kind = draw(st.sampled_from(("input", "input", "constant", "shared")))
    if kind == "constant":
        initial = at.constant(array(draw, dtype, full))
    elif kind == "shared":
        initial = pyscan.shared(np.array(array(draw, dtype, full), order="C"))
        case.shared.append(initial)
    else:
        initial = at.tensor(dtype, shape=(None,) * len(full))
        case.inputs.append(initial)
        for call in case.arguments:
            call.append(array(draw, dtype, full))
    return initial if taps == (-1,) else {"initial": initial, "taps": list(taps)}, dtype, shape, taps


def _fixed(draw, case):
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(((), (WIDTH,), (1,), (WIDTH, WIDTH), (0, WIDTH))))
    if draw(st.booleans()):
        variable = pyscan.shared(np.array(array(draw, dtype, shape), order="C"))
        case.shared.append(variable)
    else:
        variable = at.tensor(dtype, shape=(None,) * len(shape))
        case.inputs.append(variable)
        for call in case.arguments:
            call.append(array(draw, dtype, shape))
    return variable, shape


def _nested(body):
    """An inner loop over the pool, with draws of its own; its updates go up by hand, as in Aesara."""
    draw, case = body.draw, body.case
    start = at.cast(tame(body.pick()[0]).sum(), "float64")
    steps = draw(st.integers(0, 3))
    inner = Body(draw, case, body.stream, body.level + 1)

    def step(x, *_):
        inner.pool = list(body.pool) + [(x, ())]
        for _ in range(draw(st.integers(1, 3))):
            inner.grow()
        return as_state(inner, "float64", (), x)

    values, updates = pyscan.scan(step, outputs_info=[start], n_steps=at.as_tensor(np.int64(steps)) + 0)
    case.notes.append(f"nested {steps}")
    body.add(values.sum(), ())
    return updates


@st.composite
def scan_cases(draw, lengths=(0, 1, 2, 3, 5, 8, 13)):
    """Strategy: a Case with one scan (perhaps with one inside) of one of the lengths, called twice."""
    case = Case(arguments=[[], []])
    n_steps = draw(st.sampled_from(lengths))
    stream = at.random.RandomStream(draw(st.integers(0, 5)))
    sequences = [_sequence(draw, case, n_steps) for _ in range(draw(st.integers(0, 2)))]
    states = [_state(draw, case) for _ in range(draw(st.integers(0, 3)))]
    fixed = [_fixed(draw, case) for _ in range(draw(st.integers(0, 2)))]
    n_paths = draw(st.integers(0 if states else 1, 2))
    case.notes.append(f"steps {n_steps}, taps {[s[3] for s in states]}, dtypes {[s[1] for s in states]}, paths {n_paths}")
    has_until, is_nested = draw(st.integers(0, 3)) == 0, draw(st.integers(0, 4)) == 0
    body = Body(draw, case, stream)

    def step(*arguments):
        values = iter(arguments)
        for _, row, taps in sequences:
            for _ in taps:
                body.add(next(values), row)
        previous = []
        for _, dtype, shape, taps in states:
            past = [body.add(next(values), shape)[0] for _ in taps]
            previous.append(past[0])
        for _, shape in fixed:
            body.add(next(values), shape)
        for _ in range(draw(st.integers(1, 6))):
            body.grow()
        updates = _nested(body) if is_nested else {}
        outputs = [as_state(body, dtype, shape, past) for (_, dtype, shape, _), past in zip(states, previous)]
        outputs += [body.one_of(body.pool)[0] + 0 if body.pool else at.constant(1.0) for _ in range(n_paths)]
        if has_until:
            return outputs, dict(updates), until(at.gt(tame(body.pick()[0]).sum(), 1.0))
        return outputs, dict(updates)

    symbolic = draw(st.sampled_from(("constant", "symbolic"))) if n_steps != 1 else "symbolic"
    steps = n_steps
    if symbolic == "symbolic":
        steps = at.lscalar("n")
        case.inputs.append(steps)
        for call in case.arguments:
            call.append(np.asarray(n_steps))
    outputs, updates = pyscan.scan(
        step, sequences=[s[0] for s in sequences], outputs_info=[s[0] for s in states] + [None] * n_paths,
        non_sequences=[v for v, _ in fixed], n_steps=steps, go_backwards=draw(st.booleans()), return_list=True)
    case.shared += [rng for rng, _ in stream.updates()]
    finish(draw, case, outputs, updates)
    return case


def finish(draw, case, outputs, updates):
    """Choose what of the outputs is read, and whether the updates are given."""
    for output in outputs:
        form = draw(st.sampled_from(("path", "path", "last", "tail", "unused")))
        if form == "last":
            case.outputs.append(output[-1])
        elif form == "tail":
            case.outputs.append(output[-2:])
        elif form == "path":
            case.outputs.append(output)
    if not case.outputs:
        case.outputs.append(outputs[0])
    given = draw(st.sampled_from(("all", "all", "all", "none")))
    case.notes.append(f"updates {given}")
    case.updates = list(updates.items()) if given == "all" else []

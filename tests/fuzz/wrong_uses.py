"""Generates wrong uses, each another: operation (of the package's own tables) x argument x what is wrong with it x where it happens.

A use is (what identifies it, what does it, texts one of which the message must have): the wrong variable's name, or the wrong value.
"""
import inspect
from itertools import product

import numpy as np

import pyscan
import pyscan.tensor as at
from pyscan import _core, function, scan

# What is no tensor, and how a message may show it.
NO_TENSORS = {
    "None": (lambda: None, ["None"]),
    "text": (lambda: "qtext", ["qtext", "str"]),
    "object": (lambda: Anything(), ["Anything"]),
    "dict": (lambda: {"qkey": 1}, ["qkey", "dict"]),
    "function": (lambda: len, ["built-in function len", "builtin_function"]),
    "generator": (lambda: pyscan.shared(np.random.default_rng(1), "qgenerator"), ["qgenerator"]),
}  # fmt: skip
DTYPES = {"b": "bool", "i": "int64", "u": "uint8", "f": "float64", "c": "complex128"}
DEPTHS = ("at the top", "in a step", "in a step of a step")


class Anything:
    def __repr__(self):
        return "Anything()"


def variable(dtype="float64", ndim=1, name="qwrong"):
    return at.TensorType(dtype, (None,) * ndim)(name)


def static(*shape, name="qwrong"):
    return at.TensorType("float64", shape)(name)


# Elementwise operations: kinds of argument and of number, static shapes, counts.


def elementwise():
    for row in _core.scalars():
        op = getattr(at, row["name"], None)
        if op is None or row["name"] in ("second", "identity"):
            continue
        n = 2 if row["n_in"] < 0 else row["n_in"]
        numbers = {kind: dtype for kind, dtype in DTYPES.items() if kind in row["classes"]}
        good = next((numbers[kind] for kind in "fiubc" if kind in numbers))
        for at_position in range(n):
            def args(wrong, at_position=at_position, n=n, good=good):
                return [wrong if i == at_position else variable(good, 1, f"qgood{i}") for i in range(n)]
            for kind, (make, shown) in NO_TENSORS.items():
                yield ("elementwise", row["name"], at_position, kind), (lambda op=op, args=args, make=make: op(*args(make()))), shown
            for kind, dtype in DTYPES.items():
                if kind == "c" and kind not in row["classes"] and getattr(op, "of_complex", None) is None:
                    yield ("elementwise", row["name"], at_position, dtype), (lambda op=op, args=args, dtype=dtype: op(*args(variable(dtype)))), ["qwrong"]
            for ndim in (1, 2) if n > 1 else ():
                yield ("elementwise", row["name"], at_position, "static shape", ndim), (
                    lambda op=op, n=n, i=at_position, ndim=ndim, good=good: op(*[
                        at.TensorType(good, (3 if j == i else 2,) * ndim)("qwrong" if j == i else f"qgood{j}") for j in range(n)])), ["qwrong"]  # fmt: skip
        yield ("elementwise", row["name"], "no arguments"), (lambda op=op: op()), [row["name"], str(op)]
        if row["n_in"] > 0:
            yield ("elementwise", row["name"], "one more"), (lambda op=op, n=n, good=good: op(*[variable(good, 1, f"qwrong{i}") for i in range(n + 1)])), ["qwrong0"]


# Functions with an axis, and functions of one array.

_OTHERS = {"kth": 1, "repeats": 2, "shift": 1, "indices": [0, 1], "splits_size": [1, 1], "n_splits": 2, "condition": [True, False]}
_ARRAYS = ("x", "a", "input", "y", "ar", "arr", "t", "v", "m", "model")


def plain_functions():
    for name in at.__all__:
        function_ = getattr(at, name)
        if inspect.isfunction(function_) and function_.__module__.startswith("pyscan.tensor") and name not in _NO_OPERATIONS:
            yield name, function_, list(inspect.signature(function_).parameters.values())


_NO_OPERATIONS = {"variable", "constant", "extract_constant", "get_scalar_constant_value", "get_vector_length", "make_slice", "is_flat", "divmod"}


def axes():
    for name, function_, parameters in plain_functions():
        names = [p.name for p in parameters]
        if "axis" not in names or names[0] not in (*_ARRAYS, "condition"):
            continue
        for ndim, wrong in product((1, 2, 3), ("ndim", "below", "far", 1.5, "qaxis", "object")):
            axis = {"ndim": ndim + (name in ("expand_dims", "shape_padaxis")), "below": -ndim - 2, "far": ndim + 7, "object": Anything()}.get(wrong, wrong)

            def use(function_=function_, parameters=parameters, ndim=ndim, axis=axis):
                x = variable("float64", ndim)
                required = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "axis"]
                made = function_(*[x if p.name in _ARRAYS else _OTHERS[p.name] for p in required], axis=axis)
                return function([x], made)(np.ones((2,) * ndim))  # some look at the axis when they run
            if all(p.name in (*_ARRAYS, *_OTHERS, "axis") for p in parameters if p.default is p.empty):
                yield ("axis", name, ndim, wrong), use, ["qwrong"]


def arrays():
    for name, function_, parameters in plain_functions():
        required = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        if not required or required[0].name not in _ARRAYS or not all(p.name in (*_ARRAYS, *_OTHERS) for p in required):
            continue
        for kind, (make, shown) in NO_TENSORS.items():
            def use(function_=function_, required=required, make=make):
                return function_(*[make() if i == 0 else variable("float64", 2) if p.name in _ARRAYS else _OTHERS[p.name] for i, p in enumerate(required)])
            yield ("array", name, kind), use, shown


def casts():
    for dtype, ndim, wrong in product(("bool", "int8", "float32", "complex64"), (0, 1, 3), ("qdtype", 3.5, "object", "U3")):
        dtype_wrong = Anything() if wrong == "object" else wrong
        yield ("cast", dtype, ndim, wrong), (lambda d=dtype, n=ndim, w=dtype_wrong: at.cast(variable(d, n), w)), ["qwrong"]
        yield ("astype", dtype, ndim, wrong), (lambda d=dtype, n=ndim, w=dtype_wrong: variable(d, n).astype(w)), ["qwrong"]
    for dtype, ndim, real in product(("complex64", "complex128"), (0, 1, 2), ("int8", "int64", "uint8", "float32", "float64")):
        yield ("cast", dtype, ndim, real), (lambda d=dtype, n=ndim, r=real: at.cast(variable(d, n), r)), ["qwrong"]


def shapes():
    for name, fill in product(("zeros", "ones", "empty", "full", "alloc", "broadcast_to", "reshape"), range(3)):
        make = {"full": lambda s: at.full(s, 1.0), "alloc": lambda s: at.alloc(1.0, *s), "broadcast_to": lambda s: at.broadcast_to(at.dscalar(), s),
                "reshape": lambda s: at.dvector("v").reshape(s)}.get(name, getattr(at, name, None))  # fmt: skip
        for kind, (wrong, shown) in {
            "float": (lambda: at.dscalar("qwrong"), ["qwrong"]), "matrix": (lambda: at.lmatrix("qwrong"), ["qwrong"]),
            "text": NO_TENSORS["text"], "object": NO_TENSORS["object"], "generator": NO_TENSORS["generator"], "number": (lambda: 2.25, ["2.25"]),
        }.items():  # fmt: skip
            yield ("shape", name, kind, fill), (lambda make=make, wrong=wrong, fill=fill: make((*[2] * fill, wrong()))), shown


def indices():
    for ndim, wrong in product((0, 1, 2, 3), ("many", "float", "text", "object", "float variable", "complex variable", "mask", "ellipses", "slice", "None text")):
        def use(ndim=ndim, wrong=wrong):
            x = variable("float64", ndim)
            index = {"many": (0,) * (ndim + 1), "float": 1.5, "text": "a", "object": Anything(), "float variable": at.dscalar("qindex"), "complex variable": at.zvector("qindex"),
                     "mask": at.TensorType("bool", (None,) * (ndim + 1))("qmask"), "ellipses": (..., ...), "slice": slice("a", None), "None text": (None, "a")}[wrong]  # fmt: skip
            return x[index]
        yield ("index", ndim, wrong), use, ["qwrong"]
        if wrong not in ("mask",):
            yield ("set", ndim, wrong), (lambda use=use: at.set_subtensor(use(), 1.0)), ["qwrong"]
    for ndim, value in product((1, 2, 3), ("rank", "text", "None", "generator")):
        def use(ndim=ndim, value=value):
            given = variable("float64", ndim + 1, "qvalue") if value == "rank" else NO_TENSORS[value][0]()
            return at.set_subtensor(variable("float64", ndim, "qtarget")[0], given)
        yield ("set value", ndim, value), use, {"rank": ["qvalue"], **{k: v[1] for k, v in NO_TENSORS.items()}}[value]


def linear_algebra():
    for module, name in [(at.nlinalg, n) for n in ("matrix_inverse", "det", "eigh", "svd", "qr", "pinv")] + [(at.slinalg, n) for n in ("cholesky", "solve", "solve_triangular")]:
        op = getattr(module, name)
        n = 2 if name.startswith("solve") else 1
        for at_position in range(n):
            for ndim in (0, 1) if at_position == 0 else (0,):
                yield ("linear algebra", name, at_position, ndim), (
                    lambda op=op, n=n, i=at_position, ndim=ndim: op(*[variable("float64", ndim if j == i else 2, "qwrong" if j == i else "qgood") for j in range(n)])), ["qwrong"]  # fmt: skip
            for kind, (make, shown) in NO_TENSORS.items():
                yield ("linear algebra", name, at_position, kind), (
                    lambda op=op, n=n, i=at_position, make=make: op(*[make() if j == i else variable("float64", 2, "qgood") for j in range(n)])), shown  # fmt: skip


# Random draws.


def draws():
    for row in _core.dists():
        name, parameters = row["name"], row["params"].split(", ")
        if name == "choice" or not hasattr(at.random, name):  # its parameters stand around its size
            continue
        for i, kind in product(range(len(parameters)), ("text", "object", "function", "dict", "generator")):
            make, shown = NO_TENSORS[kind]

            def use(name=name, n=len(parameters), i=i, make=make):
                return getattr(at.random.RandomStream(1), name)(*[make() if j == i else 0.5 for j in range(n)])
            yield ("draw", name, i, kind), use, shown
        for wrong, shown in ((1.5, ["1.5", "size"]), ("qsize", ["qsize", "size"]), (at.lmatrix("qwrong"), ["qwrong"]), (Anything(), ["Anything"])):
            def use(name=name, parameters=parameters, wrong=wrong):
                return getattr(at.random.RandomStream(1), name)(*[0.5] * len(parameters), size=wrong)
            yield ("draw", name, "size", str(wrong)), use, shown
        for wrong in ("qrng", Anything(), at.dvector("qwrong")):
            yield ("draw", name, "rng", str(wrong)), (
                lambda name=name, parameters=parameters, wrong=wrong: getattr(at.random, name)(*[0.5] * len(parameters), rng=wrong)), [str(wrong)]  # fmt: skip


# Scans, functions and shared variables.


def scans():
    for i, (kind, (make, shown)) in product(range(3), NO_TENSORS.items()):
        def values(make=make, i=i):
            return [make() if j == i else at.dvector(f"qgood{j}") for j in range(i + 1)]
        yield ("scan", "sequences", i, kind), (lambda values=values: scan(lambda *a: a[0], sequences=values())), [*shown, f"sequences[{i}]"]
        if kind not in ("None", "generator", "dict"):
            yield ("scan", "outputs_info", i, kind), (lambda values=values: scan(lambda *a: list(a), outputs_info=values(), n_steps=3)), [*shown, f"outputs_info[{i}]"]
        if kind != "generator":
            yield ("scan", "non_sequences", i, kind), (lambda values=values: scan(lambda *a: at.ones(()), non_sequences=values(), n_steps=3)), [*shown, f"non_sequences[{i}]"]
    for kind, (make, shown) in NO_TENSORS.items():
        if kind != "None":
            yield ("scan", "n_steps", kind), (lambda make=make: scan(lambda: at.ones(()), n_steps=make())), ["n_steps"]
            yield ("scan", "fn", kind), (lambda make=make: scan(make() if kind != "function" else 3, n_steps=3)), ["`fn`", *shown]
            yield ("scan", "result", kind), (lambda make=make: scan(lambda: make(), n_steps=3)), ["`fn`", *shown]
    for taps, ndim in product(([0], [1], [-1, -1], [-1, 0], [-1.5], ["a"], [None], [-2, 3]), (1, 2)):
        yield ("scan", "taps", str(taps), ndim), (
            lambda taps=taps, ndim=ndim: scan(lambda *a: a[0], outputs_info=[{"initial": variable("float64", ndim), "taps": taps}], n_steps=3)), ["qwrong"]  # fmt: skip
    for taps in ([0.5], ["a"], [None], [0, 1.5], [Anything()]):
        yield ("scan", "sequence taps", str(taps)), (lambda taps=taps: scan(lambda *a: a[0], sequences=[{"input": variable(), "taps": taps}])), ["qwrong"]
    for low, high, ndim in product(("int8", "int64", "float32", "bool"), ("float64", "complex128"), (0, 1, 2)):
        yield ("scan", "state dtype", low, high, ndim), (
            lambda low=low, high=high, ndim=ndim: scan(lambda a: at.cast(a, high), outputs_info=[variable(low, ndim)], n_steps=3)), ["qwrong"]  # fmt: skip
    for dtype, ndim, more in product(("int64", "float64", "float32"), (0, 1), (1, 2)):
        yield ("scan", "state rank", dtype, ndim, more), (
            lambda dtype=dtype, ndim=ndim, more=more: scan(lambda a: at.shape_padleft(at.shape_padleft(a, more), 0), outputs_info=[variable(dtype, ndim)], n_steps=3)), ["qwrong"]  # fmt: skip
    for dtype in ("float32", "float64", "complex64", "complex128"):
        yield ("scan", "n_steps", dtype), (lambda dtype=dtype: scan(lambda a: a, outputs_info=[at.dscalar("s")], n_steps=variable(dtype, 0))), ["qwrong"]
    for dtype, count in product(("float64", "int64"), (2, 3, 5)):
        yield ("scan", "outputs", dtype, count), (
            lambda dtype=dtype, count=count: scan(lambda a: [a] * count, outputs_info=[variable(dtype, 0)], n_steps=3)), ["outputs_info"]  # fmt: skip


def functions():
    for dtype, ndim in product(("bool", "int8", "int64", "float32", "float64", "complex128"), (0, 1, 2)):
        def x(dtype=dtype, ndim=ndim):
            return variable(dtype, ndim)
        yield ("function", "unused", dtype, ndim), (lambda x=x: function([x()], at.ones(()))), ["qwrong"]
        yield ("function", "missing", dtype, ndim), (lambda x=x: function([], at.neq(x(), 0))), ["qwrong"]
        yield ("function", "twice", dtype, ndim), (lambda x=x: (lambda v: function([v, v], v))(x())), ["qwrong"]
        yield ("function", "target", dtype, ndim), (lambda x=x: (lambda v: function([v], v, updates={v: v}))(x())), ["qwrong"]
        yield ("function", "own given", dtype, ndim), (lambda x=x: (lambda v: function([v], v, givens={v: v.copy()}))(x())), ["qwrong"]
        yield ("function", "list", dtype, ndim), (lambda x=x: (lambda v: function(v, v))(x())), ["qwrong"]
        for kind, (make, shown) in NO_TENSORS.items():
            if kind not in ("None", "generator"):
                yield ("function", "given", dtype, ndim, kind), (lambda x=x, make=make: (lambda v: function([], at.neq(v, 0), givens={v: make()}))(x())), ["qwrong"]
        for other, rank in product(("int64", "complex128"), (0, 1, 2, 3)):
            if rank != ndim or dtype != other:
                yield ("function", "update", dtype, ndim, other, rank), (
                    lambda d=dtype, n=ndim, o=other, r=rank: (lambda v: function([v], v, updates={pyscan.shared(np.zeros((2,) * n, d), "qshared"): v}))(variable(o, r)))\
                    , (["qwrong"] if (rank != ndim or np.result_type(dtype, other) != dtype) else None)  # fmt: skip
            if rank > ndim:
                yield ("function", "given rank", dtype, ndim, other, rank), (
                    lambda x=x, o=other, r=rank: (lambda v: function([], at.neq(v, 0), givens={v: variable(o, r, "qgiven")}))(x())), ["qwrong", "qgiven"]  # fmt: skip
    for option, value in product(("on_unused_input", "mode", "updates", "no_default_updates"), ("qvalue", 3, 3.5, "object")):
        given = Anything() if value == "object" else value
        yield ("function", option, value), (lambda option=option, given=given: function([variable()], at.ones(()), **{option: given})), [str(given), option, "qwrong"]


VALUES = {
    "text": "qtext", "None": None, "object": Anything(), "complex": np.complex128(1j), "list of texts": ["a", "b"], "ragged": [[1.0], [1.0, 2.0]],
    "rank 0": np.float64(1.5), "rank 1": np.ones(2) / 2, "rank 2": np.ones((2, 2)) / 2, "rank 3": np.ones((2, 2, 2)) / 2, "nan": np.array(np.nan),
}  # fmt: skip


def calls():
    for dtype, ndim in product(("bool", "int8", "int64", "float32", "float64", "complex128"), (0, 1, 2)):
        def f(dtype=dtype, ndim=ndim):
            v = variable(dtype, ndim)
            return function([at.dscalar("qfirst"), v], v, on_unused_input="ignore")
        for kind, value in VALUES.items():
            fits = ndim == np.ndim(value) and dtype in ("float64", "complex128") if isinstance(value, (np.ndarray, np.generic)) and kind != "complex" else False
            fits = fits or kind == "complex" and dtype == "complex128" and ndim == 0 or dtype == "float32" and kind in ("rank 0", "nan") and ndim == 0
            if not fits:
                yield ("call", dtype, ndim, kind), (lambda f=f, value=value: f()(1.0, value)), ["qwrong", "index 1"]
        yield ("call", dtype, ndim, "too few"), (lambda f=f: f()(1.0)), ["qwrong"]
        yield ("call", dtype, ndim, "too many"), (lambda f=f, dtype=dtype, ndim=ndim: f()(1.0, np.zeros((2,) * ndim, dtype), 3)), ["Too many parameter"]
        yield ("call", dtype, ndim, "unknown keyword"), (lambda f=f, dtype=dtype, ndim=ndim: f()(1.0, np.zeros((2,) * ndim, dtype), qother=3)), ["qother"]


# At run time: each in a step of its own, at a depth of its own.


def looped(step, depth, k):
    """`step(i)` in loops: with the step's number, which reaches the wrong one at step k."""
    count = at.arange(k + 3)
    if depth == 0:
        return step(at.as_tensor_variable(k))
    inner = scan(step, sequences=[count])[0]
    return inner if depth == 1 else scan(lambda: scan(step, sequences=[count])[0], n_steps=2)[0]


def steps():
    x, m = at.dvector("qwrong"), at.dmatrix("qmatrix")
    wrong = {
        "index": (lambda k: lambda i: x[i - k + 5], lambda k: [np.ones(5)]),
        "negative index": (lambda k: lambda i: x[k - i - 6 - (i * 0)] if k == 0 else x[-i - 6 + k], lambda k: [np.ones(5)]),
        "set": (lambda k: lambda i: at.set_subtensor(x[i - k + 5], 1.0), lambda k: [np.ones(5)]),
        "set range": (lambda k: lambda i: at.set_subtensor(at.zeros((9,))[: i + 2], x), lambda k: [np.ones(k + 1 if k else 4)]),
        "reshape": (lambda k: lambda i: x.reshape((i + 7, 2)), lambda k: [np.ones(5)]),
        "take": (lambda k: lambda i: x[at.stack([i - k + 5, i * 0])], lambda k: [np.ones(5)]),
        "inverse": (lambda k: lambda i: at.nlinalg.matrix_inverse(at.outer(x, x) * at.cast(i - k, "float64")), lambda k: [np.ones(1)]),
        "cholesky": (lambda k: lambda i: at.slinalg.cholesky(at.outer(x, x) * at.cast(k - i, "float64")), lambda k: [np.ones(1)]),
        "solve": (lambda k: lambda i: at.slinalg.solve(at.outer(x, x) * at.cast(i - k, "float64"), x), lambda k: [np.ones(1)]),
        "division": (lambda k: lambda i: at.sum(x) + 7 // (i - k + at.cast(x[0], "int64")), lambda k: [np.zeros(1)]),
        "concatenation": (lambda k: lambda i: at.concatenate([at.zeros((2, i + 1)), at.shape_padleft(x)], axis=0).sum(), lambda k: [np.ones(k + 9)]),
        "product": (lambda k: lambda i: at.dot(at.zeros((i + 30,)), x), lambda k: [np.ones(5)]),
        "specified shape": (lambda k: lambda i: at.specify_shape(x[: i + 1], (x.shape[0],)).sum(), lambda k: [np.ones(k + 9)]),
        "assertion": (lambda k: lambda i: at.Assert("qwrong came")(at.sum(x), i < k), lambda k: [np.ones(2)]),
    }  # fmt: skip
    for name, k, depth, mode in product(wrong, (0, 1, 2, 17), range(3), ("FAST_RUN", "FAST_COMPILE")):
        make, values = wrong[name]
        yield ("step", name, k, depth, mode), (lambda make=make, values=values, k=k, depth=depth, mode=mode: function([x], looped(make(k), depth, k), mode=mode)(*values(k))), ["qwrong"]
    for op, k, mode in product(("add", "mul", "maximum", "arctan2", "lt", "eq", "pow", "true_div", "logaddexp", "switch"), (0, 1, 5), ("FAST_RUN", "FAST_COMPILE")):
        def step(i, op=op):
            part = at.ones((i + 30,))
            return at.sum(at.switch(x, part, part) if op == "switch" else getattr(at, op)(part, x))
        yield ("step", "shapes", op, k, mode), (lambda step=step, k=k, mode=mode: function([x], looped(step, 1, k), mode=mode)(np.ones(7))), ["qwrong"]


def domains():
    """Parameters that the generator's own method refuses: at step k of a loop we must refuse them too."""
    for row in _core.dists():
        name, parameters = row["name"], row["params"].split(", ")
        method = getattr(np.random.default_rng(1), {"random": ""}.get(name, name), None)
        if method is None or name == "choice" or not hasattr(at.random, name):
            continue
        for i, wrong in product(range(len(parameters)), (-1.0, np.nan)):
            values = [wrong if j == i else 0.5 for j in range(len(parameters))]
            try:
                method(*values)
            except (ValueError, OverflowError):
                for k, mode in product((0, 2, 9), ("FAST_RUN", "FAST_COMPILE")):
                    def use(name=name, n=len(parameters), i=i, wrong=wrong, k=k, mode=mode):
                        x = at.dvector("qwrong")
                        stream = at.random.RandomStream(1)
                        drawn, updates = scan(lambda p: getattr(stream, name)(*[p if j == i else 0.5 for j in range(n)]), sequences=[x])
                        return function([x], drawn, updates=updates, mode=mode)([0.5] * k + [wrong, 0.5])
                    yield ("domain", name, i, str(wrong), k, mode), use, ["qwrong"]
            except TypeError:
                pass


FAMILIES = (elementwise, axes, arrays, casts, shapes, indices, linear_algebra, draws, scans, functions, calls, steps, domains)


def all_uses():
    for family in FAMILIES:
        for identity, use, texts in family():
            if texts is not None:
                yield identity, use, texts

"""Wrong uses of scan, function, tensors, random streams and shared variables: the documented class and first words, and a message
that names the argument which the user gave.

Each row of the table is one wrong use, written over variables whose names are drawn at random; it happens at the top, in the step
of a loop, or in the step of a loop within a loop. PYSCAN_FUZZ sets how many uses are generated (300 in the default run).
"""
import os
import re
import string

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import In, function, scan
from pyscan.errors import MissingInputError, UnusedInputError
from pyscan.scan_step import until

FILE = f"file {__file__}, line"  # the user's line, as errors of a call tell it
N_USES = int(os.environ.get("PYSCAN_FUZZ", "300"))


class Names:
    """Variables with names that no message holds by chance."""

    def __init__(self, random):
        self.random, self.given = random, set()
        self.x, self.m, self.s = at.dvector(self.word()), at.dmatrix(self.word()), at.dscalar(self.word())
        self.i, self.z, self.f = at.lscalar(self.word()), at.zvector(self.word()), at.fvector(self.word())
        self.b = at.vector(self.word(), dtype="bool")
        self.two, self.three = at.TensorType("float64", (2,))(self.word()), at.TensorType("float64", (3,))(self.word())
        self.shared = pyscan.shared(np.zeros(3), self.word())
        self.stream = at.random.RandomStream(1)
        self.n = int(random.integers(3, 9))

    def word(self):
        while True:
            word = "q" + "".join(self.random.choice(list(string.ascii_lowercase), size=6))
            if word not in self.given:
                self.given.add(word)
                return word


def repeat(v, fn, **kwargs):
    return scan(fn, n_steps=v.n, **kwargs)


# What is wrong; the class; the first words (a regular expression); which texts the message has besides. `{x}` is the name of v.x.
WHEN_BUILT = [
    # scan: sequences
    (lambda v: scan(lambda a: a, sequences=[[1, 2, 3]]), AttributeError, "'list' object has no attribute 'shape'", ["sequences[0]", "[1, 2, 3]"]),
    (lambda v: scan(lambda a, b: a, sequences=[v.x, "abc"]), AttributeError, "'str' object has no attribute 'shape'", ["sequences[1]", "'abc'"]),
    (lambda v: scan(lambda a: a, sequences=[v.s]), IndexError, "too many indices for array", ["sequences[0]", "{s}"]),
    (lambda v: scan(lambda a: a, sequences=[{"taps": [0]}]), KeyError, "", ["sequences[0]", "'input'"]),
    (lambda v: scan(lambda a: a, sequences=[{"input": v.x, "taps": [0.5]}]), TypeError, "Expected an integer", ["sequences[0]", "{x}", "0.5"]),
    # scan: states
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"initial": v.x, "taps": -1}]), TypeError, r"object of type 'int' has no len\(\)", ["outputs_info[0]", "{x}"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"taps": [-1]}]), ValueError, "If you are using slices of an output you need to provide a initial state", ["'taps': [-1]"]),
    (lambda v: repeat(v, lambda a, b: a, outputs_info=[{"initial": v.x, "taps": [-2, -2]}]), ValueError, "All the taps must be different", ["{x}", "-2"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"initial": v.x, "taps": [1]}]), ValueError, "All the tap values must be smaller than 0", ["{x}", "1"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"initial": v.x, "taps": [-1.5]}]), TypeError, "Expected an integer", ["outputs_info[0]", "{x}", "-1.5"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"initial": v.s, "taps": [-2]}]), IndexError, "too many indices for array", ["outputs_info[0]", "{s}"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=["abc"]), NotImplementedError, "Cannot convert 'abc' to a tensor variable", ["outputs_info[0]"]),
    (lambda v: repeat(v, lambda a: a, outputs_info=[{"init": v.s}]), ValueError, "", ["outputs_info[0]", "'init'", "'initial'"]),
    (lambda v: repeat(v, lambda a: (a, a), outputs_info=[v.s]), ValueError, "Please provide None as outputs_info for any output", ["1 element(s)", "2 output(s)"]),
    (lambda v: repeat(v, lambda a, b: a, outputs_info=[v.s, v.s]), ValueError, "Please provide None as outputs_info for any output", ["2 element(s)", "1 output(s)"]),
    (lambda v: repeat(v, lambda a: a * 0.5, outputs_info=[v.i]), ValueError, "When compiling the inner function of scan", ["outputs_info[0]", "{i}", "int64", "float64"]),
    (lambda v: repeat(v, lambda a: a + v.x, outputs_info=[v.s]), ValueError, "When compiling the inner function of scan", ["outputs_info[0]", "{s}", "1 dimension(s)"]),
    # scan: fn
    (lambda v: repeat(v, lambda a, b: a, outputs_info=[v.s]), TypeError, ".* missing 1 required positional argument: 'b'", ["`fn`", "1 argument(s)", "{s}"]),
    (lambda v: repeat(v, 3, outputs_info=[v.s]), TypeError, "'int' object is not callable", ["`fn`"]),
    (lambda v: repeat(v, lambda a: 3.25, outputs_info=[v.s]), ValueError, "The return value of your scan lambda expression may only be made of", ["`fn`", "3.25"]),
    (lambda v: repeat(v, lambda a: None, outputs_info=[v.s]), ValueError, "The return value of your scan lambda expression may only be made of", ["`fn`", "None"]),
    (lambda v: repeat(v, lambda a: (until(a > 1), a), outputs_info=[v.s]), ValueError, "Scan cannot parse the return value of your lambda", ["{s}"]),
    (lambda v: repeat(v, lambda a: (a, until(a > 1)), outputs_info=[v.x]), AssertionError, "", ["until", "1 dimension(s)"]),
    (lambda v: repeat(v, lambda a: (a, {v.x: v.x + 1}), outputs_info=[v.s]), TypeError, "update target must be a SharedVariable", ["{x}"]),
    (lambda v: repeat(v, lambda a: (a, {v.shared: v.s}), outputs_info=[v.s]), TypeError, "An update must have the same type as the original shared", ["{shared}", "{s}"]),
    # scan: the rest
    (lambda v: scan(lambda a: a, outputs_info=[v.s]), ValueError, "No information about the number of steps provided", ["n_steps"]),
    (lambda v: scan(lambda a: a + 1, outputs_info=[v.s], n_steps=3.5), TypeError, "Shapes must be scalar integers", ["n_steps", "float32"]),
    (lambda v: scan(lambda: v.x + 1, n_steps=3.5), ValueError, "A scalar int is required for output", ["n_steps", "3.5"]),
    (lambda v: scan(lambda a: a + 1, outputs_info=[v.s], n_steps=v.s), ValueError, " n_steps must be an int. dtype provided is float64", ["{s}"]),
    (lambda v: scan(lambda a: a + 1, outputs_info=[v.s], n_steps=True), TypeError, "Cannot cast True or False as a tensor variable", ["n_steps"]),
    (lambda v: scan(lambda a: a + 1, outputs_info=[v.s], n_steps="3"), NotImplementedError, "Cannot convert '3' to a tensor variable", ["n_steps"]),
    (lambda v: repeat(v, lambda a, k: a, outputs_info=[v.s], non_sequences=["k"]), NotImplementedError, "Cannot convert 'k' to a tensor variable", ["non_sequences[0]"]),
    (lambda v: repeat(v, lambda a: a + v.shared.sum(), outputs_info=[v.s], strict=True), MissingInputError, "Scan is missing inputs", ["{shared}"]),
    # function
    (lambda v: function([v.x, v.s], v.x + 1), UnusedInputError, "aesara.function was asked to create a function", ["index 1", "{s}"]),
    (lambda v: function([v.x, v.s], v.x, on_unused_input="foo"), ValueError, "Invalid value for keyword on_unused_input", ["'foo'"]),
    (lambda v: function([v.x, v.x], v.x + 1), UnusedInputError, "Variable .* is used twice in inputs", ["{x}", "indices 0 and 1"]),
    (lambda v: function([v.shared], v.shared + 1), TypeError, "Cannot use a shared variable", ["{shared}"]),
    (lambda v: function([v.x], 3), TypeError, "Outputs must be aesara Variable or Out instances", ["3", "int"]),
    (lambda v: function([v.x], v.x + v.s), MissingInputError, "", ["{s}"]),
    (lambda v: function([v.x], v.x, updates={v.x: v.x + 1}), TypeError, "update target must be a SharedVariable", ["{x}"]),
    (lambda v: function([v.x], v.x, updates=[(v.shared, v.x), (v.shared, v.x + 1)]), ValueError, "this shared variable already has an update expression", ["{shared}"]),
    (lambda v: function([v.s], v.s, updates={v.shared: v.s}), TypeError, "An update must have the same type as the original shared", ["{shared}", "{s}"]),
    (lambda v: function([v.x], v.x, updates=3), TypeError, "The `updates` parameter must be", ["`updates`"]),
    (lambda v: function([v.x], v.x, givens={v.x: v.x + 1}), RuntimeError, "You are trying to replace variable", ["{x}", "`givens`"]),
    (lambda v: function([v.x], v.x, givens={"a": v.x}), TypeError, "`givens` keys must be Variables", []),
    (lambda v: function([v.s], v.x * v.s, givens={v.x: v.s}), TypeError, "Cannot convert Type", ["{s}"]),
    (lambda v: function([v.x], v.x, mode="FOO"), ValueError, "No predefined mode exist for string", ["FOO"]),
    (lambda v: function([In(v.x, mutable=True, borrow=False)], v.x), ValueError, "Symbolic input for variable", ["{x}", "mutable=True"]),
    # tensors
    (lambda v: bool(v.x > 1), TypeError, "Variables do not support boolean operations", ["at.switch"]),
    (lambda v: list(v.x), ValueError, "Length of .* cannot be determined", ["{x}", "pyscan.scan"]),
    (lambda v: list(v.m), TypeError, "TensorType does not support iteration", []),
    (lambda v: np.array(v.x), TypeError, ".* is symbolic, so NumPy cannot make an array of it", ["{x}"]),
    (lambda v: np.linalg.eigvals(v.m), TypeError, ".* is symbolic, and there is no counterpart for it of NumPy's eigvals", ["{m}"]),
    (lambda v: len(v.x), TypeError, r"object of type 'TensorVariable' has no len\(\)", []),
    (lambda v: v.x + None, TypeError, r"unsupported operand type\(s\) for \+: 'TensorVariable' and 'NoneType'", []),
    (lambda v: v.two + v.three, ValueError, r"Incompatible Elemwise input shapes \[\(2,\), \(3,\)\]", ["{two}", "{three}"]),
    (lambda v: at.sum(v.m, axis=2), np.exceptions.AxisError if hasattr(np, "exceptions") else np.AxisError, r"axis \(2,\) is out of bounds", ["{m}"]),
    (lambda v: v.x[1.5], TypeError, "Expected an integer", ["1.5", "{x}"]),
    (lambda v: v.x[v.s], TypeError, "Expected an integer", ["{s}", "{x}"]),
    (lambda v: v.x[0, 1], IndexError, "too many indices for array", ["(0, 1)", "{x}"]),
    (lambda v: v.x["a"], TypeError, "Expected an integer", ["'a'", "{x}"]),
    (lambda v: v.m[..., ..., 0], IndexError, "an index can only have a single Ellipsis", ["{m}"]),
    (lambda v: v.x[v.m > 0], IndexError, "too many indices for array", ["{x}"]),
    (lambda v: v.x & 1, TypeError, "input to a BitOp must have type", ["{x}", "float64"]),
    (lambda v: ~v.x, TypeError, "input to a BitOp must have type", ["{x}", "float64"]),
    (lambda v: -v.b, TypeError, "bool input not supported", ["{b}"]),
    (lambda v: at.round(v.i), TypeError, "only float type are supported", ["{i}"]),
    (lambda v: at.arctan2(v.z, v.z), TypeError, "complex argument not supported", ["{z}"]),
    (lambda v: at.concatenate([v.x, v.m]), TypeError, "Only tensors with the same number of dimensions can be joined", ["{x}", "{m}"]),
    (lambda v: at.slinalg.cholesky(v.x), TypeError, "Cholesky takes a matrix", ["{x}"]),
    (lambda v: at.nlinalg.det(v.s), TypeError, "Det takes a matrix", ["{s}"]),
    (lambda v: at.as_tensor_variable("a"), NotImplementedError, "Cannot convert 'a' to a tensor variable", []),
    (lambda v: at.zeros((v.s,)), TypeError, "Shapes must be scalar integers", ["{s}"]),
    # random streams
    (lambda v: v.stream.normal(size=3.0), TypeError, "Parameter size must be None, an integer, or a sequence with integers", []),
    (lambda v: v.stream.normal(size="a"), NotImplementedError, "Cannot convert 'a' to a tensor variable", []),
    (lambda v: v.stream.normal("a"), NotImplementedError, "Cannot convert 'a' to a tensor variable", []),
    (lambda v: v.stream.normal(rng=1), ValueError, "The `rng` option cannot be used", ["`rng`"]),
    (lambda v: v.stream.foo(), AttributeError, "No attribute foo", []),
    (lambda v: v.stream.dirichlet(v.s), IndexError, "too many indices for array", ["dirichlet", "{s}"]),
    (lambda v: v.stream.randint(3), TypeError, "`randint` is only available for `RandomStateType`s", []),
    (lambda v: at.random.RandomStream(-1), ValueError, "expected non-negative integer", []),
    (lambda v: at.random.normal(rng=v.x), TypeError, "The type of rng should be an instance of", ["rng"]),
    # shared variables
    (lambda v: pyscan.shared(v.x), TypeError, "Shared variable values can not be symbolic", []),
    (lambda v: v.shared.set_value(1.0), TypeError, "Wrong number of dimensions: expected 1, got 0", ["{shared}"]),
    (lambda v: v.shared.set_value("abc"), ValueError, "could not convert string to float", ["{shared}"]),
    (lambda v: v.shared.set_value(np.array([1j])), TypeError, ".* cannot store a value of dtype complex128", ["{shared}"]),
]  # fmt: skip


# Of calls: the inputs, the output, the values; class, first words, texts. Where a step fails, the step is the second.
WHEN_CALLED = [
    (lambda v: [v.x, v.s], lambda v: v.x * v.s, ([1.0], 2.0, 3.0), TypeError, "Too many parameter passed", []),
    (lambda v: [v.x, v.s], lambda v: v.x * v.s, ([1.0],), TypeError, "Missing required input", ["{s}"]),
    (lambda v: [v.x, v.s], lambda v: v.x * v.s, (1.0, 2.0), TypeError, "Bad input argument to aesara function", ["index 0", "expected 1, got 0 with shape ()", __file__]),
    (lambda v: [v.s, v.x], lambda v: v.x * v.s, (1.0, np.array([1j])), TypeError, "Bad input argument to aesara function", ["index 1", "complex128", __file__]),
    (lambda v: [v.f], lambda v: v.f + 1, (np.array([0.1]),), TypeError, "Bad input argument to aesara function", ["index 0", "float32", "allow_input_downcast"]),
    (lambda v: [v.s], lambda v: v.s + 1, ("a",), ValueError, "Bad input argument to aesara function", ["index 0", "'a'"]),
    (lambda v: [v.three], lambda v: v.three + 1, ([1.0, 2.0],), TypeError, "Bad input argument to aesara function", ["index 0", "(3,)", "(2,)"]),
    (lambda v: [v.m, v.x], lambda v: at.dot(v.m, v.x), (np.ones((2, 3)), np.ones(2)), ValueError, "shapes", ["(2,3)", "(2,)", "{m}", "{x}", FILE]),
    (lambda v: [v.x, v.i], lambda v: v.x[v.i], ([1.0, 2.0], 7), IndexError, "index out of bounds: index 7 on an axis of length 2", ["{x}", FILE]),
    (lambda v: [v.i], lambda v: 7 // v.i, (0,), ZeroDivisionError, "integer division by zero", ["{i}", FILE]),
    (lambda v: [v.m], lambda v: at.nlinalg.matrix_inverse(v.m), (np.zeros((2, 2)),), np.linalg.LinAlgError, "Singular matrix", ["{m}", FILE]),
    (lambda v: [v.m], lambda v: at.slinalg.cholesky(v.m), (-np.eye(2),), np.linalg.LinAlgError, "Matrix is not positive definite", ["{m}", FILE]),
    (lambda v: [v.x, v.i], lambda v: v.x.reshape((v.i, 2)), (np.ones(5), 2), ValueError, r"cannot reshape array of size 5 into shape \(2,2\)", ["{x}", FILE]),
    (lambda v: [v.x], lambda v: v.stream.normal(v.x, size=(2,)), (np.ones(3),), ValueError, "shape mismatch", ["(2,)", "(3,)", "{x}", FILE]),
    (lambda v: [v.i], lambda v: v.stream.normal(size=(v.i,)), (-2,), ValueError, "negative dimensions are not allowed", [FILE]),
    (lambda v: [v.x, v.i], lambda v: scan(lambda a, p: p * a, sequences=[v.x], outputs_info=[at.ones(())], n_steps=v.i)[0], ([1.0, 2.0], 7), ValueError,
     r"Sequence 0 has shape \(2,\) but the Scan's required number of steps is 7", ["{i}", FILE]),
    (lambda v: [v.x, v.i], lambda v: scan(lambda p: v.x * p, outputs_info=[v.x], n_steps=v.i)[0], ([1.0], -7), IndexError,
     "Scan was asked to run for negative number of step -7", ["{i}", FILE]),
    (lambda v: [v.x, v.m], lambda v: scan(lambda row, n: at.sum(row[:n] + v.x[:2]), sequences=[v.m, at.arange(2, 9)])[0], (np.ones(3), np.ones((2, 3))), ValueError,
     r"Input dimension mismatch. One other input has shape\[0\] = [23], but input\[1\].shape\[0\] = [23]", ["at step 1", FILE]),
    (lambda v: [v.x, v.i], lambda v: scan(lambda k: v.x[k + v.i], sequences=[at.arange(4)])[0], (np.ones(3), 2), IndexError,
     "index out of bounds: index 3 on an axis of length 3", ["at step 1", FILE]),
    (lambda v: [v.x], lambda v: scan(lambda p, n: at.concatenate([p, v.x[:n]]), sequences=None, outputs_info=[v.x], non_sequences=[1], n_steps=3)[0], (np.ones(2),), ValueError,
     r"could not broadcast input array from shape \(3,\) into shape \(2,\)", ["at step 0", FILE]),
]  # fmt: skip


def message(error):
    return "\n".join([*map(str, error.args), str(error), *getattr(error, "__notes__", [])])


def check(v, use):
    wrong, kind, words, named = use
    with pytest.raises(kind) as caught:
        wrong(v)
    check_message(v, caught, kind, words, named)


def check_message(v, caught, kind, words, named):
    assert type(caught.value) is kind, f"{type(caught.value)}: {caught.value}"
    first = str(caught.value.args[0] if caught.value.args else caught.value)
    assert re.match(words, first, re.DOTALL), first
    for text in named:
        shown = text.format(**{key: value.name for key, value in vars(v).items() if hasattr(value, "name")}) if "{" in text else text
        assert shown in message(caught.value), f"{shown!r} is not in: {message(caught.value)}"


def around(random, action):
    """Does it at the top, in the step of a loop, or in that of a loop within."""
    depth = random.integers(3)
    done = []

    def step(depth):
        if depth == 0:
            done.append(action())
            return at.as_tensor_variable(1.0)
        return scan(lambda: step(depth - 1), n_steps=2)[0]
    step(depth)
    assert done


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(WHEN_BUILT)))
def test_each_wrong_use_is_refused_by_its_class_and_names_the_argument(number):
    random = np.random.default_rng(number)
    for _ in range(max(1, N_USES // len(WHEN_BUILT))):
        v = Names(random)
        around(random, lambda v=v: check(v, WHEN_BUILT[number]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("number", range(len(WHEN_CALLED)))
def test_each_wrong_call_is_refused_by_its_class_and_names_the_argument(number, mode):
    inputs, output, values, kind, words, named = WHEN_CALLED[number]
    random = np.random.default_rng(number)
    for _ in range(max(1, N_USES // len(WHEN_CALLED) // 10)):
        v = Names(random)
        f = function(inputs(v), output(v), mode=mode)
        with pytest.raises(kind) as caught:
            f(*values)
        check_message(v, caught, kind, words, named)

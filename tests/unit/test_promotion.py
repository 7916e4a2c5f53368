"""The dtypes of results, all triples of promotion.txt: what two tensors, a tensor and a number, or one tensor give."""

import pathlib

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.tensor.special import softmax

CODES = {f"{np.dtype(d).kind if d != 'bool' else 'b'}{np.dtype(d).itemsize}": d for d in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128")}


def read_blocks():
    """(kind, floatX or None, operation, {(dtype, column) or dtype: dtype, or None where it is refused}) for each operation of each block."""
    text = (pathlib.Path(__file__).parent / "promotion.txt").read_text()
    for block in text.split("\n\n"):
        lines = [line.partition("#")[0].rstrip() for line in block.strip().splitlines()]
        if not lines or not lines[0].startswith("["):
            continue
        kind, _, names = lines[0][1:].partition("] ")
        kind, _, float_x = kind.partition(" ")
        columns = lines[1].split()
        rows = [line.split() for line in lines[2:]]
        if kind == "one":
            triples = {CODES[c]: CODES.get(r) for c, r in zip(columns, rows[0], strict=True)}
        else:
            triples = {(CODES[first], c): CODES.get(r) for first, *row in rows for c, r in zip(columns, row, strict=True)}
        for name in names.split():
            yield kind, float_x or None, name, triples


BLOCKS = list(read_blocks())


def vector(dtype):
    return at.tensor(dtype, shape=(None,))


PAIRS = {
    "join": lambda a, b: at.join(0, a, b),
    "stack": lambda a, b: at.stack([a, b]),
    "switch": lambda a, b: at.switch(at.dvector(), a, b),
    "clip": lambda a, b: at.clip(a, b, b),
    "set_subtensor": lambda a, b: at.set_subtensor(a[1:], b),
    "inc_subtensor": lambda a, b: at.inc_subtensor(a[1:], b),
    "tensordot": lambda a, b: at.tensordot(a, b, 1),
}
ONE = {"copy": lambda a: a.copy(), "norm": lambda a: a.norm(2), "softmax": lambda a: softmax(a, axis=0)}


def results(build, *args):
    """The dtypes of what is built, or None where it is refused with a TypeError."""
    try:
        made = build(*args)
    except TypeError:
        return None
    return made[0].dtype if isinstance(made, (list, tuple)) else made.dtype


def found_of(kind, name, first, column):
    if kind == "casts":
        return [results(at.cast, vector(first), CODES.get(column, column))]
    function = PAIRS.get(name) or getattr(at, name)
    if kind == "numbers":
        number = eval(column, {"np": np})
        return [results(function, vector(first), number), results(function, number, vector(first))]
    if kind == "scalars":
        return [results(function, at.scalar(dtype=first), at.scalar(dtype=CODES[column]))]
    return [results(function, vector(first), vector(CODES[column]))]


@pytest.mark.parametrize("kind, float_x, name, triples", [pytest.param(*b, id="-".join(filter(None, (b[0], b[1], b[2])))) for b in BLOCKS])
def test_results_have_the_dtypes_of_the_table(kind, float_x, name, triples):
    with pyscan.config.change_flags(floatX=float_x or "float64"):
        if kind == "one":
            found = {dtype: results(ONE.get(name) or getattr(at, name), vector(dtype)) for dtype in triples}
            assert found == triples
            return
        for (first, column), expected in triples.items():
            for found in found_of(kind, name, first, column):
                assert found == expected, (first, column)


def test_the_table_has_every_elementwise_operation_of_one_or_two_numbers():
    met = {name for kind, _, name, _ in BLOCKS if kind in ("pairs", "one")}
    names = {"true_divide": "true_div", "floor_divide": "int_div", "scalar_maximum": "maximum", "scalar_minimum": "minimum", "round_half_to_even": "round",
             "square": "sqr", "identity": "copy"}
    assert {names.get(row["name"], row["name"]) for row in pyscan._core.scalars()} - met == set()


def test_operators_have_the_dtypes_of_their_functions():
    operators = {"add": "a + b", "sub": "a - b", "mul": "a * b", "true_div": "a / b", "int_div": "a // b", "mod": "a % b", "pow": "a ** b", "and_": "a & b",
                 "or_": "a | b", "xor": "a ^ b", "lt": "a < b", "ge": "a >= b"}
    tables = {name: triples for kind, _, name, triples in BLOCKS if kind == "pairs"}
    for name, text in operators.items():
        for (first, column), expected in tables[name].items():
            assert results(lambda a, b, text=text: eval(text), vector(first), vector(CODES[column])) == expected, (text, first, column)


@pytest.mark.parametrize("float_x", ["float32", "float64"])
def test_what_is_made_from_numbers_has_their_dtype_or_floatx(float_x):
    narrow = float_x
    table = {
        "at.as_tensor(1)": "int8", "at.as_tensor(-129)": "int16", "at.as_tensor(2**31)": "int64", "at.as_tensor(1.0)": "float32", "at.as_tensor(0.1)": narrow,
        "at.as_tensor(1j)": "complex128", "at.as_tensor([1, 2])": "int64", "at.as_tensor([1.0, 2.0])": "float64", "at.as_tensor(np.float32(1))": "float32",
        "at.arange(3)": "int64", "at.arange(np.int8(3))": "int64", "at.zeros(2)": narrow, "at.ones((2,))": narrow, "at.eye(2)": narrow, "at.empty(2)": narrow,
        "at.full((2,), 3.0)": "float32", "at.full((2,), 3)": "int8", "at.full_like(at.bvector(), 3)": "int8", "at.fill(at.dvector(), 1)": "int8", "at.scalar()": narrow,
        "at.matrix()": narrow, "at.fscalar()": "float32", "at.alloc(1, 2)": "int8", "pyscan.shared(1.5)": "float64", "pyscan.shared(1)": "int64",
        "pyscan.shared(np.ones(2, 'float32'))": "float32", "at.ivector() / 2": "float64", "at.ivector() * 0.5": "float64", "at.ivector().mean()": "float64",
    }  # fmt: skip
    with pyscan.config.change_flags(floatX=float_x):
        assert {text: eval(text).dtype for text in table} == table


def test_integers_that_no_type_holds_together_are_refused_by_bitwise_operations_with_advice():
    with pytest.raises(TypeError, match="no integer dtype holds both int8 and uint64; cast one of them"):
        at.and_(vector("int8"), vector("uint64"))

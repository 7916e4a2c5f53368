"""Reductions, products and the functions composed of them: names, dtypes, axes, errors."""
import pytest

import pyscan.tensor as at
from pyscan.raise_op import Assert, CheckAndRaise, assert_op
from pyscan.tensor.elemwise import AxisError, normalize_axes
from pyscan.tensor.type import TensorType

ENV = dict(
    x=at.dvector("x"), y=at.dvector("y"), m=at.dmatrix("m"), t=at.dtensor3("t"), i=at.ivector("i"), s=at.dscalar("s"), f=at.fvector("f"),
    z=at.zvector("z"), u=TensorType("uint8", (None,))("u"), p=TensorType("bool", (None,))("p"), m23=TensorType("float64", (2, 3))("m23"), at=at,
)  # fmt: skip


def build(expression):
    return eval(expression, dict(ENV))


@pytest.mark.parametrize(
    "expression, text, dtype",
    [
        ("m.sum()", "Sum{acc_dtype=float64}", "float64"),
        ("m.sum(axis=0)", "Sum{axis=[0], acc_dtype=float64}", "float64"),
        ("m.sum(axis=(0, 1))", "Sum{axis=[0, 1], acc_dtype=float64}", "float64"),
        ("m.sum(axis=[-1])", "Sum{axis=[1], acc_dtype=float64}", "float64"),
        ("m.sum(axis=())", "Sum{axis=[], acc_dtype=float64}", "float64"),
        ("m.sum(axis=-1, keepdims=True)", "InplaceDimShuffle{0,x}", "float64"),
        ("f.sum()", "Sum{acc_dtype=float64}", "float32"),
        ("i.sum()", "Sum{acc_dtype=int64}", "int64"),
        ("u.sum()", "Sum{acc_dtype=uint64}", "uint64"),
        ("p.sum()", "Sum{acc_dtype=int64}", "int64"),
        ("z.sum()", "Sum{acc_dtype=complex128}", "complex128"),
        ("i.sum(dtype='float64')", "Sum{acc_dtype=int64}", "float64"),
        ("m.max()", "MaxAndArgmax{axis=(0, 1)}", "float64"),
        ("m.max(axis=(1, 0))", "MaxAndArgmax{axis=(0, 1)}", "float64"),
        ("m.argmax(axis=1)", "MaxAndArgmax{axis=(1,)}", "int64"),
        ("m.min()", "Elemwise{neg,no_inplace}", "float64"),
        ("p.min()", "Elemwise{invert,no_inplace}", "bool"),
        ("u.min()", "Elemwise{sub,no_inplace}", "uint8"),
        ("m.all()", "All", "bool"),
        ("m.all(axis=0)", "All{0}", "bool"),
        ("m.any(axis=(0, 1))", "Any{0, 1}", "bool"),
        ("x.cumsum()", "CumOp{None, add}", "float64"),
        ("m.cumprod(axis=0)", "CumOp{0, mul}", "float64"),
        ("i.mean()", "Elemwise{true_divide,no_inplace}", "float64"),
        ("f.mean()", "Elemwise{true_divide,no_inplace}", "float32"),
        ("m.std(axis=0)", "Elemwise{sqrt,no_inplace}", "float64"),
        ("at.dot(m, x)", "dot", "float64"),
        ("i @ x", "dot", "float64"),
        ("at.dot(s, x)", "Elemwise{mul,no_inplace}", "float64"),
        ("at.dot(t, x)", "Reshape{2}", "float64"),
        ("at.outer(x, y)", "dot", "float64"),
        ("at.tensordot(t, m, axes=1)", "Reshape{3}", "float64"),
        ("at.batched_dot(t, t)", "BatchedDot", "float64"),
        ("at.matmul(m, m)", "MatMul{dtype=None}", "float64"),
        ("at.logaddexp(x, y)", "Elemwise{log,no_inplace}", "float64"),
        ("at.conj(z)", "Elemwise{conj,no_inplace}", "complex128"),
    ],
)
def test_a_function_has_its_operation_and_dtype(expression, text, dtype):
    result = build(expression)
    assert (str(result.owner.op), result.dtype) == (text, dtype)


def test_prod_shows_its_scalar_operation():
    assert str(build("at.prod(i)").owner.op).startswith("Prod{scalar_op=<pyscan.scalar.Mul object at 0x")
    assert str(build("at.prod(i)").owner.op).endswith(", axis=None, dtype='int64', acc_dtype='int64', no_zeros_in_input=False}")


def test_all_and_any_compare_numbers_with_zero_first():
    assert str(build("x.all()").owner.inputs[0].owner.op) == "Elemwise{neq,no_inplace}"
    assert build("p.all()").owner.inputs[0] is ENV["p"]


def test_sums_keep_the_static_lengths_of_the_other_axes():
    assert build("m23.sum(axis=0)").type.shape == (3,) and build("at.dot(m23, x)").type.shape == (2,)


@pytest.mark.parametrize(
    "expression, error, message",
    [
        ("at.sum(x, axis=1)", AxisError, r"axis \(1,\) is out of bounds for array of dimension 1"),
        ("at.sum(x, axis=1.5)", TypeError, "an axis must be an integer, not 1.5"),
        ("at.sum(x, axis='a')", TypeError, "an axis must be an integer, not 'a'"),
        ("at.max(m, axis=2)", AxisError, "out of bounds"),
        ("at.sum(x, acc_dtype='float32')", TypeError, "Cannot build .* node with input dtype float64 and acc_dtype float32, as precision would be lost."),
        ("at.cumsum(m, axis=2)", ValueError, r"axis\(=2\) out of bounds"),
        ("at.max(z)", TypeError, "complex"),
        ("at.tensordot(t, m, axes=5)", ValueError, "axes should be"),
        ("at.tensordot(t, m, axes=[[0, 1], [0]])", ValueError, "Axes elements must have the same length"),
        ("at.matmul(s, x)", ValueError, "matmul cannot perform dot product on scalar."),
    ],
)
def test_wrong_arguments_are_refused(expression, error, message):
    with pytest.raises(error, match=message):
        build(expression)


def test_axes_may_be_numbers_sequences_or_constants():
    assert normalize_axes(-1, 2) == normalize_axes([1], 2) == normalize_axes(at.constant(1), 2) == (1,)
    with pytest.raises(TypeError, match="must be known when the graph is made"):
        normalize_axes(at.iscalar(), 2)


def test_reductions_of_the_same_kind_are_equal_operations():
    assert build("m.sum(axis=0)").owner.op == build("m.sum(axis=0)").owner.op
    assert build("m.sum(axis=0)").owner.op != build("m.sum(axis=1)").owner.op != build("m.prod(axis=1)").owner.op


def test_assert_shows_its_message_and_views_its_input():
    x = ENV["x"]
    checked = Assert("x is negative")(x, at.all(x >= 0))
    assert str(checked.owner.op) == "Assert{msg=x is negative}" and checked.type == x.type and checked.owner.op.view_map == {0: [0]}
    with pytest.raises(TypeError, match="Cannot cast True or False"):
        assert_op(x, True)
    with pytest.raises(TypeError, match="conditions of Assert are scalars"):
        assert_op(x, x > 0)
    with pytest.raises(ValueError, match="must be an Exception subclass"):
        CheckAndRaise(int)

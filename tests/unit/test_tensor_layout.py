"""Making, joining, reshaping: names, types, static shapes, errors; and what is known before run time."""
import numpy as np
import pytest

import pyscan.tensor as at
from pyscan.errors import NotScalarConstantError
from pyscan.tensor.shape import specify_broadcastable, specify_shape, unbroadcast
from pyscan.tensor.type import TensorType

ENV = dict(
    x=at.dvector("x"), y=at.dvector("y"), m=at.dmatrix("m"), t=at.dtensor3("t"), i=at.ivector("i"), j=at.iscalar("j"), s=at.dscalar("s"),
    r=at.row("r"), x3=TensorType("float64", (3,))("x3"), m23=TensorType("float64", (2, 3))("m23"), at=at, np=np,
    specify_shape=specify_shape, unbroadcast=unbroadcast, specify_broadcastable=specify_broadcastable,
)  # fmt: skip


def build(expression):
    return eval(expression, dict(ENV))


@pytest.mark.parametrize(
    "expression, text, kind",
    [
        ("at.zeros(3)", "Alloc", "TensorType(float64, (3,))"),
        ("at.zeros((2, j))", "Alloc", "TensorType(float64, (2, ?))"),
        ("at.zeros(())", "Alloc", "TensorType(float64, ())"),
        ("at.zeros(m.shape)", "Alloc", "TensorType(float64, (?, ?))"),
        ("at.ones((2,), dtype='int32')", "Alloc", "TensorType(int32, (2,))"),
        ("at.full((2,), 3.0)", "Alloc", "TensorType(float32, (2,))"),
        ("at.alloc(x3, 2, j)", "Alloc", "TensorType(float64, (2, ?))"),
        ("at.empty((2, 3))", "AllocEmpty{dtype='float64'}", "TensorType(float64, (2, 3))"),
        ("at.empty(j, dtype='int32')", "AllocEmpty{dtype='int32'}", "TensorType(int32, (?,))"),
        ("at.zeros_like(m)", "Elemwise{second,no_inplace}", "TensorType(float64, (?, ?))"),
        ("at.ones_like(i)", "Elemwise{second,no_inplace}", "TensorType(int32, (?,))"),
        ("at.full_like(x, 3)", "Elemwise{second,no_inplace}", "TensorType(int8, (?,))"),
        ("at.eye(3)", "Eye{dtype='float64'}", "TensorType(float64, (?, ?))"),
        ("at.arange(3)", "ARange{dtype='int64'}", "TensorType(int64, (?,))"),
        ("at.arange(3.0)", "ARange{dtype='float32'}", "TensorType(float32, (?,))"),
        ("at.arange(s)", "ARange{dtype='float64'}", "TensorType(float64, (?,))"),
        ("at.stack([s, s])", "MakeVector{dtype='float64'}", "TensorType(float64, (2,))"),
        ("at.stack([x, x])", "Join", "TensorType(float64, (?, ?))"),
        ("at.stack([m, m], axis=-1)", "Join", "TensorType(float64, (?, ?, ?))"),
        ("at.concatenate([x, i])", "Join", "TensorType(float64, (?,))"),
        ("at.join(1, m, m)", "Join", "TensorType(float64, (?, ?))"),
        ("at.split(x, [1, 2], 2)[0]", "Split{2}", "TensorType(float64, (?,))"),
        ("x.shape", "Shape", "TensorType(int64, (1,))"),
        ("m.shape[0]", "Subtensor{int64}", "TensorType(int64, ())"),
        ("x.reshape((2, -1))", "Reshape{2}", "TensorType(float64, (2, ?))"),
        ("x.reshape([j, 2])", "Reshape{2}", "TensorType(float64, (?, 2))"),
        ("x.reshape(i, ndim=2)", "Reshape{2}", "TensorType(float64, (?, ?))"),
        ("t.flatten(2)", "Reshape{2}", "TensorType(float64, (?, ?))"),
        ("at.expand_dims(x, 0)", "Reshape{2}", "TensorType(float64, (1, ?))"),
        ("at.shape_padleft(x)", "InplaceDimShuffle{x,0}", "TensorType(float64, (1, ?))"),
        ("at.shape_padright(x, 2)", "InplaceDimShuffle{0,x,x}", "TensorType(float64, (?, 1, 1))"),
        ("at.shape_padaxis(m, -1)", "InplaceDimShuffle{0,1,x}", "TensorType(float64, (?, ?, 1))"),
        ("at.squeeze(r)", "InplaceDimShuffle{1}", "TensorType(float64, (?,))"),
        ("at.swapaxes(t, 0, 2)", "InplaceDimShuffle{2,1,0}", "TensorType(float64, (?, ?, ?))"),
        ("at.moveaxis(t, 0, 2)", "InplaceDimShuffle{1,2,0}", "TensorType(float64, (?, ?, ?))"),
        ("at.atleast_3d(x)", "InplaceDimShuffle{x,x,0}", "TensorType(float64, (1, 1, ?))"),
        ("unbroadcast(r, 0, 1)", "Unbroadcast{0}", "TensorType(float64, (?, ?))"),
        ("specify_shape(x, (3,))", "SpecifyShape", "TensorType(float64, (3,))"),
        ("specify_shape(m, (3, None))", "SpecifyShape", "TensorType(float64, (3, ?))"),
        ("specify_broadcastable(x, 0)", "SpecifyShape", "TensorType(float64, (1,))"),
        ("at.tile(x, 2)", "Reshape{1}", "TensorType(float64, (?,))"),
        ("at.repeat(x, 2)", "Reshape{1}", "TensorType(float64, (?,))"),
        ("at.repeat(x, i)", "Repeat{axis=None}", "TensorType(float64, (?,))"),
        ("at.roll(x, 1)", "Join", "TensorType(float64, (?,))"),
        ("at.broadcast_to(x, (3, j))", "BroadcastTo", "TensorType(float64, (3, ?))"),
        ("at.diag(x)", "AllocDiag{offset=0, axis1=0, axis2=1}", "TensorType(float64, (?, ?))"),
        ("at.diag(m)", "ExtractDiag{offset=0, axis1=0, axis2=1, view=False}", "TensorType(float64, (?,))"),
        ("at.sort(x)", "SortOp{quicksort, None}", "TensorType(float64, (?,))"),
        ("at.argsort(x)", "ArgSortOp{quicksort, None}", "TensorType(int64, (?,))"),
        ("at.searchsorted(x, y)", "SearchsortedOp{side='left'}", "TensorType(int64, (?,))"),
    ],
)
def test_a_function_has_its_operation_and_type(expression, text, kind):
    result = build(expression)
    assert (str(result.owner.op), str(result.type)) == (text, kind)


def test_shapes_that_are_known_are_constants():
    assert str(build("x3.shape")) == "TensorConstant{(1,) of 3}" and str(build("m23.shape")) == "TensorConstant{[2 3]}"


def test_nothing_is_built_where_nothing_is_to_do():
    x, x3 = ENV["x"], ENV["x3"]
    assert unbroadcast(x, 0) is x and specify_shape(x3, (3,)) is x3 and at.concatenate([x]) is x


def test_a_join_along_a_symbolic_axis_is_native():
    node = build("at.join(j, x, y)").owner
    assert str(node.op) == "Join" and node.op.kind == "join"


@pytest.mark.parametrize(
    "expression, error, message",
    [
        ("at.zeros(1.5)", TypeError, r"Shapes must be scalar integers; got TensorConstant\{1.5\}"),
        ("at.zeros((s, 2))", TypeError, "Shapes must be scalar integers; got s"),
        ("at.zeros(i)", ValueError, "Length of i cannot be determined"),
        ("at.alloc(m, 2)", TypeError, "The Alloc value to use has more dimensions than the specified dimensions"),
        ("x.reshape(-1)", TypeError, r"New shape in reshape must be a vector or a list/tuple of scalar. Got TensorConstant\{-1\} after conversion"),
        ("x.reshape((1.5,))", TypeError, "Shape must be integers; got float64"),
        ("x.reshape(i)", ValueError, r"The length of the provided shape \(i\) cannot be automatically determined"),
        ("m.flatten(3)", ValueError, r"ndim 3 out of bound \[1, 3\)"),
        ("at.concatenate([x, m])", TypeError, "Only tensors with the same number of dimensions can be joined"),
        ("at.concatenate([s, s])", TypeError, "Join cannot handle arguments of dimension 0"),
        ("at.concatenate(x)", TypeError, "must be either a tuple or a list"),
        ("at.stack([x, 1.0])", TypeError, "Only tensors with the same number of dimensions can be joined"),
        ("at.stack([m, m], axis=5)", IndexError, r"axis 5 is out of bounds \[-3, 3\)"),
        ("at.stack([])", ValueError, "Cannot join an empty list of tensors"),
        ("at.join(2, m, m)", ValueError, "Axis value 2 is out of range"),
        ("at.squeeze(m, axis=0)", ValueError, "Cannot drop a non-broadcastable dimension"),
        ("specify_shape(m, (3,))", ValueError, "Input `x` is 2-dimensional and will never match a shape of length 1."),
        ("specify_shape(m, i)", ValueError, "Shape vector must have fixed dimensions"),
    ],
)
def test_wrong_layouts_are_refused(expression, error, message):
    with pytest.raises(error, match=message):
        build(expression)


# --- what is known before run time ---


@pytest.mark.parametrize(
    "expression, length",
    [("x3", 3), ("m.shape", 2), ("m.shape[1:]", 1), ("t.shape[:-1]", 2), ("[1, 2]", 2), ("at.as_tensor([s, s])", 2), ("at.join(0, x3, m23[0])", None), ("at.join(0, x3, x3)", 6), ("at.zeros(3)", 3), ("m.shape + 1", 2), ("unbroadcast(at.zeros(1), 0)", 1)],
)  # fmt: skip
def test_the_length_of_a_vector_is_found_where_the_graph_tells_it(expression, length):
    if length is None:
        with pytest.raises(ValueError, match="cannot be determined"):
            at.get_vector_length(build(expression))
    else:
        assert at.get_vector_length(build(expression)) == length


def test_only_vectors_have_a_length():
    with pytest.raises(TypeError, match="Argument must be a vector"):
        at.get_vector_length(ENV["m"])


@pytest.mark.parametrize(
    "expression, value",
    [
        ("at.constant(3)", 3), ("3", 3), ("at.constant([1, 1])", 1), ("at.constant([1, 2])[0]", 1), ("at.constant(3) + 1", 4),
        ("m23.shape[0]", 2), ("r.shape[0]", 1), ("at.cast(at.constant(3), 'float64')", 3.0), ("at.alloc(2, 3)", 2),
        ("at.zeros_like(x)", 0), ("at.constant(3).dimshuffle('x')", 3), ("at.stack([s, at.constant(2.0)])[1]", 2.0),
        ("at.maximum(at.constant(2), at.constant(5))", 5),
    ],
)  # fmt: skip
def test_a_value_that_is_one_constant_is_found(expression, value):
    found = at.get_scalar_constant_value(build(expression))
    assert found == value and np.ndim(found) == 0


@pytest.mark.parametrize("expression", ["x", "s", "at.constant([1, 2])", "at.constant(np.zeros(0))", "m.shape[0]", "s + 1", "'a'", "None"])
def test_values_that_are_not_one_constant_are_refused(expression):
    with pytest.raises(NotScalarConstantError):
        at.get_scalar_constant_value(build(expression))


def test_lengths_computed_from_constants_are_static():
    assert build("at.zeros((at.constant(2) + 1, j))").type.shape == (3, None)
    assert build("at.zeros(m23.shape)").type.shape == (2, 3)


def test_a_value_whose_computation_fails_is_not_known():
    with pytest.raises(NotScalarConstantError):
        at.get_scalar_constant_value(at.floor_divide(at.constant(1), at.constant(0)))

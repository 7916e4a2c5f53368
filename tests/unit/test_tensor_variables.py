"""Python operators on variables, constants, and the conversion of Python values."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.tensor.type import TensorType


def op_text(variable):
    return str(variable.owner.op)


@pytest.mark.parametrize(
    "expression, name",
    [
        (lambda x, y: x + y, "add"),
        (lambda x, y: x - y, "sub"),
        (lambda x, y: x * y, "mul"),
        (lambda x, y: x / y, "true_divide"),
        (lambda x, y: x // y, "floor_divide"),
        (lambda x, y: x % y, "mod"),
        (lambda x, y: x**y, "pow"),
        (lambda x, y: x < y, "lt"),
        (lambda x, y: x <= y, "le"),
        (lambda x, y: x > y, "gt"),
        (lambda x, y: x >= y, "ge"),
        (lambda x, y: -x, "neg"),
        (lambda x, y: abs(x), "abs"),
    ],
)
def test_operators_make_the_elementwise_operation(expression, name):
    assert op_text(expression(at.dvector("x"), at.dvector("y"))) == f"Elemwise{{{name},no_inplace}}"


def test_bitwise_operators_work_on_bools_and_integers():
    p, i = TensorType("bool", (None,))("p"), at.ivector("i")
    assert [op_text(v) for v in (p & p, p | p, p ^ p, ~p)] == [f"Elemwise{{{n},no_inplace}}" for n in ("and_", "or_", "xor", "invert")]
    assert (i & 3).dtype == "int32"


def test_reflected_operators_keep_the_order_of_the_operands():
    x = at.dvector("x")
    node = (2 - x).owner
    assert str(node.inputs[0].owner.inputs[0]) == "TensorConstant{2}" and node.inputs[1] is x
    assert divmod(7, x)[0].owner.inputs[1] is x


def test_a_number_beside_a_vector_enters_through_a_dimshuffle():
    x = at.dvector("x")
    node = (x + 1).owner
    assert node.inputs[0] is x and op_text(node.inputs[1]) == "InplaceDimShuffle{x}"
    assert node.inputs[1].owner.inputs[0].type == TensorType("int8", ())


@pytest.mark.parametrize("other, name", [(True, "bool"), (None, "NoneType"), ("a", "str")])
def test_operators_refuse_bool_none_and_text(other, name):
    with pytest.raises(TypeError, match=rf"unsupported operand type\(s\) for \+: 'TensorVariable' and '{name}'"):
        at.dvector("x") + other


def test_shifts_are_not_supported():
    with pytest.raises(TypeError, match="unsupported operand"):
        at.ivector("i") << 1


def test_equality_is_identity():
    x, y = at.dvector("x"), at.dvector("y")
    assert (x == x) is True and (x == y) is False and (x != y) is True and (x == 1) is False
    assert (np.zeros(3) == x) is False and x in [y, x]


def test_a_comparison_has_no_truth_value_but_other_tensors_do():
    x = at.dvector("x")
    with pytest.raises(TypeError, match="Variables do not support boolean operations."):
        bool(x < 1)
    assert x and at.lt(x, 1)


def test_variables_have_no_len_and_iterate_when_their_length_is_known():
    x = at.dvector("x")
    with pytest.raises(TypeError, match=r"object of type 'TensorVariable' has no len\(\)"):
        len(x)
    with pytest.raises(ValueError, match="Length of x cannot be determined"):
        list(x)
    assert len(list(at.dmatrix("m").shape)) == 2
    with pytest.raises(TypeError, match="TensorType does not support iteration"):
        sum(at.dmatrix())


def test_arrays_and_numpy_functions_join_the_graph():
    x = at.dvector("x")
    assert op_text(np.zeros(3) + x) == "Elemwise{add,no_inplace}" and (np.zeros(3) + x).type.shape == (3,)
    assert op_text(np.float64(2) * x) == "Elemwise{mul,no_inplace}"
    assert op_text(np.exp(x)) == "Elemwise{exp,no_inplace}"
    assert op_text(np.arange(3.0) < x) == "Elemwise{gt,no_inplace}"  # x > array, as Python turns it round
    assert op_text(np.subtract(np.ones(2), x)) == "Elemwise{sub,no_inplace}"


def test_methods_are_the_functions():
    x, m = at.dvector("x"), at.dmatrix("m")
    assert op_text(x.sum()) == "Sum{acc_dtype=float64}"
    assert x.astype("float64") is x and x.astype("floatX") is x
    assert op_text(x.copy()) == "Elemwise{identity}"
    assert op_text(m.T) == op_text(m.transpose()) == op_text(m.transpose(1, 0)) == "InplaceDimShuffle{1,0}"
    assert m.T.name == "m.T"
    assert op_text(m.ravel()) == op_text(m.flatten()) == "Reshape{1}"
    assert (m.ndim, m.dtype, m.broadcastable) == (2, "float64", (False, False))
    assert op_text(x.size) == "Subtensor{int64}" and op_text(m.size).startswith("Prod{")


# --- constants and conversion ---


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, "int8"), (127, "int8"), (128, "int16"), (-129, "int16"), (32768, "int32"), (2**31, "int64"), (2**63, "uint64"),
        (2.0, "float32"), (0.5, "float32"), (0.1, "float64"), (1e40, "float64"), (float("nan"), "float64"), (1j, "complex128"),
        (np.float64(2.0), "float64"), (np.int64(1), "int64"), (np.array(True), "bool"), ([1, 2], "int64"), ([1.0, 2.0], "float64"),
    ],
)  # fmt: skip
def test_constants_take_the_dtype_of_the_table(value, dtype):
    assert at.as_tensor_variable(value).dtype == dtype


def test_python_floats_are_float32_when_floatx_is():
    import pyscan

    with pyscan.config.change_flags(floatX="float32"):
        assert at.constant(0.1).dtype == "float32" and at.constant(1e40).dtype == "float32"


@pytest.mark.parametrize(
    "value, text",
    [
        (1.0, "TensorConstant{1.0}"),
        ([1, 2], "TensorConstant{[1 2]}"),
        (np.zeros(3), "TensorConstant{(3,) of 0.0}"),
        ([], "TensorConstant{[]}"),
        (np.arange(100), "TensorConstant{[ 0  1  2 .. 97 98 99]}"),
        (np.full((2, 2), 0.1), "TensorConstant{(2, 2) of 0.1}"),
        (np.array([[7]]), "TensorConstant{(1, 1) of 7}"),
    ],
)
def test_constants_show_their_data_in_a_few_letters(value, text):
    assert str(at.constant(value)) == text


def test_a_named_constant_shows_its_name():
    assert str(at.constant(3, name="q")) == "q{3}"


def test_a_constant_does_not_change_with_the_array_it_was_made_of():
    data = np.zeros(3)
    constant = at.constant(data)
    data[0] = 1
    assert constant.data[0] == 0


def test_true_and_false_are_refused_with_advice():
    with pytest.raises(TypeError, match="Cannot cast True or False as a tensor variable.*use pyscan.tensor.eq"):
        at.as_tensor_variable(True)


@pytest.mark.parametrize("value", ["a", None, {}, object()])
def test_other_objects_are_refused(value):
    with pytest.raises(NotImplementedError, match="Cannot convert .* to a tensor variable."):
        at.as_tensor_variable(value)


def test_numbers_too_large_for_any_dtype_are_refused():
    with pytest.raises(OverflowError):
        at.as_tensor_variable(2**70)


def test_a_list_with_a_symbolic_scalar_is_a_make_vector():
    s = at.dscalar("s")
    v = at.as_tensor_variable([s, 1.0])
    assert op_text(v) == "MakeVector{dtype='float64'}" and v.type.shape == (2,)
    assert op_text(v.owner.inputs[1]) == "Elemwise{Cast{float64}}"


def test_a_list_of_symbolic_vectors_is_stacked():
    x = at.dvector("x")
    assert op_text(at.as_tensor_variable([x, x])) == "Join"
    assert at.as_tensor_variable([[at.dscalar(), 1], [2, 3]]).type.ndim == 2


def test_a_list_of_constants_is_a_constant():
    assert str(at.as_tensor_variable([at.constant(1), at.constant(2)])) == "TensorConstant{[1 2]}"


def test_as_tensor_variable_pads_and_drops_axes_on_the_left():
    x, r = at.dvector("x"), at.row("r")
    assert op_text(at.as_tensor_variable(x, ndim=2)) == "InplaceDimShuffle{x,0}"
    assert op_text(at.as_tensor_variable(r, ndim=1)) == "InplaceDimShuffle{1}"
    with pytest.raises(ValueError, match="could not be cast to have 1 dimensions"):
        at.as_tensor_variable(at.dmatrix(), ndim=1)
    assert at.constant(np.zeros(3), ndim=2).type.shape == (1, 3)
    with pytest.raises(ValueError, match="could not be cast"):
        at.constant(np.zeros((2, 3)), ndim=1)


def test_as_tensor_variable_takes_the_output_of_a_node_and_scalars():
    y = at.dvector("x") + 1
    assert at.as_tensor_variable(y.owner) is y
    with pytest.raises(ValueError, match="Multi-output Op"):
        at.as_tensor_variable(at.max_and_argmax(at.dvector())[0].owner)
    assert op_text(at.as_tensor_variable(at.scalar_from_tensor(at.lscalar()))) == "TensorFromScalar"


def test_variables_that_are_no_tensors_are_refused_with_their_type():
    from pyscan.sharedvalue import shared

    with pytest.raises(TypeError, match="Tensor type field must be a TensorType; found <class 'pyscan.sharedvalue.Generic'>."):
        at.as_tensor_variable(shared([1]))


def test_an_object_may_say_what_variable_it_is():
    class Wrapper:
        def _as_TensorVariable(self, name=None, ndim=None):
            return at.dvector("inside")

    assert at.as_tensor_variable(Wrapper()).name == "inside"


NUMPY_CALLS = [
    lambda np, x, m: np.sum(m, axis=0), lambda np, x, m: np.mean(x), lambda np, x, m: np.std(m, axis=1), lambda np, x, m: np.max(x),
    lambda np, x, m: np.argmin(m, axis=1), lambda np, x, m: np.cumsum(x), lambda np, x, m: np.clip(x, 0.0, 1.0), lambda np, x, m: np.ravel(m),
    lambda np, x, m: np.reshape(m, (4, 2)), lambda np, x, m: np.transpose(m), lambda np, x, m: np.swapaxes(m, 0, 1), lambda np, x, m: np.expand_dims(x, 1),
    lambda np, x, m: np.concatenate([x, x]), lambda np, x, m: np.stack([x, x], axis=1), lambda np, x, m: np.where(x > 0, x, -x),
    lambda np, x, m: np.zeros_like(m), lambda np, x, m: np.full_like(x, 2.5), lambda np, x, m: np.diag(x), lambda np, x, m: np.outer(x, x),
    lambda np, x, m: np.dot(m, x), lambda np, x, m: np.tensordot(m, m, ([1], [1])), lambda np, x, m: np.sort(x), lambda np, x, m: np.argsort(x),
    lambda np, x, m: np.round(x), lambda np, x, m: np.tile(x, 2), lambda np, x, m: np.roll(x, 1), lambda np, x, m: np.take(x, [0, 2]),
    lambda np, x, m: np.unique(x), lambda np, x, m: np.size(m), lambda np, x, m: np.size(m, 1), lambda np, x, m: np.shape(m), lambda np, x, m: np.linalg.det(m[:, :2]),
    lambda np, x, m: np.linalg.norm(x), lambda np, x, m: np.trace(m[:, :2]), lambda np, x, m: np.isclose(x, x + 1e-9), lambda np, x, m: np.diff(x),
    lambda np, x, m: np.logical_and(x > 0, x < 1), lambda np, x, m: np.logical_or(x, False), lambda np, x, m: np.logical_not(x), lambda np, x, m: np.logical_xor(x, x > 0),
    lambda np, x, m: np.isfinite(x / 0.0), lambda np, x, m: np.fabs(x), lambda np, x, m: np.matmul(m, x), lambda np, x, m: np.any(x > 1), lambda np, x, m: np.ones(4) @ x,
    lambda np, x, m: np.linspace(0.0, x[1], 4), lambda np, x, m: np.ones(4) < x, lambda np, x, m: np.broadcast_to(x, (2, 4)),
]


@pytest.mark.parametrize("call", NUMPY_CALLS)
def test_numpys_own_functions_make_expressions(call):
    x, m = at.dvector("x"), at.dmatrix("m")
    values = np.array([0.5, -1.5, 0.0, 2.0]), np.arange(8.0).reshape(2, 4) ** 2 - 3.0
    with np.errstate(all="ignore"):
        made, wanted = call(np, x, m), call(np, *values)
    np.testing.assert_allclose(pyscan.function([x, m], made, on_unused_input="ignore")(*values), wanted)


@pytest.mark.parametrize("call, text", [
    (lambda x: np.einsum("i,i", x, x), "no counterpart for it of NumPy's einsum"),
    (lambda x: np.allclose(x, x), "NumPy's allclose"),
    (lambda x: np.save("nowhere", x), "NumPy's save"),
    (lambda x: np.hypot(x, 1.0), "NumPy's hypot"),
    (lambda x: np.arange(3) << x, "NumPy's left_shift"),
    (lambda x: np.add.reduce(x), r"NumPy's add\.reduce"),
    (lambda x: np.exp(x, out=np.zeros(3)), "NumPy's exp with out="),
    (lambda x: np.round(x, 2), "2 decimals"),
    (lambda x: np.sum(x, where=[True]), "where"),
])
def test_numpys_functions_without_a_counterpart_refuse_with_advice(call, text):
    with pytest.raises(TypeError, match=text):
        call(at.dvector("x"))


def test_what_numpy_compares_has_no_truth_value():
    x = at.dvector("x")
    for made in (np.less(x, 1.0), np.arange(3.0) >= x, np.any(x > 0), np.all(x > 0)):
        with pytest.raises(TypeError, match="do not support boolean operations"):
            bool(made)

"""Shared variables and the containers that keep their values."""
import numpy as np
import pytest

import pyscan.tensor as at
from pyscan.sharedvalue import Container, SharedVariable, collect_new_shareds, generic, shared, shared_constructor
from pyscan.tensor.sharedvar import ScalarSharedVariable, TensorSharedVariable


@pytest.mark.parametrize(
    "value, cls, kind",
    [
        (np.zeros(1), TensorSharedVariable, "TensorType(float64, (?,))"),
        (np.zeros((2, 3), "float32"), TensorSharedVariable, "TensorType(float32, (?, ?))"),
        (np.array(2.0), TensorSharedVariable, "TensorType(float64, ())"),
        (2, ScalarSharedVariable, "TensorType(int64, ())"),
        (1.5, ScalarSharedVariable, "TensorType(float64, ())"),
        (True, ScalarSharedVariable, "TensorType(bool, ())"),
        (np.float32(1), ScalarSharedVariable, "TensorType(float32, ())"),
        (1j, ScalarSharedVariable, "TensorType(complex128, ())"),
        ([1, 2], SharedVariable, "Generic"),
        ("text", SharedVariable, "Generic"),
        (None, SharedVariable, "Generic"),
        (np.array(["a"]), SharedVariable, "Generic"),
    ],
)
def test_a_value_gets_the_variable_that_fits_it(value, cls, kind):
    variable = shared(value)
    assert type(variable) is cls and str(variable.type) == kind


def test_a_static_shape_can_be_given():
    assert shared(np.zeros((1, 3)), shape=(1, None)).type.shape == (1, None)


def test_symbolic_values_are_refused():
    with pytest.raises(TypeError, match="Shared variable values can not be symbolic."):
        shared(at.dscalar())


@pytest.mark.parametrize("value", [7, np.zeros(2), np.random.default_rng(1), np.random.RandomState(1), "text"])
def test_an_option_that_nothing_takes_is_refused_by_name(value):
    with pytest.raises(TypeError, match="No suitable SharedVariable constructor could be found for .* with the options brorow"):
        shared(value, brorow=True)


@pytest.mark.parametrize("value, options, text", [
    (np.zeros((2, 3)), {"shape": (1, None)}, r"The type's shape \(\(1, None\)\) is not compatible with the data's \(\(2, 3\)\)"),
    (np.zeros(2), {"shape": (2, 2)}, "Wrong number of dimensions: expected 2, got 1"),
    (np.zeros(2), {"shape": 3}, "TensorType needs a shape: .*; got 3"),
    (1.0, {"name": 3}, "name must be a string"),
    ([1], {"name": 3}, "name must be a string"),
    (np.random.default_rng(1), {"name": 3}, "name must be a string"),
])
def test_what_does_not_fit_the_value_is_told(value, options, text):
    with pytest.raises(TypeError, match=text):
        shared(value, **options)


def test_variables_show_their_name_or_their_type():
    assert str(shared(np.zeros(2))) == "<TensorType(float64, (?,))>" and str(shared(1.0, name="q")) == "q"


def test_get_value_copies_unless_it_borrows():
    data = np.zeros(2)
    s = shared(data)
    assert s.get_value() is not s.get_value() and s.get_value(borrow=True) is s.get_value(borrow=True)
    s.get_value()[0] = 7
    data[0] = 8
    assert s.get_value()[0] == 0
    assert shared(data, borrow=True).get_value(borrow=True) is data


def test_set_value_copies_filters_and_may_change_the_shape():
    s = shared(np.zeros(2))
    data = np.ones(3, dtype="float32")
    s.set_value(data)
    data[0] = 5
    np.testing.assert_array_equal(s.get_value(), np.ones(3))
    assert s.get_value().dtype == "float64"
    s.set_value([1, 2])
    np.testing.assert_array_equal(s.get_value(), [1.0, 2.0])
    borrowed = np.zeros(2)
    s.set_value(borrowed, borrow=True)
    assert s.get_value(borrow=True) is borrowed


@pytest.mark.parametrize("value, message", [(np.zeros(2), "cannot store a value of dtype float64"), (np.zeros((2, 1), "float32"), "Wrong number of dimensions")])  # fmt: skip
def test_set_value_refuses_what_the_type_does_and_keeps_the_old_value(value, message):
    s = shared(np.ones(2, dtype="float32"))
    with pytest.raises(TypeError, match=message) as caught:
        s.set_value(value)
    assert caught.value.args[1] == 'Container name "None"'
    assert s.get_value().tolist() == [1, 1]


def test_zero_fills_in_place():
    s = shared(np.ones(2))
    inside = s.get_value(borrow=True)
    s.zero()
    assert inside.tolist() == [0, 0] and s.get_value(borrow=True) is inside


def test_a_clone_shares_the_container_and_the_default_update():
    s = shared(1.0, name="s")
    s.default_update = s + 1.0
    other = s.clone(name="other")
    other.set_value(3.0)
    assert s.get_value() == 3.0 and other.name == "other" and other.default_update is s.default_update


def test_a_default_update_must_have_the_type_of_the_variable():
    s = shared(np.zeros(2))
    with pytest.raises(TypeError, match="Cannot convert Type"):
        s.default_update = at.fvector()
    s.default_update = None
    assert s.default_update is None


def test_shared_tensors_have_the_operators_of_tensors():
    s = shared(np.zeros(2))
    assert str((s + 1).owner.op) == "Elemwise{add,no_inplace}" and str(s[0].owner.op) == "Subtensor{int64}"


def test_new_shared_variables_are_collected_by_every_open_block():
    with collect_new_shareds() as outer:
        a = shared(1.0)
        with collect_new_shareds() as inner:
            b = shared([1])
    shared(2.0)
    assert outer == [a, b] and inner == [b]


def test_a_registered_constructor_is_asked_before_the_earlier_ones():
    class Special:
        pass

    @shared_constructor
    def make(value, name=None, strict=False, allow_downcast=None, **kwargs):
        if not isinstance(value, Special):
            raise TypeError()
        return SharedVariable(name=name or "special", type=generic, value=value)

    try:
        assert shared(Special()).name == "special" and type(shared(1.0)) is ScalarSharedVariable
    finally:
        shared_constructor(make, remove=True)
    assert shared(Special()).name is None


# --- containers ---


def test_a_container_filters_what_it_is_given():
    cell = Container(at.dscalar("x"), [None])
    assert cell.value is None
    cell.value = 2
    assert cell.value.dtype == "float64" and cell.data is cell.storage[0]
    cell.value = None
    assert cell.value is None


def test_a_container_names_itself_in_errors():
    cell = Container(at.dscalar("x"), [None])
    with pytest.raises(ValueError) as caught:
        cell.value = "a"
    assert caught.value.args[-1] == 'Container name "x"'


def test_a_read_only_container_refuses_to_be_set():
    cell = Container(at.dscalar("x"), [None], readonly=True)
    with pytest.raises(Exception, match="Cannot set readonly storage: x"):
        cell.value = 1.0


def test_a_container_needs_a_list_for_its_value():
    for storage in ((), [], None):
        with pytest.raises(TypeError, match="storage must be a list of length at least one"):
            Container(at.dscalar(), storage)


def test_the_flags_of_a_container_reach_the_filter():
    cell = Container(at.fscalar(), [None], allow_downcast=True)
    cell.value = 0.1
    assert cell.value == np.float32(0.1)
    with pytest.raises(TypeError):
        Container(at.fscalar(), [None], strict=True).value = 0.1

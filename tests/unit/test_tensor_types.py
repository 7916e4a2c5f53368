"""Tensor types: how they are made and compared, what their filter takes, and the named constructors."""
import copy
import pickle

import numpy as np
import pytest

import pyscan.tensor as at
from pyscan.tensor.type import TensorType, tensor_type


def test_the_text_shows_unknown_lengths_as_question_marks():
    assert str(TensorType("float64", (1, None))) == "TensorType(float64, (1, ?))"
    assert str(TensorType("int8", (None,))) == "TensorType(int8, (?,))"
    assert repr(TensorType("bool", ())) == "TensorType(bool, ())"


def test_true_and_false_in_a_shape_mean_one_and_unknown():
    assert TensorType("float64", (True, False)).shape == (1, None)


def test_equal_types_are_equal_and_hash_alike():
    a, b = TensorType("float64", (None, 3)), tensor_type("float64", (None, 3))
    assert a == b and hash(a) == hash(b)
    assert a != TensorType("float64", (None, None)) and a != TensorType("float32", (None, 3))


def test_types_come_back_from_pickling_and_copying():
    kind = TensorType("float32", (None, 1))
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert copy.deepcopy(kind) == kind


@pytest.mark.parametrize("dtype", ["foo", "float6"])
def test_a_name_that_is_no_dtype_is_refused(dtype):
    with pytest.raises(TypeError, match=f"Invalid dtype: {dtype}"):
        TensorType(dtype, ())


def test_dtypes_without_kernels_are_refused():
    with pytest.raises(TypeError, match="Unsupported dtype for TensorType: float16"):
        TensorType("float16", ())


def test_a_wider_type_is_super_and_a_narrower_is_not():
    wide, narrow = TensorType("float64", (None, None)), TensorType("float64", (1, 3))
    assert wide.is_super(narrow) and not narrow.is_super(wide)
    assert not wide.is_super(TensorType("float64", (None,)))
    assert not wide.is_super(TensorType("float32", (None, None)))


def test_filter_returns_an_array_of_the_type_unchanged():
    data = np.zeros(3)
    assert at.dvector.filter(data) is data


@pytest.mark.parametrize(
    "kind, value, expected",
    [
        (at.dvector, [1, 2], np.array([1.0, 2.0])),
        (at.dscalar, 3, np.array(3.0)),
        (at.fscalar, 0.5, np.array(0.5, dtype="float32")),
        (at.lscalar, 1.0, np.array(1)),
        (at.dvector, np.zeros(2, dtype="float32"), np.zeros(2)),
        (at.lvector, np.array([True, False]), np.array([1, 0])),
    ],
)
def test_filter_converts_what_loses_nothing(kind, value, expected):
    result = kind.filter(value)
    assert result.dtype == kind.dtype
    np.testing.assert_array_equal(result, expected)


def test_filter_refuses_arrays_of_higher_precision():
    with pytest.raises(TypeError, match=r"TensorType\(float32, \(\?,\)\) cannot store a value of dtype float64 without risking loss"):
        at.fvector.filter(np.array([0.5]))


def test_filter_refuses_numbers_that_change_and_says_into_what():
    with pytest.raises(TypeError, match=r"cannot store accurately value 0.1, it would be represented as 0.10000000149011612"):
        at.fscalar.filter(0.1)
    with pytest.raises(TypeError, match="cannot store accurately value 300"):
        at.bscalar.filter(300)


def test_filter_converts_anything_with_allow_downcast():
    assert at.fscalar.filter(0.1, allow_downcast=True) == np.float32(0.1)


def test_filter_takes_a_python_float_into_floatx(monkeypatch):
    import pyscan

    with pyscan.config.change_flags(floatX="float32"):
        assert at.fscalar.filter(0.1).dtype == "float32"
        with pytest.raises(TypeError):
            at.fscalar.filter(0.1, allow_downcast=False)


def test_filter_refuses_another_rank():
    with pytest.raises(TypeError, match=r"Wrong number of dimensions: expected 0, got 1 with shape \(2,\)."):
        at.dscalar.filter(np.zeros(2))


def test_filter_refuses_another_length_than_the_static_one():
    with pytest.raises(TypeError, match=r"The type's shape \(\(3,\)\) is not compatible with the data's \(\(2,\)\)"):
        TensorType("float64", (3,)).filter(np.zeros(2))


def test_filter_refuses_variables_none_and_text():
    with pytest.raises(TypeError, match="found a Variable"):
        at.dscalar.filter(at.dscalar())
    with pytest.raises(TypeError, match="got None"):
        at.dscalar.filter(None)
    with pytest.raises(ValueError, match="could not convert string to float: 'a'"):
        at.dscalar.filter("a")


def test_strict_filter_takes_arrays_of_the_dtype_only():
    with pytest.raises(TypeError, match="expected an ndarray object"):
        at.dscalar.filter(1.0, strict=True)
    with pytest.raises(TypeError, match="expected an ndarray with dtype=float64"):
        at.dvector.filter(np.zeros(2, dtype="float32"), strict=True)


def test_filter_copies_what_is_not_aligned_or_not_native():
    raw = np.zeros(17, dtype="uint8")[1:].view("float64")
    assert at.dvector.filter(raw).flags.aligned
    swapped = np.array([1.0]).astype(np.dtype("float64").newbyteorder())
    assert at.dvector.filter(swapped).dtype.isnative


def test_filter_variable_narrows_by_an_assertion_on_the_shape():
    x = at.dvector("x")
    narrowed = TensorType("float64", (3,)).filter_variable(x)
    assert narrowed.type.shape == (3,) and str(narrowed.owner.op) == "SpecifyShape"
    assert at.dvector.filter_variable(narrowed) is narrowed


def test_filter_variable_refuses_other_dtypes_in_the_usual_words():
    x = at.fvector("x")
    with pytest.raises(TypeError, match=r"Cannot convert Type TensorType\(float32, \(\?,\)\) \(of Variable x\) into Type TensorType\(float64"):
        at.dvector.filter_variable(x)


def test_constructors_have_the_ranks_and_dtypes_of_their_names():
    ranks = {"scalar": 0, "vector": 1, "matrix": 2, **{f"tensor{n}": n for n in range(3, 8)}}
    dtypes = dict(b="int8", w="int16", i="int32", l="int64", f="float32", d="float64", c="complex64", z="complex128")
    for stem, ndim in ranks.items():
        assert getattr(at, stem)("v").type == TensorType("float64", (None,) * ndim)
        for prefix, dtype in dtypes.items():
            assert getattr(at, prefix + stem)("v").type == TensorType(dtype, (None,) * ndim)
    assert at.row().type.shape == (1, None) and at.fcol().type.shape == (None, 1)


def test_scalar_takes_a_dtype_and_follows_floatx():
    import pyscan

    assert at.scalar("x", dtype="int8").dtype == "int8"
    with pyscan.config.change_flags(floatX="float32"):
        assert at.vector().dtype == "float32"


def test_plurals_make_one_variable_a_name_or_a_letter_or_nameless_ones():
    assert [v.name for v in at.dscalars("ab", "c")] == ["ab", "c"]
    assert [v.name for v in at.vectors("xy")] == ["x", "y"]
    assert [v.name for v in at.matrices(2)] == [None, None]


def test_tensor_takes_dtype_shape_and_name():
    x = at.tensor("int8", shape=(2, None), name="w")
    assert (x.type, x.name) == (TensorType("int8", (2, None)), "w")


def test_values_eq_counts_nan_as_equal_to_nan():
    assert TensorType.values_eq(np.array([np.nan, 1.0]), np.array([np.nan, 1.0]))
    assert not TensorType.values_eq(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))
    assert TensorType.values_eq_approx(np.array([1.0]), np.array([1.0 + 1e-9]))

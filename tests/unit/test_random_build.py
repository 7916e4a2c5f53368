"""Random variables before they are compiled: Ops, types, shared generators, distributions, streams."""
import copy
import inspect
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.selfcheck import read_regimes
from pyscan.tensor.random import RandomVariable, random_generator_type, random_state_type
from tests.parity.drawing import drawable

RANDOM = at.random
NAMES = [row["name"] for row in _core.dists()]


def example(name, **kwargs):
    """A draw of the distribution with parameters of its first regime, where it has no defaults."""
    row = next(row for row in _core.dists() if row["name"] == name)
    op = getattr(RANDOM, name)
    if not row["owners"][0]:
        kwargs.setdefault("rng", np.random.RandomState(3))
    if row["kinds"][0] == "n":
        return op(np.arange(8.0), **kwargs)
    parameters = inspect.signature(op).parameters.values()
    return op(*[value for value, p in zip(read_regimes(row)[0], parameters) if p.default in (p.empty, None)], **kwargs)


def params_of(draw):
    return draw.owner.inputs[3:]


def static(draw):
    return draw.type.shape


# The Op


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("normal", "normal_rv{0, (0, 0), floatX, False}"),
        ("exponential", "exponential_rv{0, (0,), floatX, False}"),
        ("integers", "integers_rv{0, (0, 0), int64, False}"),
        ("categorical", "categorical_rv{0, (1,), int64, False}"),
        ("random", "uniform_rv{0, (0, 0), floatX, False}"),
    ],
)
def test_an_op_prints_its_name_and_properties(name, text):
    assert str(getattr(RANDOM, name)) == text


def test_an_in_place_op_destroys_its_generator():
    op = type(RANDOM.normal)(inplace=True)
    assert str(op) == "normal_rv{0, (0, 0), floatX, True}"
    assert op.destroy_map == {0: [0]}
    assert not RANDOM.normal.destroy_map


def test_ops_are_equal_by_properties():
    cls = type(RANDOM.normal)
    assert cls() == RANDOM.normal and hash(cls()) == hash(RANDOM.normal)
    assert cls(inplace=True) != RANDOM.normal
    assert pickle.loads(pickle.dumps(RANDOM.normal)) == RANDOM.normal


def test_a_call_gives_the_draw_and_its_node_the_next_generator():
    draw = RANDOM.normal(0.0, 1.0, name="eps")
    next_rng, out = draw.owner.outputs
    assert draw is out and draw.name == "eps"
    assert next_rng.type == random_generator_type
    rng, size, index, loc, scale = draw.owner.inputs
    assert [str(v) for v in (size, index, loc, scale)] == [
        "TensorConstant{[]}", "TensorConstant{11}", "TensorConstant{0.0}", "TensorConstant{1.0}",
    ]  # fmt: skip
    assert (loc.type.dtype, size.type.dtype, index.type.dtype) == ("float32", "int64", "int64")


def test_integer_parameters_become_int8_constants():
    assert [p.type.dtype for p in params_of(RANDOM.normal(0, 1))] == ["int8", "int8"]


def test_the_dtype_of_the_op_wins_over_the_callers():
    assert RANDOM.normal(dtype="float32").type.dtype == "float64"
    assert RANDOM.bernoulli(0.5, dtype="bool").type.dtype == "int64"
    assert RandomVariable("own", 0, [0], None)(1.0, dtype="float32").type.dtype == "float32"
    with pytest.raises(TypeError, match="dtype is unspecified"):
        RandomVariable("own", 0, [0], None)(1.0)


def test_floatx_is_read_when_the_node_is_made():
    with pyscan.config.change_flags(floatX="float32"):
        draw = RANDOM.normal()
    assert draw.type.dtype == "float32"
    assert str(draw.owner.inputs[2]) == "TensorConstant{10}"


def test_ranks_of_parameters_must_be_a_sequence():
    with pytest.raises(TypeError, match="Parameter ndims_params must be sequence type."):
        RandomVariable("own", 0, 1, "float64")


def test_a_support_needs_a_parameter_with_its_rank():
    for ranks, size in (([0], None), ([0], 3), ([1], 3)):
        with pytest.raises(ValueError, match=r"Reference parameter does not match the expected dimensions; .* has less than 1 dim\(s\)\."):
            RandomVariable("own", 1, ranks, "float64")(0.5, size=size)
    with pytest.raises(IndexError, match="too many indices for array: parameter number 0 of own has 0 dimension"):
        RandomVariable("own", 1, [1], "float64")(0.5)
    with pytest.raises(IndexError, match="too many indices for array"):
        RANDOM.categorical(0.5)


def test_a_user_s_op_with_a_name_of_the_table_draws_by_its_own_function():
    class Own(RandomVariable):
        name, ndim_supp, ndims_params, dtype = "normal", 0, (0, 0), "float64"

        @classmethod
        def rng_fn(cls, rng, loc, scale, size):
            return np.full(size or (), loc + scale)

    assert getattr(Own(), "kind", None) is None
    assert RANDOM.normal.kind == "random"
    storage = [[None], [None]]
    node = Own()(1.0, 2.0, size=2).owner
    node.op.perform(node, [np.random.default_rng(0), np.array([2]), np.array(11), np.array(1.0), np.array(2.0)], storage)
    np.testing.assert_array_equal(storage[1][0], [3.0, 3.0])


@pytest.mark.parametrize("name, params, size", [("categorical", [np.full((3, 3), 1 / 3)], (1,)), ("gamma", [1.0, np.ones((2, 3))], (3,))])
def test_rng_fn_refuses_a_size_that_a_parameter_does_not_broadcast_to(name, params, size):
    with pytest.raises(ValueError, match="`size` is incompatible with the shape of `(p|scale)`"):
        getattr(RANDOM, name).rng_fn(np.random.default_rng(1), *params, size=size)


@pytest.mark.parametrize("name, params, size, words", [
    ("dirichlet", [np.ones((3, 3))], (10, 2), "operands could not be broadcast together"),
    ("dirichlet", [np.ones((1, 3, 3))], (3,), "input operand has more dimensions than allowed"),
    ("multinomial", [np.array([10, 20]), np.full((2, 2), 0.5)], (1,), "operands could not be broadcast together"),
    ("multinomial", [np.ones((5, 2), int), np.full((2, 2), 0.5)], (2,), "input operand has more dimensions than allowed"),
    ("multivariate_normal", [np.zeros((3, 2)), np.ones((3, 2, 2))], (4,), "operands could not be broadcast together"),
])
def test_rng_fn_refuses_batches_of_vectors_before_it_asks_the_generator(name, params, size, words):
    with pytest.raises(ValueError, match=words):
        getattr(RANDOM, name).rng_fn(None, *params, size=size)


@pytest.mark.parametrize("size", [None, (), []])
@pytest.mark.parametrize("name, params", [
    ("dirichlet", [np.array([[100.0, 1.0], [1.0, 100.0], [2.0, 3.0]])]),
    ("multinomial", [np.array([[10], [20]]), np.array([[0.25, 0.75], [0.5, 0.5]])]),
    ("multivariate_normal", [np.array([[0.0, 1.0], [4.0, 5.0]]), np.diag([1.0, 10.0])]),
])
def test_rng_fn_takes_an_empty_size_as_none_for_batches_of_vectors(name, params, size):
    drawn = getattr(RANDOM, name).rng_fn(np.random.default_rng(1), *params, size)
    np.testing.assert_array_equal(drawn, getattr(RANDOM, name)(*params, rng=np.random.default_rng(1)).eval())


def test_the_support_of_a_choice_follows_from_no_parameter():
    with pytest.raises(NotImplementedError, match="^choice draws elements of an array"):
        RANDOM.choice._supp_shape_from_params([np.asarray(5)])


def test_rng_fn_takes_size_by_keyword_too():
    by_place, by_name = (RANDOM.normal.rng_fn(np.random.default_rng(1), 0.0, 1.0, *a, **k) for a, k in (((2,), {}), ((), {"size": 2})))
    np.testing.assert_array_equal(by_place, by_name)


@pytest.mark.parametrize("name", ["standard_normal", "standard_exponential", "standard_gamma"])
def test_shorthands_have_their_names(name):
    assert getattr(RANDOM, name).__name__ == name


def state_of(generator):
    return repr(generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.bit_generator.state)


@pytest.mark.parametrize("name", drawable(NAMES))
def test_perform_draws_as_the_table_says_and_moves_its_generator_in_place_only(name):
    for inplace in (False, True):
        node = example(name, size=4).owner
        op = type(node.op)(inplace=inplace)
        make = np.random.default_rng if next(row for row in _core.dists() if row["name"] == name)["owners"][0] else np.random.RandomState
        given, storage = make(5), [[None], [None]]
        op.perform(node, [given, *[np.asarray(v.data) for v in node.inputs[1:]]], storage)
        assert (storage[0][0] is given) == inplace
        assert storage[1][0].shape == node.outputs[1].type.shape and storage[1][0].dtype == node.outputs[1].type.dtype
        fresh = state_of(make(5))
        assert (state_of(given) == fresh) == (not inplace)
        assert state_of(storage[0][0]) != fresh


# Sizes and static shapes


def scalar(name="n"):
    return at.lscalar(name)


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        (None, ()),
        (3, (3,)),
        ((3, 2), (3, 2)),
        (np.array([3, 2]), (3, 2)),
        ([3.0], (3,)),
        ((), ()),
        (scalar(), (None,)),
        ((scalar(), 2), (None, 2)),
        (at.dmatrix("m").shape, (None, None)),
        (at.constant(2), (2,)),
        (at.constant([3, 2], dtype="int32").astype("int64"), (3, 2)),
        (at.specify_shape(at.as_tensor([scalar(), 4]), (2,)), (None, 4)),
        (at.as_tensor([300, 2]).astype("int8"), (None, None)),
    ],
)
def test_the_static_shape_follows_the_size(size, shape):
    draw = RANDOM.normal(size=size)
    assert static(draw) == shape
    assert draw.owner.inputs[1].type.dtype == "int64" and draw.owner.inputs[1].type.ndim == 1


@pytest.mark.parametrize("size", [3.0, np.int64(3)])
def test_a_size_that_is_no_integer_or_sequence_is_refused(size):
    with pytest.raises(TypeError, match="Parameter size must be None, an integer, or a sequence with integers."):
        RANDOM.normal(size=size)


def test_a_size_of_unknown_rank_is_refused():
    with pytest.raises(ValueError, match="Length of n cannot be determined"):
        RANDOM.normal(size=at.lvector("n"))
    with pytest.raises(NotImplementedError, match="Cannot convert 'a' to a tensor variable."):
        RANDOM.normal(size="a")


@pytest.mark.parametrize(
    ("shapes", "shape"),
    [
        ([(3,), (2, 1)], (2, 3)),
        ([(None,), (1,)], (None,)),
        ([(3,), (None,)], (None,)),
        ([(3,), (2,)], (3,)),
        ([(None, None), ()], (None, None)),
    ],
)
def test_without_a_size_the_parameters_broadcast(shapes, shape):
    assert static(RANDOM.normal(*[at.TensorType("float64", s)() for s in shapes])) == shape


def test_a_vector_parameter_gives_its_other_axes_to_the_shape():
    assert static(RANDOM.categorical(np.full((2, 3), 1 / 3))) == (2,)
    assert static(RANDOM.categorical(at.dvector("p"))) == ()
    assert static(RANDOM.categorical(at.dmatrix("p"), size=3)) == (3,)


# Distributions


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_the_table_has_a_function(name):
    op, row = getattr(RANDOM, name), next(row for row in _core.dists() if row["name"] == name)
    assert isinstance(op, RandomVariable) and op.kind == "random"
    assert op.dtype == row["dtype"] and op.ndim_supp == row["ndim_supp"]
    assert row["doc"] in type(op).__doc__
    parameters = list(inspect.signature(op).parameters)
    assert {"size", "kwargs"} <= set(parameters) and len(parameters) - 2 == len(row["kinds"])
    assert example(name, size=2).type.shape == ((2,) * row["takes_size"] + example(name).type.shape[-1:] * row["ndim_supp"])


def test_functions_take_keywords_and_refuse_what_they_do_not_know():
    assert [str(p) for p in params_of(RANDOM.normal(scale=2.0, loc=1.0))] == ["TensorConstant{1.0}", "TensorConstant{2.0}"]
    with pytest.raises(TypeError, match=r"binomial\(\) missing 1 required positional argument: 'n'"):
        RANDOM.binomial(p=0.5)
    with pytest.raises(TypeError):
        RANDOM.normal(mean=1.0)


def test_gamma_takes_a_rate_and_its_node_the_scale():
    assert [float(p.data) for p in params_of(RANDOM.gamma(2.0, 4.0))] == [2.0, 0.25]
    scale = params_of(RANDOM.gamma(2.0, at.dscalar("r")))[1]
    assert str(scale.owner.op) == "Elemwise{true_divide,no_inplace}"


def test_integers_of_one_argument_start_at_zero():
    assert [int(p.data) for p in params_of(RANDOM.integers(5))] == [0, 5]
    assert [int(p.data) for p in params_of(RANDOM.integers(2, 5))] == [2, 5]
    with pytest.raises(TypeError, match="`integers` is only available for `RandomGeneratorType`s"):
        RANDOM.integers(5, rng=pyscan.shared(np.random.RandomState(1)))


@pytest.mark.parametrize(("name", "good", "bad", "other"), [
    ("randint", np.random.RandomState, np.random.default_rng, "`integers`"), ("integers", np.random.default_rng, np.random.RandomState, "`randint`"),
])
def test_integers_are_of_generators_and_randint_of_random_states(name, good, bad, other):
    draw = getattr(RANDOM, name)(5, size=3, rng=pyscan.shared(good(3)))
    assert [str(p) for p in params_of(draw)] == ["TensorConstant{0}", "TensorConstant{5}"] and str(draw.owner.op) == f"{name}_rv{{0, (0, 0), int64, False}}"
    np.testing.assert_array_equal(draw.eval(), getattr(good(3), name)(5, size=3))
    text = f"`{name}` is only available for `{'RandomStateType' if name == 'randint' else 'RandomGeneratorType'}`s.*{other}"
    for rng in (bad(3), pyscan.shared(bad(3))):
        with pytest.raises(TypeError, match=text):
            getattr(RANDOM, name)(0, 5, rng=rng)
    stream = at.random.RandomStream(3, rng_ctor=bad)
    with pytest.raises(TypeError, match=text):
        getattr(stream, name)(0, 5)
    assert stream.updates() == []


def test_randint_needs_a_random_state_to_be_given():
    with pytest.raises(TypeError, match="`randint` is only available for `RandomStateType`s"):
        RANDOM.randint(0, 5)
    stream = at.random.RandomStream(3, rng_ctor=np.random.RandomState)
    path, updates = pyscan.scan(lambda: stream.randint(2, 9), n_steps=20)
    twin = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(3).spawn(1)[0]))
    assert pyscan.function([], path, updates=updates)().tolist() == [twin.randint(2, 9) for _ in range(20)]


def test_standard_forms_are_partials_that_take_more_arguments():
    assert str(RANDOM.standard_normal(size=2).owner.op) == str(RANDOM.normal)
    assert static(RANDOM.standard_exponential(size=(2, 3))) == (2, 3)
    assert [float(p.data) for p in params_of(RANDOM.standard_gamma(2.0))] == [2.0, 1.0]


# Generators


def test_rng_takes_a_variable_a_generator_or_a_seed():
    rng = pyscan.shared(np.random.default_rng(1))
    assert RANDOM.normal(rng=rng).owner.inputs[0] is rng
    generator = np.random.default_rng(7)
    for given in (generator, 7, np.random.SeedSequence(7)):
        held = RANDOM.normal(rng=given).owner.inputs[0].get_value(borrow=True)
        assert held is not generator and held.bit_generator.state == generator.bit_generator.state
    with pytest.raises(TypeError, match="The type of rng should be an instance of either RandomGeneratorType or RandomStateType"):
        RANDOM.normal(rng=at.dvector("v"))


def test_without_rng_each_draw_has_a_fresh_generator_that_does_not_move():
    a, b = (RANDOM.normal().owner.inputs[0] for _ in range(2))
    assert a is not b and a.default_update is None


def test_types_of_generators_are_equal_by_class_and_print_their_class():
    assert repr(random_generator_type) == str(random_generator_type) == "RandomGeneratorType"
    assert type(random_state_type)() == random_state_type != random_generator_type
    assert str(random_generator_type()) == "<RandomGeneratorType>"


@pytest.mark.parametrize(
    ("random_type", "generator"),
    [(random_generator_type, np.random.default_rng(3)), (random_state_type, np.random.RandomState(3))],
)
def test_types_of_generators_take_generators_and_states(random_type, generator):
    assert random_type.filter(generator) is generator
    state = random_type._to_state(generator)
    assert random_type.values_eq(random_type.filter(state), generator)
    for bad in (3, {"bit_generator": "normal"}, {}):
        with pytest.raises(TypeError) as caught:
            random_type.filter(bad)
        assert caught.value.args == ()
    with pytest.raises(TypeError):
        random_type.filter(state, strict=True)


def test_values_of_generators_are_equal_by_state():
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    assert random_generator_type.values_eq(a, b)
    b.normal()
    assert not random_generator_type.values_eq(a, b)
    assert random_generator_type.may_share_memory(a, np.random.Generator(a.bit_generator))
    assert not random_generator_type.may_share_memory(a, b)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_shared_generator_is_copied_unless_borrowed(make):
    given = make(1)
    assert pyscan.shared(given).get_value(borrow=True) is not given
    rng = pyscan.shared(given, borrow=True)
    assert rng.get_value(borrow=True) is given
    assert rng.get_value() is not given and rng.type.values_eq(rng.get_value(), given)
    other = make(2)
    rng.set_value(other)
    assert rng.get_value(borrow=True) is not other
    rng.set_value(other, borrow=True)
    assert rng.get_value(borrow=True) is other
    with pytest.raises(TypeError, match='Container name "None"'):
        rng.set_value(3)


def test_an_unnamed_shared_generator_prints_its_value_and_a_named_one_its_name():
    rng = pyscan.shared(np.random.default_rng(1))
    assert str(rng) == f"RandomGeneratorSharedVariable(<{rng.get_value(borrow=True)!r}>)"
    assert repr(pyscan.shared(np.random.RandomState(1), name="rng")) == "rng"


def test_a_generator_can_be_made_in_the_graph():
    made = RANDOM.default_rng(3)
    assert made.type == random_generator_type
    storage = [[None]]
    for seed in (np.array(3), np.array([3])):
        made.owner.op.perform(made.owner, [seed], storage)
        assert storage[0][0].normal() == np.random.default_rng(3).normal()
    state = RANDOM.RandomState(3)
    state.owner.op.perform(state.owner, [np.array(3)], storage)
    assert storage[0][0].normal() == np.random.RandomState(3).normal()
    unseeded = RANDOM.default_rng()
    unseeded.owner.op.perform(unseeded.owner, [None], storage)
    assert isinstance(storage[0][0], np.random.Generator)


# Streams


def first_draw(rng):
    return copy.deepcopy(rng.get_value()).normal()


def child(seed, k):
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(k + 1)[k])


def test_the_k_th_variable_of_a_stream_has_the_k_th_child_of_the_seed():
    stream = RANDOM.RandomStream(42)
    draws = [stream.normal(), stream.uniform(), stream.normal()]
    for k, draw in enumerate(draws):
        rng = draw.owner.inputs[0]
        assert first_draw(rng) == child(42, k).normal()
        assert rng.default_update is draw.owner.outputs[0]
    assert stream.updates() == [(d.owner.inputs[0], d.owner.outputs[0]) for d in draws]
    assert stream.updates() is not stream.state_updates


def test_seeding_a_stream_seeds_its_variables_again_in_order():
    stream = RANDOM.RandomStream(42)
    rngs = [stream.normal().owner.inputs[0] for _ in range(2)]
    stream.seed(5)
    assert [first_draw(rng) for rng in rngs] == [child(5, k).normal() for k in range(2)]
    assert first_draw(stream.normal().owner.inputs[0]) == child(5, 2).normal()
    stream.seed()
    assert [first_draw(rng) for rng in rngs] == [child(42, k).normal() for k in range(2)]


def test_a_stream_of_the_old_generators_is_seeded_through_mt19937():
    stream = RANDOM.RandomStream(42, rng_ctor=np.random.RandomState)
    assert round(first_draw(stream.normal().owner.inputs[0]), 12) == round(-1.8946957441280379, 12)


def test_a_stream_has_the_distributions_as_methods_and_nothing_else():
    stream = RANDOM.RandomStream(1)
    assert stream.normal is stream.normal
    assert str(stream.standard_normal(size=2).owner.op) == str(RANDOM.normal)
    for name in ("foo", "RandomStream", "np", "default_rng"):
        with pytest.raises(AttributeError, match=f"No attribute {name}."):
            getattr(stream, name)


def test_a_stream_refuses_an_rng_and_numpy_s_bad_seeds():
    with pytest.raises(ValueError, match="The `rng` option cannot be used with a variate in a `RandomStream`"):
        RANDOM.RandomStream(1).normal(rng=pyscan.shared(np.random.default_rng()))
    with pytest.raises(ValueError, match="expected non-negative integer"):
        RANDOM.RandomStream(-1)
    with pytest.raises(TypeError, match="SeedSequence expects int or sequence of ints for entropy not 1.5"):
        RANDOM.RandomStream(1.5)


def test_a_stream_pickles_with_its_place_in_the_seed():
    stream = RANDOM.RandomStream(3)
    stream.normal()
    copied = pickle.loads(pickle.dumps(stream))
    assert first_draw(copied.normal().owner.inputs[0]) == first_draw(stream.normal().owner.inputs[0]) == child(3, 1).normal()

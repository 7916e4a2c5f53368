"""Streams, generators in graphs and random variables of users, row by row of what Aesara 2.9.4 does with them."""
import copy
import pickle
from functools import partial

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan._reference import ReferenceFunction
from pyscan.tensor.random import RandomStream, RandomVariable, random_generator_type, random_state_type

RANDOM = at.random


def child(seed, k=0):
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(k + 1)[k])


# Seeds of a stream


@pytest.mark.parametrize("seed", [0, 42, 2**70, [1, 2, 3], (1, 2), np.int64(4), np.array([1, 2]), True])
def test_a_stream_takes_the_seeds_that_numpy_takes(seed):
    stream = RandomStream(seed)
    assert stream.default_instance_seed is seed
    assert stream.normal().eval() == child(seed).normal()


@pytest.mark.parametrize(("seed", "error", "text"), [
    (-1, ValueError, "expected non-negative integer"),
    (1.5, TypeError, "SeedSequence expects int or sequence of ints for entropy not 1.5"),
    ("a", TypeError, "SeedSequence expects int or sequence of ints for entropy not a"),
    ([1.5], TypeError, "seed must be integer"),
])
def test_bad_seeds_are_numpys_errors(seed, error, text):
    with pytest.raises(error, match=text):
        RandomStream(seed)
    with pytest.raises(error, match=text):
        RandomStream(1).seed(seed)


def test_without_a_seed_streams_differ():
    assert RandomStream().normal().eval() != RandomStream().normal().eval()
    assert RandomStream().default_instance_seed is None


def test_a_seed_sequence_is_a_seed_and_stays_as_it_is():
    given = np.random.SeedSequence(42, spawn_key=(1,))
    given.spawn(3)
    stream = RandomStream(given)
    draws = [stream.normal(), stream.uniform()]
    expected = [np.random.default_rng(c) for c in np.random.SeedSequence(42, spawn_key=(1,)).spawn(3)]
    assert [draws[0].eval(), draws[1].eval()] == [expected[0].normal(), expected[1].uniform()]
    stream.seed()
    assert draws[0].eval() == np.random.default_rng(np.random.SeedSequence(42, spawn_key=(1, 0))).normal()
    stream.seed(np.random.SeedSequence(5))
    assert draws[0].eval() == child(5).normal()
    assert given.n_children_spawned == 3
    assert RandomStream(np.random.SeedSequence(42)).normal().eval() == RandomStream(42).normal().eval()


def test_seeding_goes_through_the_pairs_in_order_and_on_with_the_next_child():
    stream = RandomStream(42)
    a, b = stream.normal(), stream.uniform()
    values = [stream.seed(5), a.eval(), b.eval(), stream.normal().eval()]
    assert values == [None, child(5, 0).normal(), child(5, 1).uniform(), child(5, 2).normal()]
    stream.seed()
    assert [a.eval(), b.eval()] == [child(42, 0).normal(), child(42, 1).uniform()]
    assert [round(float(v), 12) for v in (child(42, 0).normal(), child(42, 1).uniform())] == [0.418329965324, 0.467490779952]
    assert stream.gen_seedgen.n_children_spawned == 3


def test_seeding_puts_the_new_generators_into_the_same_shared_variables():
    stream = RandomStream(1)
    rng = stream.normal().owner.inputs[0]
    held = rng.get_value(borrow=True)
    stream.seed(2)
    assert rng.get_value(borrow=True) is not held and stream.state_updates[0][0] is rng


# Makers of generators, namespaces


def test_the_maker_gets_seed_sequences_and_old_generators_come_through_mt19937():
    class Own(np.random.RandomState):
        pass

    for maker in (np.random.RandomState, Own):
        stream = RandomStream(42, rng_ctor=maker)
        draw = stream.normal()
        assert type(draw.owner.inputs[0].get_value()) is np.random.RandomState
        expected = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(42).spawn(1)[0])).normal()
        assert draw.eval() == expected and round(float(expected), 12) == -1.894695744128
    given = []
    RandomStream(3, rng_ctor=lambda seed: given.append(seed) or np.random.Generator(np.random.Philox(seed))).normal()
    assert given[0].spawn_key == (0,) and given[0].entropy == 3


@pytest.mark.parametrize("bad", [None, lambda seed: 3])
def test_a_maker_that_makes_no_generator_is_a_type_error(bad):
    with pytest.raises(TypeError):
        RandomStream(3, rng_ctor=bad).normal()


class Space:
    mine = RANDOM.normal
    centred = partial(RANDOM.normal, 0.0)
    number = 3

    @staticmethod
    def function(rng=None):
        return RANDOM.normal(1.0, rng=rng)


def test_a_namespace_of_the_users_own():
    assert RandomStream(3, namespace=Space).namespaces == [Space]
    assert RandomStream(3, namespace=Space).mine(1.0).eval() == child(3).normal(1.0)
    assert RandomStream(3, namespace=Space).centred(2.0).eval() == child(3).normal(0.0, 2.0)
    for name in ("function", "number", "normal", "np", "RandomVariable"):
        with pytest.raises(AttributeError, match=f"^No attribute {name}.$"):
            getattr(RandomStream(3, namespace=Space), name)
    assert RandomStream(3).gen(Space.function).eval() == child(3).normal(1.0)


def test_the_distributions_are_looked_up_where_aesara_has_them():
    assert RandomStream().namespaces == [RANDOM]
    assert RandomStream(1, None, np.random.default_rng).normal().eval() == child(1).normal()


def test_methods_are_kept_on_the_stream_and_take_what_the_function_takes():
    stream = RandomStream(1)
    assert stream.normal is stream.normal and "normal" in vars(stream)
    draw = stream.gen(RANDOM.normal, 1.0, 2.0, size=(2,), name="x")
    assert draw.name == "x"
    np.testing.assert_array_equal(draw.eval(), child(1).normal(1.0, 2.0, 2))
    for call in (stream.normal, lambda **k: stream.gen(RANDOM.normal, **k)):
        with pytest.raises(ValueError, match="^The `rng` option cannot be used with a variate in a `RandomStream`$"):
            call(rng=None)


def test_updates_are_a_new_list_of_the_pairs():
    stream = RandomStream(1)
    a, b = stream.normal(), stream.uniform()
    assert stream.updates() == stream.state_updates == [(d.owner.inputs[0], d.owner.outputs[0]) for d in (a, b)]
    stream.updates().clear()
    assert len(stream.state_updates) == 2
    assert all(rng.default_update is following and rng.name is None for rng, following in stream.updates())


def test_functions_of_a_stream_move_on_and_share_its_generators():
    draw = RandomStream(3).normal()
    f, g = pyscan.function([], draw), pyscan.function([], [draw, draw + 1])
    ref = child(3)
    assert f() == ref.normal()
    assert g() == [value := ref.normal(), value + 1]
    assert f() == ref.normal()
    still = pyscan.function([], draw, no_default_updates=True)
    assert still() == still() == copy.deepcopy(ref).normal()
    assert draw.eval() == ref.normal()


@pytest.mark.parametrize("maker", [np.random.default_rng, np.random.RandomState])
def test_a_stream_pickles_with_generators_names_and_place(maker):
    stream = RandomStream(4, rng_ctor=maker)
    first = stream.normal(name="a")
    copied = pickle.loads(pickle.dumps(stream))
    rng, following = copied.state_updates[0]
    assert rng.default_update is following and copied.namespaces == stream.namespaces
    assert copied.normal().eval() == stream.normal().eval()
    again, = pickle.loads(pickle.dumps([first]))
    assert again.name == "a" and again.eval() == first.eval()


# Types and shared generators


STATES = {
    "generator": lambda: np.random.default_rng(1),
    "old": lambda: np.random.RandomState(1),
    "state of a generator": lambda: np.random.default_rng(1).bit_generator.state,
    "state of an old one": lambda: np.random.RandomState(1).get_state(legacy=False),
    "state as a tuple": lambda: np.random.RandomState(1).get_state(),
    "nothing": lambda: None,
    "number": lambda: 3,
    "empty": dict,
    "bit generator": lambda: np.random.PCG64(1),
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(("of_type", "taken", "taken_strictly"), [
    (random_generator_type, {"generator", "state of a generator", "state of an old one"}, {"generator"}),
    (random_state_type, {"old", "state of an old one"}, {"old"}),
])
def test_a_type_takes_its_class_and_not_strictly_the_state(of_type, taken, taken_strictly, name):
    value = STATES[name]()
    for strict, accepted in ((False, taken), (True, taken_strictly)):
        assert of_type.is_valid_value(value, strict=strict) == (name in accepted)
        if name in accepted:
            assert isinstance(of_type.filter(value, strict=strict), of_type.value_class)
        else:
            with pytest.raises(TypeError) as caught:
                of_type.filter(value, strict=strict)
            assert caught.value.args == ()


@pytest.mark.parametrize(("of_type", "make"), [(random_generator_type, STATES["state of a generator"]), (random_state_type, STATES["state of an old one"])])
def test_a_state_with_a_part_missing_is_a_bare_type_error(of_type, make):
    for key in make():
        state = make()
        del state[key]
        with pytest.raises(TypeError) as caught:
            of_type.filter(state)
        assert caught.value.args == ()
    for key in make()["state"]:
        state = make()
        del state["state"][key]
        with pytest.raises(TypeError):
            of_type.filter(state)


@pytest.mark.parametrize("key", [np.arange(10), np.arange(624), np.arange(10, dtype=np.uint32), 3, None])
def test_an_old_state_whose_words_are_of_another_kind_is_a_type_error(key):
    state = STATES["state of an old one"]()
    state["state"]["key"] = key
    with pytest.raises(TypeError):
        random_state_type.filter(state)
    assert not random_state_type.is_valid_value(state, strict=False)


def test_types_are_equal_by_class_and_print_it():
    for of_type in (random_generator_type, random_state_type):
        name = type(of_type).__name__
        assert repr(of_type) == str(of_type) == name and str(of_type()) == f"<{name}>" and str(of_type("x")) == "x"
        assert of_type == type(of_type)() and hash(of_type) == hash(type(of_type)()) and of_type != 3
        assert pickle.loads(pickle.dumps(of_type)) == of_type
    assert random_generator_type != random_state_type and not random_generator_type.is_super(random_state_type)


def test_values_are_equal_by_state_and_share_memory_by_bit_generator():
    make = np.random.default_rng
    assert random_generator_type.values_eq(make(1), make(1).bit_generator.state)
    assert not random_generator_type.values_eq(make(1), make(2))
    assert not random_generator_type.values_eq(make(1), np.random.Generator(np.random.MT19937(1)))
    assert random_generator_type.values_eq_approx(make(1), make(1))
    old = np.random.RandomState
    assert random_state_type.values_eq(old(1), old(1)) and not random_state_type.values_eq(old(1), old(2))
    a = make(1)
    assert random_generator_type.may_share_memory(a, np.random.Generator(a.bit_generator))
    assert not random_generator_type.may_share_memory(a, copy.deepcopy(a))


@pytest.mark.parametrize("name", ["generator", "old"])
def test_a_container_of_a_generator_names_itself(name):
    rng = pyscan.shared(STATES[name](), name="r")
    for bad in (3, np.zeros(2), {}, STATES["old" if name == "generator" else "generator"]()):
        with pytest.raises(TypeError) as caught:
            rng.set_value(bad)
        assert caught.value.args == ('Container name "r"',)
    assert str(rng) == "r"
    unnamed = pyscan.shared(STATES[name](), name="")
    assert str(unnamed) == f"{type(unnamed).__name__}(<{unnamed.get_value(borrow=True)!r}>)"
    assert type(unnamed).__name__ == ("RandomGeneratorSharedVariable" if name == "generator" else "RandomStateSharedVariable")


def test_a_shared_generator_takes_a_state():
    rng = pyscan.shared(np.random.default_rng(1))
    rng.set_value(np.random.default_rng(2).bit_generator.state)
    assert rng.get_value().normal() == np.random.default_rng(2).normal()


def test_a_subclass_of_a_generator_stays_one():
    class Own(np.random.Generator):
        pass

    rng = pyscan.shared(Own(np.random.PCG64(1)))
    assert type(rng).__name__ == "RandomGeneratorSharedVariable" and type(rng.get_value()) is Own


# Generators made in the graph


MAKERS = [(RANDOM.default_rng, np.random.default_rng), (RANDOM.RandomState, np.random.RandomState)]


@pytest.mark.parametrize(("op", "make"), MAKERS)
@pytest.mark.parametrize(("seed", "numpy_seed"), [(3, 3), ([1, 2], [1, 2]), (np.array([3]), 3), (np.int64(7), 7), ([3], 3), (1.5, 1)])
def test_a_seed_in_the_graph_makes_the_generator_anew_at_each_call(op, make, seed, numpy_seed):
    f = pyscan.function([], RANDOM.normal(rng=op(seed)))
    assert f() == f() == make(numpy_seed).normal()
    assert RANDOM.normal(rng=op(seed=seed)).eval() == make(numpy_seed).normal()


@pytest.mark.parametrize(("op", "make"), MAKERS)
def test_a_symbolic_seed_and_no_seed(op, make):
    s, v = at.lscalar("s"), at.lvector("v")
    f, g = pyscan.function([s], RANDOM.normal(rng=op(s))), pyscan.function([v], RANDOM.normal(rng=op(v)))
    assert [f(3), f(4), g([3]), g([3, 4])] == [make(3).normal(), make(4).normal(), make(3).normal(), make([3, 4]).normal()]
    for none in (op(), op(None)):
        fresh = pyscan.function([], RANDOM.normal(rng=none))
        assert fresh() != fresh()


@pytest.mark.parametrize(("op", "make"), MAKERS)
def test_a_seed_in_a_step_makes_each_steps_own_generator(op, make):
    path, updates = pyscan.scan(lambda s: RANDOM.normal(rng=op(s)), sequences=[at.arange(3)])
    assert not updates
    assert pyscan.function([], path)().tolist() == [make(s).normal() for s in range(3)]


@pytest.mark.parametrize(("op", "make"), MAKERS)
def test_bad_seeds_in_the_graph(op, make):
    for seed in (-1, [1.5, 2.5]):
        with pytest.raises((ValueError, TypeError)) as caught:
            make(seed)
        with pytest.raises(caught.type, match=str(caught.value)[:20]):
            RANDOM.normal(rng=op(seed)).eval()
    with pytest.raises(NotImplementedError, match="Cannot convert 'a' to a tensor variable."):
        op("a")


def test_makers_print_and_compare_by_class_and_give_generators_as_outputs():
    assert str(RANDOM.default_rng) == "DefaultGeneratorMakerOp" and str(RANDOM.RandomState(3)) == "RandomStateConstructor.0"
    assert type(RANDOM.default_rng)() == RANDOM.default_rng != RANDOM.RandomState
    assert pyscan.function([], RANDOM.default_rng(3))().normal() == np.random.default_rng(3).normal()
    assert isinstance(RANDOM.default_rng, RANDOM.AbstractRNGConstructor)


# What is taken as rng=


@pytest.mark.parametrize("give", [
    lambda: np.random.default_rng(7), lambda: np.random.PCG64(7), lambda: 7, lambda: np.int32(7), lambda: np.random.SeedSequence(7), lambda: [7],
    lambda: (7,), lambda: np.array([7]),
])  # fmt: skip
def test_generators_bit_generators_and_seeds_are_taken_and_not_moved(give):
    given = give()
    f = pyscan.function([], RANDOM.normal(rng=given))
    assert f() == f() == np.random.default_rng(give()).normal()
    if isinstance(given, np.random.Generator):
        assert given.normal() == np.random.default_rng(7).normal()
    if isinstance(given, np.random.BitGenerator):
        assert given.state == np.random.PCG64(7).state


def test_an_old_generator_and_a_subclass_are_taken():
    class Own(np.random.Generator):
        pass

    assert RANDOM.normal(rng=np.random.RandomState(7)).eval() == np.random.RandomState(7).normal()
    assert RANDOM.normal(rng=Own(np.random.MT19937(7))).eval() == Own(np.random.MT19937(7)).normal()


@pytest.mark.parametrize("bad", [lambda: at.as_tensor(3), lambda: at.dscalar("x"), lambda: "seed", lambda: 1.5, lambda: np.zeros(2), lambda: [1.5], dict])
def test_anything_else_is_the_type_error_of_aesara(bad):
    with pytest.raises(TypeError, match="^The type of rng should be an instance of either RandomGeneratorType or RandomStateType"):
        RANDOM.normal(rng=bad())


def test_no_generator_is_a_fresh_one_that_no_call_moves():
    draw = RANDOM.normal()
    f = pyscan.function([], draw)
    assert f() == f() and draw.owner.inputs[0].default_update is None


# The spelling of PyTensor


def test_generator_variables_have_the_distributions_as_methods():
    rng = RANDOM.shared_rng(seed=3, name="rng")
    following, draw = rng.normal(1.0, size=2)
    f = pyscan.function([], draw, updates={rng: following})
    ref = np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_array_equal(f(), ref.normal(1.0, size=2))
    last, more = following.integers(10)
    assert str(more.owner.op) == str(RANDOM.integers) and more.owner.inputs[0] is following and last is more.owner.outputs[0]
    assert rng.standard_normal()[1].owner.inputs[0] is rng
    assert RANDOM.normal(rng=rng, return_next_rng=True)[1].type == RANDOM.normal(rng=rng).type
    for name in ("foo", "RandomVariable", "np", "_private"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(rng, name)
    assert not hasattr(RANDOM.rng("g"), "ndim")


def test_a_symbolic_generator_is_an_argument():
    rng = RANDOM.rng("rng")
    following, draw = rng.normal()
    f = pyscan.function([rng], [following, draw])
    given = np.random.default_rng(3)
    end, value = f(given)
    ref = np.random.default_rng(3)
    assert value == ref.normal() and end.normal() == ref.normal() and given.normal() == np.random.default_rng(3).normal()
    g = pyscan.function([pyscan.In(rng, mutable=True)], [following, draw])
    end, value = g(given)
    assert value == np.random.default_rng(3).normal(size=2)[1] and end.bit_generator.state == given.bit_generator.state


def test_shared_rng_takes_a_generator_or_a_seed():
    given = np.random.default_rng(3)
    assert RANDOM.shared_rng(given, borrow=True).get_value(borrow=True) is given
    assert RANDOM.shared_rng(given).get_value(borrow=True) is not given
    assert RANDOM.shared_rng(seed=None).get_value().normal() != RANDOM.shared_rng(seed=None).get_value().normal()
    for arguments in ({}, {"value": given, "seed": 3}):
        with pytest.raises(ValueError):
            RANDOM.shared_rng(**arguments)
    with pytest.raises(TypeError, match="Expected numpy.random.Generator, got"):
        RANDOM.shared_rng(np.random.RandomState(3))


# Sizes


N = at.lscalar("n")
SIZES = [
    (3, (3,), "TensorConstant{(1,) of 3}"), ((3, 2), (3, 2), "TensorConstant{[3 2]}"), (np.array([3, 2]), (3, 2), "TensorConstant{[3 2]}"),
    ([3, 2], (3, 2), "TensorConstant{[3 2]}"), ([3.0], (3,), "Elemwise{Cast{int64}}.0"), ((), (), "Elemwise{Cast{int64}}.0"),
    ([], (), "Elemwise{Cast{int64}}.0"), (N, (None,), "InplaceDimShuffle{x}.0"), ((N, 2), (None, 2), "MakeVector{dtype='int64'}.0"),
    (at.dmatrix("m").shape, (None, None), "Shape.0"), (None, (), "TensorConstant{[]}"), (np.array(3), (3,), "TensorConstant{(1,) of 3}"),
    (at.as_tensor([3, 2]), (3, 2), "TensorConstant{[3 2]}"), (at.constant(3), (3,), "Elemwise{Cast{int64}}.0"),
    (np.array([3, 2], dtype="int32"), (3, 2), "Elemwise{Cast{int64}}.0"), ([[1, 2]], (1, 2), "TensorConstant{[1 2]}"),
    (at.iscalar("i"), (None,), "Elemwise{Cast{int64}}.0"), (at.dvector("v").shape, (None,), "Shape.0"),
]  # fmt: skip


@pytest.mark.parametrize(("size", "shape", "text"), SIZES)
def test_what_a_size_becomes(size, shape, text):
    draw = RANDOM.normal(size=size)
    given = draw.owner.inputs[1]
    assert draw.type == at.TensorType("float64", shape)
    assert given.type == at.TensorType("int64", (len(shape),)) and str(given) == text
    if None not in shape:
        assert draw.eval().shape == shape


@pytest.mark.parametrize(("size", "error", "text"), [
    (at.lvector("v"), ValueError, "^Length of v cannot be determined(\n|$)"),
    (3.0, TypeError, "^Parameter size must be None, an integer, or a sequence with integers.(\n|$)"),
    (np.int64(3), TypeError, "^Parameter size must be None, an integer, or a sequence with integers.(\n|$)"),
    ({1}, TypeError, "^Parameter size must be None, an integer, or a sequence with integers.(\n|$)"),
    ("a", NotImplementedError, "^Cannot convert 'a' to a tensor variable.(\n|$)"),
    (["a"], TypeError, "Unsupported dtype for TensorType"),
])
def test_what_is_no_size(size, error, text):
    with pytest.raises(error, match=text):
        RANDOM.normal(size=size)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", pyscan.Mode("py", None)])
def test_a_negative_size_is_refused_at_run_time(mode):
    f = pyscan.function([N], RANDOM.normal(size=N), mode=mode)
    assert f(4).shape == (4,)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        f(-4)
    for size in (-2, (-1,)):
        with pytest.raises(ValueError, match="negative dimensions are not allowed"):
            pyscan.function([], RANDOM.normal(size=size), mode=mode)()


# Dtypes of draws and parameters


@pytest.mark.parametrize(("dtype", "result", "index"), [
    ("float32", "float32", 10), ("int64", "int64", 4), ("bool", "bool", 0), ("floatX", "float64", 11), (3, "int32", 3), (np.int64(10), "float32", 10),
    ("complex128", "complex128", 13), (at.constant(10), "float32", 10),
])  # fmt: skip
def test_a_dtype_that_the_op_leaves_open_is_the_callers(dtype, result, index):
    draw = RandomVariable("normal", 0, [0, 0], None)(0, 1, dtype=dtype)
    assert draw.type.dtype == result and draw.owner.inputs[2].data == index and draw.owner.inputs[2].type == at.TensorType("int64", ())


@pytest.mark.parametrize("dtype", [None, "foo", "float128"])
def test_no_dtype_and_an_unknown_one_are_refused(dtype):
    with pytest.raises(TypeError, match="^dtype is unspecified"):
        RandomVariable("normal", 0, [0, 0], None)(0, 1, dtype=dtype)


@pytest.mark.parametrize(("build", "start"), [
    (lambda: RANDOM.normal(1j), r"Cannot cast scalar from dtype\('complex128'\) to dtype\('float64'\)"),
    (lambda: RANDOM.poisson(at.zvector("v")), r"Cannot cast array data from dtype\('complex128'\) to dtype\('float64'\)"),
    (lambda: RANDOM.binomial(2.5, 0.5), r"Cannot cast scalar from dtype\('float32'\) to dtype\('int64'\)"),
    (lambda: RANDOM.binomial(at.dvector("n"), 0.5), r"Cannot cast array data from dtype\('float64'\) to dtype\('int64'\)"),
    (lambda: RANDOM.integers(3j), "Cannot cast scalar"),
])
def test_a_parameter_that_would_lose_a_part_is_refused_as_numpy_does(build, start):
    with pytest.raises(TypeError, match=start + ".*according to the rule 'safe': this is `.*` of "):
        build()


@pytest.mark.parametrize(("build", "ref"), [
    (lambda rng: RANDOM.binomial(np.uint64(3), 0.5, rng=rng), lambda rng: rng.binomial(3, 0.5)),
    (lambda rng: RANDOM.binomial(np.int8(3), 1, rng=rng), lambda rng: rng.binomial(3, 1)),
    (lambda rng: RANDOM.integers(0.5, 3.5, rng=rng), lambda rng: rng.integers(0.5, 3.5)),
    (lambda rng: RANDOM.normal(np.uint64(3), np.array(True), rng=rng), lambda rng: rng.normal(3, 1)),
])
def test_other_dtypes_of_parameters_are_converted(build, ref):
    assert build(RANDOM.default_rng(3)).eval() == ref(np.random.default_rng(3))


# Random variables of users


class Directions(RandomVariable):
    """A vector whose length is the value of a parameter."""

    name, ndim_supp, ndims_params, dtype = "directions", 1, [0, 0], "floatX"

    def _supp_shape_from_params(self, dist_params, rep_param_idx=0, param_shapes=None):
        return [dist_params[0]]

    @classmethod
    def rng_fn(cls, rng, length, scale, size):
        return rng.normal(0, scale, size=(*(size or ()), int(length)))


class Seven(RandomVariable):
    """A law that says the whole shape."""

    name, ndim_supp, ndims_params, dtype = "seven", 0, [1], "int64"

    def _infer_shape(self, size, dist_params, param_shapes=None):
        return (at.constant(7),)

    def rng_fn(self, rng, p, size):
        return rng.integers(0, 10, size=7)


class Sheets(RandomVariable):
    name, ndim_supp, ndims_params, dtype = "sheets", 2, [2], "floatX"

    def rng_fn(self, rng, a, size):
        return a + rng.normal(size=(*(size or ()), *a.shape))


class Loose(RandomVariable):
    name, ndim_supp, ndims_params, dtype = "loose", 0, (0,), None

    def rng_fn(self, rng, a, size):
        return 3.7


class Scaled(RandomVariable):
    """A law with arguments of its own."""

    name, ndim_supp, ndims_params, dtype = "scaled", 0, (0, 0), "floatX"

    def __call__(self, mu, sd, extra=1.0, size=None, **options):
        return super().__call__(mu * extra, sd, size=size, **options)

    @classmethod
    def rng_fn(cls, rng, mu, sd, size):
        return rng.normal(mu, sd, size)


class Shifted(type(RANDOM.normal)):
    def rng_fn(self, rng, loc, scale, size):
        return rng.normal(loc, scale, size) + 100


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_law_may_say_the_shape_of_its_support(mode):
    law, n = Directions(), at.lscalar("n")
    assert str(law) == "directions_rv{1, (0, 0), floatX, False}"
    assert law(4, 1.0).type.shape == (4,) and law(4, 1.0, size=(2, 3)).type.shape == (2, 3, 4) and law(n, 1.0).type.shape == (None,)
    draw = law(n, 1.0, size=(2,), rng=RANDOM.default_rng(3))
    drawn, shape = pyscan.function([n], [draw, draw.shape], mode=mode)(5)
    np.testing.assert_array_equal(drawn, np.random.default_rng(3).normal(size=(2, 5)))
    assert shape.tolist() == [2, 5]


def test_a_law_may_say_its_whole_shape():
    draw = Seven()(np.ones(3), rng=RANDOM.default_rng(3))
    assert draw.type.shape == (7,)
    np.testing.assert_array_equal(draw.eval(), np.random.default_rng(3).integers(0, 10, size=7))


def test_a_support_of_two_axes_follows_the_parameter():
    law = Sheets()
    assert law(np.ones((3, 2))).type.shape == (3, 2) and law(at.dmatrix()).type.shape == (None, None)
    assert law(np.ones((3, 2)), size=(4,)).type.shape == (4, 3, 2) and law(np.ones((5, 3, 2))).type.shape == (5, 3, 2)
    assert law(np.ones((3, 2)), size=(4,)).eval().shape == (4, 3, 2)
    with pytest.raises(IndexError, match="^too many indices for array"):
        law(np.ones(3))


def test_what_a_law_returns_is_converted_to_the_dtype():
    whole, single = Loose()(1.0, dtype="int64").eval(), Loose()(1.0, dtype="float32").eval()
    assert (whole.dtype, whole.shape, int(whole)) == (np.int64, (), 3)
    assert (single.dtype, float(single)) == (np.float32, float(np.float32(3.7)))


def test_a_law_with_arguments_of_its_own_is_a_method_of_a_stream():
    class Names:
        scaled = Scaled()

    draw = RandomStream(3, namespace=Names).scaled(1.0, 2.0, extra=3.0, size=2, name="q")
    assert draw.name == "q" and draw.type.shape == (2,)
    f = pyscan.function([], draw)
    ref = child(3)
    for _ in range(2):
        np.testing.assert_array_equal(f(), ref.normal(3.0, 2.0, 2))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("own", [Shifted(), Shifted(inplace=True)])
def test_a_subclass_of_a_distribution_draws_by_its_own_function(own, mode):
    draw = own(rng=RANDOM.default_rng(3))
    assert str(own).startswith("normal_rv{0, (0, 0), floatX, ")
    assert pyscan.function([], draw, mode=mode, accept_inplace=True)() == np.random.default_rng(3).normal() + 100
    assert getattr(own, "kind", None) is None


def test_a_law_by_the_name_of_a_method_of_numpy():
    law = RandomVariable("standard_normal", 0, [], "float64")
    assert law(size=(2,), rng=RANDOM.default_rng(3)).eval().tolist() == np.random.default_rng(3).standard_normal(2).tolist()


def test_the_shape_of_draws_as_a_graph():
    n, m = at.lscalar("n"), at.dmatrix("m")
    law = RANDOM.normal
    assert [int(x.eval()) for x in law._infer_shape(at.as_tensor([2, 3]), [at.zeros(3), at.ones(())])] == [2, 3]
    shape = law._infer_shape(at.constant([], dtype="int64"), [m, at.ones((n,))])
    f = pyscan.function([m, n], [at.as_tensor(x) for x in shape])
    assert [int(x) for x in f(np.zeros((2, 1)), 4)] == [2, 4]
    assert RandomVariable("own", 0, (), "float64")._infer_shape(at.constant([], dtype="int64"), ()).type == at.TensorType("int64", (0,))
    node = law(m, size=None).owner
    assert node.op.infer_shape(None, node, [None, None, None, (n, n), ()])[0] is None
    assert node.op.R_op([m], [None]) == [None]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", pyscan.Mode("py", None)])
@pytest.mark.parametrize("size", [(), [], np.array([], dtype="int64"), at.constant(np.zeros(0)), at.zeros((0,), dtype="int32"), None])
def test_a_size_of_no_lengths_says_nothing(size, mode):
    draw = RANDOM.normal(np.arange(3.0), 1.0, size=size, rng=RANDOM.default_rng(3))
    np.testing.assert_array_equal(pyscan.function([], draw, mode=mode)(), np.random.default_rng(3).normal(np.arange(3.0), 1.0))
    row = RANDOM.categorical(np.full((2, 4), 0.25), size=size, rng=RANDOM.default_rng(3))
    assert pyscan.function([], row, mode=mode)().shape == (2,)


def draw_in_scan(p, size):
    stream = RandomStream(1)
    draws, updates = pyscan.scan(lambda p: stream.categorical(p, size=size), non_sequences=[at.as_tensor(p)], n_steps=3)
    return pyscan.function([], draws, updates=updates)()


def draw_by_method(p, size):
    way = _core.draw_way("categorical")
    compiled = pyscan.function([], RANDOM.categorical(p, size=size, rng=RANDOM.default_rng(3)))
    _core.draw_way("categorical", "method")
    try:
        return compiled()
    finally:
        _core.draw_way("categorical", way)


def draw_in_mode(mode, p, size):
    return pyscan.function([], RANDOM.categorical(p, size=size, rng=RANDOM.default_rng(3)), mode=mode)()


def draw_by_reference(p, size):
    rng = pyscan.shared(np.random.default_rng(3))
    return ReferenceFunction([], [RANDOM.categorical(p, size=size, rng=rng)], shared={rng: rng.get_value()})()[0]


ENGINES = {
    "FAST_RUN": partial(draw_in_mode, "FAST_RUN"),
    "FAST_COMPILE": partial(draw_in_mode, "FAST_COMPILE"),
    "py": partial(draw_in_mode, pyscan.Mode("py", None)),
    "RandomState": lambda p, size: RANDOM.categorical(p, size=size, rng=np.random.RandomState(3)).eval(),
    "scan": draw_in_scan,
    "method": draw_by_method,
    "rng_fn": lambda p, size: RANDOM.categorical.rng_fn(np.random.default_rng(3), p, size),
    "reference": draw_by_reference,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("batch", "size"), [((3,), (2,)), ((3,), (1,)), ((3,), (3, 4)), ((2, 3), (3,)), ((0,), (2,)), ((3,), (3, 1))])
def test_a_size_that_the_probabilities_do_not_fit_is_refused_in_every_engine(engine, batch, size):
    with pytest.raises(ValueError, match="^`size` is incompatible with the shape of `p`"):
        ENGINES[engine](np.full((*batch, 4), 0.25), size)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("batch", "size"), [((), (2,)), ((1,), (3,)), ((3,), (4, 3)), ((1, 3), (2, 3)), ((3,), (3,))])
def test_a_size_that_the_probabilities_broadcast_to_is_taken_in_every_engine(engine, batch, size):
    assert np.shape(ENGINES[engine](np.full((*batch, 4), 0.25), size))[-len(size):] == size


def test_classes_of_distributions_have_the_names_of_aesara():
    for name in ("NormalRV", "ChiSquareRV", "HalfNormalRV", "LogNormalRV", "VonMisesRV", "FRV", "IntegersRV"):
        assert isinstance(getattr(RANDOM, name.removesuffix("RV").lower()), getattr(RANDOM, name))


class ScipyLaw(RANDOM.ScipyRandomVariable):
    name, ndim_supp, ndims_params, dtype = "law", 0, (0, 0), "floatX"

    @classmethod
    def rng_fn_scipy(cls, rng, loc, scale, size):
        return rng.normal(loc.max(), scale.max(), size)


def test_a_law_of_scipys_kind_is_broadcast_to_its_parameters():
    loc, scale = np.zeros((2, 1)), np.ones(3)
    drawn = ScipyLaw()(loc, scale, rng=RANDOM.default_rng(3)).eval()
    np.testing.assert_array_equal(drawn, np.full((2, 3), np.random.default_rng(3).normal()))
    assert ScipyLaw.rng_fn(np.random.default_rng(3), loc, scale, size=(4,)).tolist() == np.random.default_rng(3).normal(size=4).tolist()
    with pytest.raises(NotImplementedError, match="^ScipyRandomVariable defines no rng_fn_scipy"):
        RANDOM.ScipyRandomVariable("law", 0, (), "floatX")().eval()


def test_a_partial_under_a_name_of_its_own():
    centred = RANDOM.get_partial_wrapper(RANDOM.normal, "centred", loc=0.0)
    assert centred.__name__ == "centred" and centred.__module__ == RANDOM.normal.__module__
    assert RANDOM.standard_gamma.__name__ == "standard_gamma"


def test_broadcasting_parameters_leaves_their_own_axes():
    shapes = RANDOM.params_broadcast_shapes([(3,), (2, 1, 3, 3)], [1, 2], use_aesara=False)
    assert shapes == [(2, 1, 3), (2, 1, 3, 3)]
    mean, cov = RANDOM.broadcast_params([np.array([1, 2, 3]), np.stack([np.eye(3)] * 2)], [1, 2])
    assert mean.shape == (2, 3) and cov.shape == (2, 3, 3)
    mean, cov = at.dmatrix("mean"), at.dtensor3("cov")
    f = pyscan.function([mean, cov], RANDOM.broadcast_params([mean, cov], [1, 2]))
    assert [value.shape for value in f(np.zeros((1, 3)), np.zeros((4, 3, 3)))] == [(4, 3), (4, 3, 3)]


def test_the_default_support_is_the_end_of_a_parameters_shape():
    supp = RANDOM.default_supp_shape_from_params
    assert supp(1, (np.array([1, 2]), np.eye(2))) == (2,)
    assert supp(2, (np.array([1, 2]), np.ones((2, 3, 4))), rep_param_idx=1) == (3, 4)
    assert supp(1, (np.array([1, 2]), 0), param_shapes=((2,), ())) == (2,)
    with pytest.raises(ValueError, match="^ndim_supp must be greater than 0"):
        supp(0, (np.array([1, 2]), 0))
    with pytest.raises(ValueError, match="^Reference parameter does not match the expected dimensions"):
        supp(1, (np.array(1),))


# The Op itself


def test_ops_pickle_and_nodes_take_positional_arguments():
    assert pickle.loads(pickle.dumps(RANDOM.normal)) == RANDOM.normal
    again = pickle.loads(pickle.dumps(RANDOM.normal(0, 1, name="x")))
    assert again.name == "x" and again.owner.op == RANDOM.normal
    assert [str(v) for v in RANDOM.normal.make_node(None, None, at.constant(11), 0.0, 1.0).inputs[1:]] == [
        "TensorConstant{[]}", "TensorConstant{11}", "TensorConstant{0.0}", "TensorConstant{1.0}"]
    assert RANDOM.normal(0.0, 1.0, 3).type.shape == (3,)
    assert RANDOM.normal(name="q").owner.outputs[0].name is None
    assert RANDOM.normal(return_list=True)[0].owner.op is RANDOM.normal


def test_a_category_of_a_scalar_is_a_vector_of_one():
    assert RANDOM.categorical(0.5, size=(2,), rng=RANDOM.default_rng(3)).eval().tolist() == np.searchsorted(
        [0.5], np.random.default_rng(3).uniform(size=2)).tolist()

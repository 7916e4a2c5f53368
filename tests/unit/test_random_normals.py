"""Vectors of normals: numbers and states of NumPy's method with one factor for a matrix, and what is refused as Aesara refuses it."""
import re
import warnings
from functools import partial

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from pyscan.tensor import random_normals

MULTIVARIATE = at.random.multivariate_normal
I2, Z2 = np.eye(2), np.zeros(2)
BIT_GENERATORS = [getattr(np.random, name) for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")]


def make_cov(n, seed=0):
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T


def compile_draw(rng, mean, cov, size=None, **kwargs):
    """The function of a mean and a matrix, with symbols of their ranks, that draws from the generator and moves it."""
    shared = pyscan.shared(rng, borrow=True)
    symbols = [at.tensor("float64", (None,) * np.ndim(value)) for value in (mean, cov)]
    node = MULTIVARIATE(*symbols, size=size, rng=shared).owner
    function = pyscan.function(symbols, node.outputs[1], updates={shared: node.outputs[0]}, **kwargs)
    return partial(function, np.asarray(mean, float), np.asarray(cov, float)), shared


def same_state(a, b):
    return repr(a.bit_generator.state) == repr(b.bit_generator.state)


@pytest.fixture(params=["native", "method"])
def way(request):
    """Whether the core draws, or the generator's method does."""
    name = "multivariate_normal"
    if request.param == "native" and selfcheck.settle(name) == "method":
        pytest.skip("this NumPy's products are not those of its matmul's loop")
    before = _core.draw_way(name)
    _core.draw_way(name, before if request.param == "native" else "method")
    yield request.param
    _core.draw_way(name, before)


# Numbers


@pytest.mark.parametrize("make", BIT_GENERATORS)
def test_single_and_filled_draws_are_those_of_the_method_at_every_length(make):
    for size in (None, (1,), (2,), (3, 5), (0,), (257,)):
        draw, rng = compile_draw(np.random.Generator(make(5)), Z2, I2, size)
        twin = np.random.Generator(make(5))
        for n in range(1, 21):
            mean, cov = np.linspace(-3.0, 2.0, n), make_cov(n)
            np.testing.assert_array_equal(draw.func(mean, cov), twin.multivariate_normal(mean, cov, size))
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_a_loop_asks_once_for_the_factor_of_a_matrix_that_stays(n, way):
    random_normals._factors.clear()
    mean, cov = np.arange(float(n)), make_cov(n)
    rng, twin = pyscan.shared(np.random.default_rng(3)), np.random.default_rng(3)
    symbol = at.dmatrix("cov")

    def step(cov):
        node = MULTIVARIATE(mean, cov, rng=rng).owner
        return node.outputs[1], {rng: node.outputs[0]}
    n_steps = 100 if n < 60 else 20  # the twin factors in each
    draws, updates = pyscan.scan(step, non_sequences=[symbol], n_steps=n_steps)
    function = pyscan.function([symbol], draws, updates=updates)
    for factor in (1.0, 2.0, 2.0):
        expected = [twin.multivariate_normal(mean, cov * factor) for _ in range(n_steps)]
        np.testing.assert_array_equal(function(cov * factor), expected)
    assert same_state(rng.get_value(), twin)
    assert function.counters["python_calls"] == (0 if way == "native" else n_steps)


def test_matrices_that_change_from_step_to_step_have_factors_of_their_own():
    rng, twin = pyscan.shared(np.random.default_rng(3)), np.random.default_rng(3)
    covs = np.stack([make_cov(3, k % 4) for k in range(40)])

    def step(cov):
        node = MULTIVARIATE(np.ones(3), cov, rng=rng).owner
        return node.outputs[1], {rng: node.outputs[0]}
    draws, updates = pyscan.scan(step, sequences=[at.as_tensor(covs)])
    expected = [twin.multivariate_normal(np.ones(3), cov) for cov in covs]
    np.testing.assert_array_equal(pyscan.function([], draws, updates=updates)(), expected)
    assert same_state(rng.get_value(), twin)


def test_more_matrices_than_are_kept_are_factored_again():
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    covs = np.stack([make_cov(2, k) for k in range(random_normals._MOST_FACTORS + 5)] * 2)
    draw, _ = compile_draw(rng, Z2, covs)
    np.testing.assert_array_equal(draw(), [twin.multivariate_normal(Z2, cov) for cov in covs])
    assert len(random_normals._factors) <= random_normals._MOST_FACTORS


@pytest.mark.parametrize("view", [lambda cov: cov.T, lambda cov: cov[::2, ::2], lambda cov: cov[::-1, ::-1], np.asfortranarray])
def test_a_matrix_may_lie_in_any_order(view, way):
    cov = view(make_cov(6))
    draw, _ = compile_draw(np.random.default_rng(3), np.zeros(12)[:: 12 // len(cov)], cov, (4,))
    np.testing.assert_array_equal(draw(), np.random.default_rng(3).multivariate_normal(np.zeros(len(cov)), cov, 4))


def test_batches_broadcast_and_are_drawn_one_by_one(way):
    means, covs = np.arange(12.0).reshape(3, 1, 4), np.stack([make_cov(4, k) for k in range(2)])
    twin = np.random.default_rng(3)
    expected = np.array([[twin.multivariate_normal(mean[0], cov) for cov in covs] for mean in means])
    np.testing.assert_array_equal(compile_draw(np.random.default_rng(3), means, covs)[0](), expected)
    np.testing.assert_array_equal(compile_draw(np.random.default_rng(3), means, covs, (3, 2))[0](), expected)
    assert compile_draw(np.random.default_rng(3), np.zeros((0, 2)), I2)[0]().shape == (0, 2)


@pytest.mark.parametrize("cov, matrix", [(2.5, 2.5 * I2), (np.array([1.0, 2.0]), np.diag([1.0, 2.0]))])
def test_with_a_size_variances_alone_are_a_matrix(cov, matrix, way):
    drawn = MULTIVARIATE(Z2, cov, size=3, rng=np.random.default_rng(3)).eval()
    np.testing.assert_array_equal(drawn, np.random.default_rng(3).multivariate_normal(Z2, matrix, 3))
    with pytest.raises(IndexError, match="^too many indices for array"):
        MULTIVARIATE(Z2, cov)


# Errors


REFUSED = [
    (Z2, [[1.0, 2.0], [2.0, 1.0]], "The input matrix must be symmetric positive semidefinite."),
    (Z2, -I2, "The input matrix must be symmetric positive semidefinite."),
    (Z2, [[1.0, 0.0], [5.0, 1.0]], "The input matrix must be symmetric positive semidefinite."),
    (Z2, [[np.nan, 0.0], [0.0, 1.0]], "array must not contain infs or NaNs"),
    (Z2, [[np.inf, 0.0], [0.0, 1.0]], "array must not contain infs or NaNs"),
    (Z2, np.eye(3), "Dimension mismatch: array 'cov' is of shape (3, 3), but 'mean' is a vector of length 2."),
    (np.zeros(3), I2, "Dimension mismatch: array 'cov' is of shape (2, 2), but 'mean' is a vector of length 3."),
    (Z2, np.ones((2, 3)), "Array 'cov' must be square if it is two dimensional, but cov.shape = (2, 3)."),
    (np.zeros(1), I2, "cannot reshape array of size 4 into shape (1,1)"),
    (np.zeros((3, 1)), I2, "cannot reshape array of size 4 into shape (1,1)"),
    (Z2, np.stack([I2, -I2]), "The input matrix must be symmetric positive semidefinite."),
]


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("mean, cov, words", REFUSED)
def test_what_scipy_s_law_refuses_is_refused_in_its_words_with_the_state_as_before(make, mean, cov, words, way):
    draw, rng = compile_draw(make(3), mean, cov)
    for _ in range(2):
        with pytest.raises(ValueError, match="^" + re.escape(words)):
            draw()
    after, before = rng.get_value(borrow=True), make(3)
    assert after.standard_normal() == before.standard_normal()


@pytest.mark.parametrize("mean, size, words", [
    (np.zeros((3, 2)), (4,), r"operands could not be broadcast together with remapped shapes \[original->remapped\]: \(3,2\) +and requested shape \(4,2\)"),
    (np.zeros((2, 3, 2)), (3,), "input operand has more dimensions than allowed by the axis remapping"),
])
def test_a_size_that_a_batch_does_not_fit_is_refused_in_numpys_words(mean, size, words, way):
    with pytest.raises(ValueError, match=words):
        compile_draw(np.random.default_rng(3), mean, I2, size)[0]()


def test_a_matrix_refused_at_a_late_step_leaves_every_state_as_before(way):
    rng = pyscan.shared(np.random.default_rng(3))

    def step(k):
        node = MULTIVARIATE(Z2, at.as_tensor(I2) * (30.0 - k), rng=rng).owner
        return node.outputs[1], {rng: node.outputs[0]}
    draws, updates = pyscan.scan(step, sequences=[at.arange(50.0)])
    with pytest.raises(ValueError, match=r"(?s)^The input matrix must be symmetric positive semidefinite\..*multivariate_normal.*step 31"):
        pyscan.function([], draws, updates=updates)()
    assert same_state(rng.get_value(), np.random.default_rng(3))


def test_numpys_warning_of_a_matrix_that_is_not_symmetric_comes_with_each_draw(way):
    cov = [[1.0, 0.9], [0.0, 1.0]]
    draw, _ = compile_draw(np.random.default_rng(3), Z2, cov)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        drawn = draw()
        draw()
        expected = np.random.default_rng(3).multivariate_normal(Z2, cov)
    assert len(told) == 3 and len({str(warning.message) for warning in told}) == 1
    np.testing.assert_array_equal(drawn, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="positive-semidefinite"):
            draw()


def test_a_mean_may_be_anything(way):
    np.testing.assert_array_equal(np.isnan(compile_draw(np.random.default_rng(3), [np.nan, 0.0], I2)[0]()), [True, False])

"""Draws that are vectors, or are taken from an array: shapes, dtypes and values against the generator's own method."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

RANDOM = at.random


def drawn_and_state(make, seed=3, n_calls=2):
    """What a function drew in two calls, and where its generator stands."""
    rng = pyscan.shared(np.random.default_rng(seed), borrow=True)
    draw = make(rng)
    function = pyscan.function([], draw, updates={rng: draw.owner.outputs[0]})
    return [function() for _ in range(n_calls)], rng.get_value(borrow=True).bit_generator.state


CHOICES = [
    (5, None, True, None), (5, (2, 3), True, None), (1, 4, True, None), (8, 8, False, None), (8, 0, False, None), (20000, 300, False, None),
    (20000, 500, False, None), (20000, 20000, False, None), (300, 250, False, None), (5, 3, True, [0.1, 0.2, 0.3, 0.15, 0.25]),
    (5, 5, False, [0.1, 0.2, 0.3, 0.15, 0.25]), (200, 150, False, list(np.full(200, 1 / 200))), (3, 2, False, [0.5, 0.0, 0.5]),
]  # fmt: skip


@pytest.mark.parametrize("n, size, replace, p", CHOICES)
@pytest.mark.parametrize("kind", ["integer", "vector", "matrix"])
def test_choice_draws_as_numpy_does(n, size, replace, p, kind):
    array = {"integer": n, "vector": np.arange(n, dtype="float32") / 2, "matrix": np.arange(2 * n).reshape(n, 2)[:, ::-1]}[kind]
    twin = np.random.default_rng(3)
    drawn, state = drawn_and_state(lambda rng: RANDOM.choice(array, size, replace, p, rng=rng))
    for ours in drawn:
        expected = np.asarray(twin.choice(array, size, replace, p))
        assert (ours.dtype, ours.shape, ours.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
    assert state == twin.bit_generator.state


@pytest.mark.parametrize("x", [0, 5, np.int8(100), [3.0, 1.0, 2.0], np.arange(12, dtype="int16").reshape(4, 3), np.zeros((0, 2)), [True, False]])
def test_permutation_draws_as_numpy_does(x):
    twin = np.random.default_rng(3)
    drawn, state = drawn_and_state(lambda rng: RANDOM.permutation(x, rng=rng))
    for ours in drawn:
        expected = twin.permutation(x)
        assert ours.shape == expected.shape and np.array_equal(ours, expected)
    assert state == twin.bit_generator.state


@pytest.mark.parametrize("a, size, replace, p, text", [
    (0, None, True, None, "a cannot be empty unless no samples are taken"),
    (2, 3, False, None, "Cannot take a larger sample than population when replace is False"),
    (3, 2, True, [0.5, 0.5], "a and p must have same size"),
    (3, 2, True, [0.1, 0.1, 0.1], "[Pp]robabilities do not sum to 1"),
    (3, 2, True, [1.5, -0.5, 0.0], "[Pp]robabilities are not non-negative"),
    (3, 2, True, [np.nan, 0.5, 0.5], "[Pp]robabilities contain NaN"),
    (3, 2, False, [1.0, 0.0, 0.0], "Fewer non-zero entries in p than size"),
])  # fmt: skip
def test_choice_refuses_what_numpy_refuses_and_leaves_the_generator(a, size, replace, p, text):
    rng = pyscan.shared(np.random.default_rng(3), borrow=True)
    draw = RANDOM.choice(a, size, replace, p, rng=rng)
    function = pyscan.function([], draw, updates={rng: draw.owner.outputs[0]})
    with pytest.raises(ValueError, match=text):
        function()
    assert rng.get_value(borrow=True).bit_generator.state == np.random.default_rng(3).bit_generator.state


def test_single_precision_probabilities_have_their_own_tolerance():
    p = np.array([0.1, 0.2, 0.7001], "float32")
    drawn, _ = drawn_and_state(lambda rng: RANDOM.choice(3, 5, True, p, rng=rng), n_calls=1)
    np.testing.assert_array_equal(drawn[0], np.random.default_rng(3).choice(3, 5, True, p))
    with pytest.raises(ValueError, match="[Pp]robabilities do not sum to 1"):
        drawn_and_state(lambda rng: RANDOM.choice(3, 5, True, p.astype("float64"), rng=rng))


@pytest.mark.parametrize("make, text", [
    (lambda rng: RANDOM.dirichlet([1.0, -2.0], rng=rng), "^alpha < 0"),
    (lambda rng: RANDOM.multinomial(5, [0.9, 0.9, 0.9], rng=rng), r"^sum\(pvals\[:-1\]\) > 1.0"),
    (lambda rng: RANDOM.multinomial(5, [-0.1, 0.9, 0.2], rng=rng), "^pvals < 0, pvals > 1 or pvals contains NaNs"),
    (lambda rng: RANDOM.multinomial([5, -5], [0.1, 0.9], rng=rng), "^n < 0"),
    (lambda rng: RANDOM.multinomial(5, np.zeros(0), rng=rng), "^pvals must have at least 1 dimension"),
])  # fmt: skip
def test_vectors_are_refused_in_numpys_words(make, text):
    with pytest.raises(ValueError, match=text):
        drawn_and_state(make)


def test_draws_in_a_loop_are_those_of_single_calls():
    srng = RANDOM.RandomStream(7)

    def step():
        return srng.dirichlet([1.0, 2.0]), srng.multinomial(6, [0.2, 0.8]), srng.permutation(4), srng.choice(9, 3, replace=False)
    outputs, updates = pyscan.scan(step, n_steps=5)
    drawn = pyscan.function([], outputs, updates=updates)()
    first, second, third, fourth = (np.random.default_rng(child) for child in np.random.SeedSequence(7).spawn(4))
    np.testing.assert_array_equal(drawn[0], [first.dirichlet([1.0, 2.0]) for _ in range(5)])
    np.testing.assert_array_equal(drawn[1], [second.multinomial(6, [0.2, 0.8]) for _ in range(5)])
    np.testing.assert_array_equal(drawn[2], [third.permutation(4) for _ in range(5)])
    np.testing.assert_array_equal(drawn[3], [fourth.choice(9, 3, replace=False) for _ in range(5)])


@pytest.mark.parametrize("name, args, text", [
    ("choice", ([1.0, 2.0],), "choice_rv{0, (1, 1, 0), None, False}"), ("permutation", (5,), "permutation_rv{1, (1,), None, False}"),
    ("dirichlet", ([1.0, 2.0],), "dirichlet_rv{1, (1,), floatX, False}"), ("multinomial", (3, [0.5, 0.5]), "multinomial_rv{1, (0, 1), int64, False}"),
    ("multivariate_normal", (), "multivariate_normal_rv{1, (1, 2), floatX, False}"),
])  # fmt: skip
def test_ops_print_as_aesaras_do(name, args, text):
    assert str(getattr(RANDOM, name)(*args).owner.op) == text

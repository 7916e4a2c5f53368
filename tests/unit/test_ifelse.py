"""ifelse: which values it gives, what it leaves uncomputed, and which arguments it refuses."""
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import Apply, Op
from pyscan.ifelse import IfElse, ifelse


@pytest.mark.parametrize("condition, value", [(1, 5.0), (0, -5.0)])
def test_the_condition_picks_one_value_or_one_list(condition, value):
    c, x = at.iscalar("c"), at.dscalar("x")
    one, several = ifelse(c, x, -x), ifelse(c, [x, x * 2.0], [-x, -x * 2.0], name="branch")
    assert str(several[0].owner.op) == "if{branch}"
    assert [float(v) for v in pyscan.function([c, x], [one, *several])(condition, 5.0)] == [value, value, 2.0 * value]


def test_the_op_takes_arrays_for_values():
    c = at.iscalar("c")
    (out,) = IfElse(1).make_node(c, np.ones(2), np.zeros(2)).outputs
    np.testing.assert_array_equal(pyscan.function([c], out)(0), [0.0, 0.0])


def test_lengths_that_differ_become_unknown():
    assert ifelse(at.iscalar("c"), at.zeros(2), at.zeros(3)).type.shape == (None,)


def test_tuples_give_tuples():
    c, x = at.iscalar("c"), at.dscalar("x")
    assert [type(ifelse(c, kind([x, x]), [x, -x])) for kind in (tuple, list)] == [tuple, list]


class _Noted(Op):
    """Doubles, and notes what."""

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        noted.append(inputs[0].tolist())
        output_storage[0][0] = inputs[0] * 2.0


noted: list = []
C, V = at.lscalar("c"), at.dvector("v")


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", pyscan.Mode("py", None)], ids=str)
@pytest.mark.parametrize("make", [
    lambda c, v: ifelse(c, v[5] * 2.0, v[0]),
    lambda c, v: ifelse(at.eq(c, 0), v[0], v.dot(v[:1])),
    lambda c, v: ifelse(c, [v[0], v[5]], [v[1], v[0]])[1],
    lambda c, v: ifelse(c, ifelse(v[0] > 0, v[6], v[7]), v[0]),
    lambda c, v: ifelse(c, at.set_subtensor(v[5], 1.0)[0], v[0]),
    lambda c, v: pyscan.scan(lambda i: ifelse(i < c, v[i + 1], v[0]), sequences=[at.arange(2)])[0][-1],
    lambda c, v: ifelse(c, pyscan.scan(lambda s: s + v[5], outputs_info=[at.zeros(())], n_steps=2)[0][-1], v[0]),
], ids=["index", "product", "list", "nested", "write", "in a loop", "a loop"])
def test_what_only_the_branch_that_is_not_taken_needs_may_fail(make, mode):
    f = pyscan.function([C, V], make(C, V), mode=mode)
    for g in (f, pickle.loads(pickle.dumps(f))):
        assert g(0, [3.0, 4.0]) == 3.0
        with pytest.raises((IndexError, ValueError)):
            g(2, [3.0, 4.0])
        assert g(0, [3.0, 4.0]) == 3.0


def test_what_branches_of_one_condition_share_is_not_computed_either():
    shared_by_two, needed = _Noted()(V), _Noted()(V * 3.0)
    f = pyscan.function([C, V], [ifelse(C, shared_by_two, V), ifelse(C, shared_by_two + 1.0, V), ifelse(C, V, needed), needed])
    noted.clear()
    assert [out.tolist() for out in f(0, [1.0])] == [[1.0], [1.0], [6.0], [6.0]] and noted == [[3.0]]
    noted.clear()
    assert [out.tolist() for out in f(1, [1.0])] == [[2.0], [3.0], [1.0], [6.0]] and sorted(noted) == [[1.0], [3.0]]


def test_an_expression_of_numbers_runs_without_python_in_a_loop():
    xs, _ = pyscan.scan(lambda x: ifelse(x > 1.0, x * 0.5, x + 1.0), outputs_info=[at.zeros(())], n_steps=4)
    f = pyscan.function([], xs)
    assert f().tolist() == [1.0, 2.0, 1.0, 2.0] and "call" not in f.vm.listing()


def test_an_integer_divided_by_zero_in_the_other_branch_is_no_error():
    f = pyscan.function([C], ifelse(C > 0, 10 // C, C))
    assert (f(0), f(3)) == (0, 3)


def test_draws_in_a_branch_are_made_in_any_case():
    stream = at.random.RandomStream(5)
    draws, updates = pyscan.scan(lambda i: ifelse(i < 2, stream.normal(), at.zeros(())), sequences=[at.arange(4)])
    want = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0]).normal(size=4)
    np.testing.assert_array_equal(pyscan.function([], draws, updates=updates)(), [*want[:2], 0.0, 0.0])
    (rng,) = updates
    assert rng.get_value().normal() == np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0]).normal(size=5)[4]


@pytest.mark.parametrize("condition, then, otherwise, error, message", [
    (at.ivector("c"), 1.0, 2.0, TypeError, r"The condition argument must be a truthy scalar value; c has 1 dimension"),
    (at.iscalar("c"), 1.0, at.dvector("x"), TypeError, "IfElse requires compatible ndim values for both branches: got true_branch=0, false_branch=1"),
    (at.iscalar("c"), at.dscalar("x"), at.fscalar("y"), TypeError, "requires compatible dtype values for both branches: got true_branch=float64, false_branch=float32"),
    (at.iscalar("c"), [1.0], [1.0, 2.0], ValueError, "The number of values on the `then` branch must match the `else` branch: got 1 for `then`, and 2 for `else`"),
])
def test_what_does_not_fit_is_refused(condition, then, otherwise, error, message):
    with pytest.raises(error, match=message):
        ifelse(condition, then, otherwise)

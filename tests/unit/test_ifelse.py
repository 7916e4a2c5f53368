"""ifelse: which values it gives, and which arguments it refuses."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
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


@pytest.mark.parametrize("condition, then, otherwise, error, message", [
    (at.ivector("c"), 1.0, 2.0, TypeError, r"The condition argument must be a truthy scalar value; c has 1 dimension"),
    (at.iscalar("c"), 1.0, at.dvector("x"), TypeError, "The two branches should have compatible types"),
    (at.iscalar("c"), [1.0], [1.0, 2.0], ValueError, "The number of values on the `then` branch must equal"),
])
def test_what_does_not_fit_is_refused(condition, then, otherwise, error, message):
    with pytest.raises(error, match=message):
        ifelse(condition, then, otherwise)

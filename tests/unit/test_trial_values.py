"""config.compute_test_value: expressions are computed on examples while they are written."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.errors import TestValueError
from pyscan.ifelse import ifelse
from pyscan.tensor.random import RandomStream


@pytest.fixture(autouse=True)
def raising():
    with pyscan.config.change_flags(compute_test_value="raise"):
        yield


def example(value, name="x"):
    x = at.as_tensor_variable(value).type(name)
    x.tag.test_value = value
    return x


def test_each_expression_has_a_value_from_examples_constants_and_shared_variables():
    x, w = example(np.arange(3.0)), pyscan.shared(np.array([1.0, 2.0, 4.0]))
    y = at.dot(at.exp(x) + 1, w)
    assert float(y.tag.test_value) == float(y.get_test_value()) == pytest.approx((np.exp(np.arange(3.0)) + 1) @ [1.0, 2.0, 4.0])
    assert y.owner.inputs[0].get_test_value().tolist() == (np.exp(np.arange(3.0)) + 1).tolist()
    assert x.get_test_value() is x.tag.test_value and w.get_test_value().tolist() == [1.0, 2.0, 4.0]


def test_shapes_that_do_not_fit_raise_where_they_are_written():
    x, y = example(np.zeros(3)), example(np.zeros(4), "y")
    with pytest.raises(ValueError, match="Input dimension mismatch|shape"):
        x + y


def test_a_variable_without_an_example_raises_warns_or_is_passed_over():
    x = at.dvector("x")
    with pytest.raises(ValueError, match=r"^Cannot compute test value: input 0 \(x\) of Op .* missing default value.*test_trial_values.py, line"):
        at.exp(x)
    with pyscan.config.change_flags(compute_test_value="warn"), pytest.warns(UserWarning, match="^Warning, Cannot compute test value: input 0") as seen:
        y = at.exp(x)
    assert len(seen) == 1
    with pyscan.config.change_flags(compute_test_value="ignore"):
        z = at.exp(y)
    for variable in (x, y, z):
        with pytest.raises(TestValueError, match="has no test value"):
            variable.get_test_value()


def test_values_go_on_where_some_were_not_computed():
    x = example(np.array(2.0))
    with pyscan.config.change_flags(compute_test_value="off"):
        y = x * 3
    assert not hasattr(y.tag, "test_value")
    assert float((y + 1).get_test_value()) == 7.0


def test_draws_are_the_stream_s_first_and_move_no_generator():
    stream, n = RandomStream(3), example(np.array(2), "n")
    x = stream.normal(0.0, 1.0, size=(n, 2))
    ref = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    first = ref.normal(size=(2, 2))
    assert x.get_test_value().tolist() == first.tolist()
    assert pyscan.function([n], x)(2).tolist() == first.tolist()
    y = at.random.uniform(rng=x.owner.outputs[0])
    assert float(y.get_test_value()) == ref.uniform()
    next_rng, draw = at.random.shared_rng(seed=4).normal()
    assert float(draw.get_test_value()) == np.random.default_rng(4).normal() and next_rng.get_test_value() is not None


def test_loops_and_branches_have_values_as_wholes():
    x0, flag = example(np.array(1.0), "x0"), example(np.array(1), "flag")
    xs, _ = pyscan.scan(lambda x, a: at.exp(x) * a, outputs_info=[x0], non_sequences=[at.constant(0.5)], n_steps=3)
    assert xs.tag.test_value.tolist() == pyscan.function([x0], xs)(1.0).tolist()
    assert float((xs[-1] + 1).get_test_value()) == xs.get_test_value()[-1] + 1
    assert float(ifelse(flag, x0, -x0).tag.test_value) == 1.0
    stream = RandomStream(3)
    draws, updates = pyscan.scan(lambda: stream.normal(), n_steps=4)
    expected = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0]).normal(size=4).tolist()
    assert draws.tag.test_value.tolist() == pyscan.function([], draws, updates=updates)().tolist() == expected


def test_operations_that_overwrite_leave_the_example_alone():
    x = example(np.zeros(3))
    y = at.set_subtensor(x[0], 5.0, inplace=True)
    assert y.get_test_value().tolist() == [5.0, 0.0, 0.0] and x.get_test_value().tolist() == [0.0, 0.0, 0.0]


def test_a_users_op_is_computed_too_and_its_error_is_raised_at_its_line():
    class Half(pyscan.Op):
        def make_node(self, x):
            return pyscan.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            if inputs[0] < 0:
                raise ValueError("below nothing")
            output_storage[0][0] = np.asarray(inputs[0] / 2)

    assert float(Half()(example(np.array(3.0))).tag.test_value) == 1.5
    with pytest.raises(ValueError, match="below nothing"):
        Half()(example(np.array(-3.0)))


def test_the_flag_works_by_assignment_and_is_put_back_by_an_error():
    x = example(np.array(2.0))
    pyscan.config.compute_test_value = "off"
    assert not hasattr((x + 1).tag, "test_value")
    with pytest.raises(ValueError, match="^Invalid value"):
        with pyscan.config.change_flags(compute_test_value="ignore", floatX="wrong"):
            pass
    assert not hasattr((x + 2).tag, "test_value")
    pyscan.config.restore({"compute_test_value": "raise"})
    assert (x + 3).tag.test_value == 5.0

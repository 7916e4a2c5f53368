"""The message of a call that fails names the user's variables, wherever the node is and whatever rewriting made of it."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import function, scan

x, m, k = at.dvector("myx"), at.dmatrix("mym"), at.lscalar("myk")


def told(inputs, output, values, mode):
    with pytest.raises((ValueError, IndexError)) as caught:  # LinAlgError is a ValueError
        function(inputs, output, mode=mode)(*values)
    return str(caught.value)


def inverse_of(p):
    return at.nlinalg.matrix_inverse(p)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("inputs, output, values, names", [
    ([m, k], lambda: inverse_of(m * k), (np.eye(2), 0), ["mym", "myk"]),
    ([x, m], lambda: scan(lambda a, p: inverse_of(p) * a, [x], [m])[0], ([1.0, 0.0, 2.0], np.eye(2)), ["mym (the initial value of a state)"]),
    ([x, m], lambda: scan(lambda a: inverse_of(m * a), [x])[0], ([1.0, 0.0], np.eye(2)), ["myx (a sequence)", "mym"]),
    ([x, k], lambda: scan(lambda i: x[i + k], [at.arange(4)])[0], (np.ones(3), 2), ["myx", "myk"]),
    ([x, k], lambda: scan(lambda: scan(lambda i: x[i * k], [at.arange(4)])[0], n_steps=2)[0], (np.ones(3), 2), ["myx", "myk"]),
    ([x, k], lambda: scan(lambda a, b: x[at.cast(a + k, "int64")] + b, [], [{"initial": x, "taps": [-2, -1]}], n_steps=3)[0], ([5.0, 1.0], 2),
     ["myx (the initial value of a state)", "myk"]),
    ([k], lambda: pyscan.shared(np.ones(3), "mine")[k], (7,), ["mine"]),
    ([k], lambda: pyscan.shared(np.ones((3, 3)))[0][k], (7,), [f"a shared variable without name of type TensorType(float64, (?, ?)) (made in file {__file__}, line "]),
])  # fmt: skip
def test_the_users_variables_are_named(inputs, output, values, names, mode):
    text = told(inputs, output(), values, mode)
    assert all(name in text for name in names), text


def test_the_names_in_one_message_are_few():
    parts = [at.dvector(f"part{i}") for i in range(30)]
    total = parts[0]
    for part in parts[1:]:
        total = total * part
    text = told([*parts, k], total[k], [np.ones(2)] * 30 + [5], "FAST_COMPILE")
    assert "It computes with: part29, myk, part28, part27, part26, part25, part24, part23\n" in text

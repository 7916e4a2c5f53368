"""pyscan.tensor.nnet: activations and losses, beside the formulas on NumPy's arrays."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.tensor import nnet

X = np.array([[-30.0, -2.0, -0.25, 0.0], [0.25, 1.0, 3.0, 30.0]])
P = np.array([[0.125, 0.25, 0.5, 0.125], [0.25, 0.25, 0.25, 0.25]])
SIGMOID = 1.0 / (1.0 + np.exp(-X))


@pytest.mark.parametrize("make, want", [
    (nnet.relu, np.maximum(X, 0.0)),
    (lambda x: nnet.relu(x, 0.25), np.where(X > 0, X, 0.25 * X)),
    (nnet.elu, np.where(X > 0, X, np.expm1(X))),
    (nnet.selu, 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X))),
    (nnet.softsign, X / (1.0 + np.abs(X))),
    (nnet.hard_sigmoid, np.clip(0.2 * X + 0.5, 0.0, 1.0)),
    (nnet.sigmoid, SIGMOID),
    (nnet.softmax, np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    (nnet.logsoftmax, X - np.log(np.exp(X).sum(1, keepdims=True))),
    (lambda x: nnet.sigmoid_binary_crossentropy(x, P), np.logaddexp(0.0, X) - P * X),
    (lambda x: nnet.binary_crossentropy(at.sigmoid(x[:, :3]), P[:, :3]),
     -(P * np.log(SIGMOID) + (1.0 - P) * np.log(1.0 - np.minimum(SIGMOID, 0.99)))[:, :3]),
    (lambda x: nnet.categorical_crossentropy(at.exp(x / 30.0), P), -(P * X / 30.0).sum(1)),
    (lambda x: nnet.categorical_crossentropy(at.exp(x / 30.0), np.array([3, 1])), -X[[0, 1], [3, 1]] / 30.0),
])
def test_activations_and_losses_are_their_formulas(make, want):
    x = at.dmatrix("x")
    np.testing.assert_allclose(pyscan.function([x], make(x))(X), want, rtol=1e-12, atol=1e-13)


def test_activations_keep_float32():
    x = at.fvector("x")
    for activation in (nnet.relu, nnet.elu, nnet.softsign, nnet.hard_sigmoid, nnet.softmax):
        assert activation(x).type.dtype == "float32"


@pytest.mark.parametrize("true, message", [
    (at.dvector("v"), "Integer vector required for argument `true_one_of_n`"), (at.dscalar("s"), "rank mismatch between coding and true distributions"),
])
def test_distributions_of_other_ranks_are_refused(true, message):
    with pytest.raises(TypeError, match=message):
        nnet.categorical_crossentropy(at.dmatrix("p"), true)

"""Distributions by the functions that users call, against what Aesara 2.9.4 drew (NumPy 1.23.5, SciPy 1.10.1).

The parameters' own dtypes count: a Python float is a float32 constant, and what Aesara or SciPy computes of it first is rounded to
float32. Logarithms and powers may differ in the last bits between CPUs and NumPy versions; a missing rounding is a million times larger.
"""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from tests.parity.drawing import needs_scipy

# The call, the Op, and the first three draws of numpy.random.default_rng(7).
RECORDED = [
    ("triangular(0.5, 1.5, 2.0)", "triangular_rv{0, (0, 0, 0), floatX, False}", [1.4683197818422387, 1.7223497717040046, 1.589834506185485]),
    ("hypergeometric(20, 30, 15)", "hypergeometric_rv{0, (0, 0, 0), int64, False}", [8, 5, 6]),
    ("nbinom(5.0, 0.3)", "nbinom_rv{0, (0, 0), int64, False}", [14, 5, 11]),
    ("negative_binomial(4, 0.25)", "nbinom_rv{0, (0, 0), int64, False}", [14, 5, 12]),
    ("t(3.0, 1.0, 2.0)", "t_rv{0, (0, 0, 0), floatX, False}", [1.0024440567481414, -1.5337951548767834, 1.0811525440346663]),
    ("standard_t(2.5)", "t_rv{0, (0, 0, 0), floatX, False}", [0.001238366295708104, -1.3467560937692382, 0.039543021138195224]),
    ("pareto(1.7, 2.0)", "pareto_rv{0, (0, 0), floatX, False}", [3.561761889750222, 7.625087214187122, 4.818133522586101]),
    ("pareto(1.0)", "pareto_rv{0, (0, 0), floatX, False}", [2.6673457131698917, 9.728932574926736, 4.458030346316649]),
    ("gumbel(1.5)", "gumbel_rv{0, (0, 0), floatX, False}", [2.255339880690285, 3.72136374922061, 2.870389992000128]),
    ("gumbel(0.1, 0.7)", "gumbel_rv{0, (0, 0), floatX, False}", [0.6287379164831993, 1.654954624454427, 1.0592729944000896]),
    ("cauchy(1.5, 0.3)", "cauchy_rv{0, (0, 0), floatX, False}", [1.6243694942633196, 2.3965266644370082, 1.8527909281351178]),
    ("standard_cauchy()", "cauchy_rv{0, (0, 0), floatX, False}", [0.4145649808777321, 2.9884222147900283, 1.175969760450393]),
    ("halfcauchy(0.1, 0.3)", "halfcauchy_rv{0, (0, 0), floatX, False}", [0.5491275135689464, 1.9419155050981134, 0.9158907434821312]),
    ("truncexpon(2.3)", "truncexpon_rv{0, (0, 0, 0), floatX, False}", [0.8265051434391707, 1.6464140965319676, 1.1970512796023958]),
    ("truncexpon(2, 0.1, 0.3)", "truncexpon_rv{0, (0, 0, 0), floatX, False}", [0.3332835986478321, 0.5485504885189578, 0.43324317033367277]),
    ("truncexpon(np.float64(2.3), 1, 2)", "truncexpon_rv{0, (0, 0, 0), floatX, False}", [2.6530102868783416, 4.292828193063935, 3.3941025592047915]),
    ("truncexpon(np.int64(2))", "truncexpon_rv{0, (0, 0, 0), floatX, False}", [0.7776119728472831, 1.4951682284497227, 1.1108105285661454]),
    ("gengamma()", "gengamma_rv{0, (0, 0, 0), floatX, False}", [0.7075292557919215, 1.025203348294905, 0.5685486573832514]),
    ("gengamma(2.2, 3.3, 0.7)", "gengamma_rv{0, (0, 0, 0), floatX, False}", [0.6017924364412632, 0.7186320228879463, 0.4050748425594066]),
    ("gengamma(np.float64(2.2), 3.3, 1.0)", "gengamma_rv{0, (0, 0, 0), floatX, False}", [0.8597034806303762, 1.026617175554209, 0.5786783465134381]),
    ("gengamma(2, 3, 1)", "gengamma_rv{0, (0, 0, 0), floatX, False}", [0.846805272746294, 1.0293175519057125, 0.5478743331378332]),
    ("gengamma(1.0, 0.5)", "gengamma_rv{0, (0, 0, 0), floatX, False}", [2.7830757202917535, 1.7881458168379547, 1.3130895569224215]),
    ("betabinom(10, 0.7, 2.0)", "beta_binomial_rv{0, (0, 0, 0), int64, False}", [2, 1, 3]),
    ("invgamma(1.7, 0.3)", "invgamma_rv{0, (0, 0), floatX, False}", [0.2867422521495467, 0.7686279503961764, 0.4381400241189863]),
    ("invgamma(np.float32(0.3), 2)", "invgamma_rv{0, (0, 0), floatX, False}", [73.94319191133636, 5637.169129790992, 416.7129202332806]),
    ("logistic()", "logistic_rv{0, (0, 0), floatX, False}", [0.511232968691715, 2.1666430914624955, 1.240699162906991]),
    ("standard_gamma(0.7)", "gamma_rv{0, (0, 0), floatX, False}", [0.6467559560370074, 1.1408393317738528, 0.17921493460531482]),
    ("gamma(2.0, 3.0)", "gamma_rv{0, (0, 0), floatX, False}", [0.5560850974338123, 0.44573856523476907, 0.3819670661955646]),
    ("halfnormal(1, 2)", "halfnormal_rv{0, (0, 0), floatX, False}", [1.002460306714965, 1.5974910750169398, 1.5482757107244352]),
    ("random()", "uniform_rv{0, (0, 0), floatX, False}", [0.625095466604667, 0.8972138009695755, 0.7756856902451935]),
    ("standard_normal()", "normal_rv{0, (0, 0), floatX, False}", [0.0012301533574825742, 0.2987455375084699, -0.2741378553622176]),
    ("standard_exponential()", "exponential_rv{0, (0,), floatX, False}", [0.7075292557919215, 1.025203348294905, 0.5685486573832514]),
]


def draw(call, **kwargs):
    """The draw that a call like "normal(0.0)" stands for, from a generator with the seed 7."""
    rng = pyscan.shared(np.random.default_rng(7), borrow=True)
    name, arguments = call[:-1].split("(", 1)
    return getattr(at.random, name)(*eval(f"({arguments}{',' if arguments else ''})", {"np": np}), rng=rng, **kwargs)


@pytest.mark.parametrize(("call", "op", "expected"), [pytest.param(*row, marks=needs_scipy) if "invgamma" in row[0] else row for row in RECORDED])
def test_draws_are_those_that_aesara_made(call, op, expected):
    filled = draw(call, size=3)
    assert str(filled.owner.op) == op
    assert np.allclose(filled.eval(), expected, rtol=1e-13, atol=1e-15)
    if call.startswith("betabinom"):
        return  # of an array all betas come first
    one = draw(call)
    carried = one.owner.inputs[0]
    path, updates = pyscan.scan(lambda: (one, {carried: one.owner.outputs[0]}), n_steps=3)
    assert np.allclose(pyscan.function([], path, updates=updates)(), expected, rtol=1e-13, atol=1e-15)


def test_betabinom_draws_all_betas_of_an_array_first_and_one_by_one_in_a_loop():
    filled, alone = np.random.default_rng(7), np.random.default_rng(7)
    p = filled.beta(0.5, 2.0, 4)
    expected = filled.binomial([3, 5, 1000, 0], p)
    rng = pyscan.shared(np.random.default_rng(7), borrow=True)
    assert at.random.betabinom([3, 5, 1000, 0], 0.5, 2.0, rng=rng).eval().tolist() == expected.tolist()

    def step(n):
        one = at.random.betabinom(n, 0.5, 2.0, rng=rng)
        return one, {rng: one.owner.outputs[0]}
    path, updates = pyscan.scan(step, sequences=[at.as_tensor_variable([3, 5, 1000, 0])])
    drawn = pyscan.function([], path, updates=updates)()
    assert drawn.tolist() == [alone.binomial(n, alone.beta(0.5, 2.0)) for n in (3, 5, 1000, 0)]
    assert rng.get_value(borrow=True).bit_generator.state == alone.bit_generator.state


def test_invgamma_without_scipy_is_refused_with_advice(run_python):
    done = run_python("-c", "import sys; sys.modules['scipy'] = sys.modules['scipy.special'] = None\n"
                            "import pyscan.tensor as at\n"
                            "at.random.invgamma(2.0, 1.0).eval()")
    assert "invgamma needs SciPy: pip install 'pyscan[scipy]'" in done.stderr


# What is rounded to float32 is decided by dtypes; the formulas are those of spec and SciPy, written out.

SINGLE = ["float32", "int8", "int16"]
DOUBLE = ["float64", "int32", "int64"]


def uniforms(n):
    return np.random.default_rng(7).uniform(size=n)


@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("dtype", SINGLE + DOUBLE)
def test_truncexpon_rounds_its_end_where_float32_holds_b(dtype, is_array):
    b = np.full(5, 2.25, "float64").astype(dtype)
    rng = pyscan.shared(np.random.default_rng(7), borrow=True)
    drawn = at.random.truncexpon(b if is_array else b[0], 0.5, 2.0, size=5, rng=rng).eval()
    ends = np.expm1(-b.astype("float64"))
    ends = ends.astype("float32").astype("float64") if dtype in SINGLE else ends
    assert drawn.tobytes() == (-np.log1p(uniforms(5) * ends) * 2.0 + 0.5).tobytes()


@pytest.mark.parametrize(("dtypes", "is_single"), [
    (("float32", "float32"), True), (("int16", "float32"), True), (("int8", "float32"), True), (("float32", "int16"), True),
    (("float64", "float32"), False), (("float32", "float64"), False), (("int8", "int8"), False), (("int32", "float32"), False),
    (("float64", "float64"), False), (("int64", "int64"), False),
])
@pytest.mark.parametrize("p", [3.0, 2.0, 0.5, 1.0])
def test_gengamma_divides_in_the_dtype_of_its_parameters(dtypes, is_single, p):
    alpha, p = np.asarray(2.2).astype(dtypes[0]), np.asarray(p).astype(dtypes[1])
    if p == 0:
        pytest.skip("no such p in integers")
    shape = np.float64(alpha) / np.float64(p)
    shape = np.float64(np.float32(shape)) if is_single else shape
    gammas = np.random.default_rng(7).standard_gamma(shape, size=5)
    power = {2.0: np.sqrt(gammas), 0.5: gammas * gammas}.get(float(p))
    power = np.power(gammas, np.full(5, 1.0 / np.float64(p))) if power is None else power
    for parameters in ((alpha, p), (np.full(5, alpha), p), (np.full(5, alpha), np.full(5, p))):
        rng = pyscan.shared(np.random.default_rng(7), borrow=True)
        assert at.random.gengamma(*parameters, np.float64(0.7), size=5, rng=rng).eval().tobytes() == (power * 0.7).tobytes()


def test_parameters_without_a_default_have_none_and_the_others_are_the_specs():
    defaults = {"t": "0.0 1.0", "pareto": "1.0", "gumbel": "1.0", "cauchy": "0.0 1.0", "halfcauchy": "0.0 1.0", "truncexpon": "0.0 1.0",
                "gengamma": "1.0 1.0 1.0", "logistic": "0 1"}
    for name, text in defaults.items():
        op = getattr(at.random, name)
        n = len(op.ndims_params) - len(text.split())
        node = op(*[1.0] * n).owner
        assert [str(p) for p in node.inputs[3 + n:]] == [f"TensorConstant{{{value}}}" for value in text.split()]
        if n:
            with pytest.raises(TypeError, match="missing 1 required positional argument"):
                op(*[1.0] * (n - 1))

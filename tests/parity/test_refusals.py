"""Domain errors of every distribution: class and message of the generator's own method, then the random variable's name, its
line and the step, with every generator and shared variable as before the call.

The cases are made from the table: in the parameters of a row's first regime each parameter, and each pair of them, is
replaced by troublesome values. What the method of the running NumPy refuses must be refused in its words, and what it takes
must be taken. Of the laws that Aesara draws through scipy.stats, SciPy's own `rvs` is asked.
"""
import inspect
import itertools
import re

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from pyscan.tensor.random import RandomVariable
from tests.parity.drawing import ROWS, drawable

NAN, INF = float("nan"), float("inf")
TROUBLES = {
    "d": [NAN, INF, -INF, -1.0, -0.0, 0.0, 1.0, 1.5, 1e19],
    "l": [-1, 0, 1, 10**9, -2**63],
    "v": [[NAN, 0.5, 0.1], [0.7, 0.8, 0.1], [-0.5, 0.5, 0.5], [1.5, 0.1, 0.1], [INF, 1.0, 0.0], [0.0, 0.0, 0.0]],
}
# The laws of scipy.stats whose checks and words are wanted: the name there, shapes, loc and scale.
LAWS = {
    "bernoulli": lambda p: ("bernoulli", (p,), {}),
    "beta_binomial": lambda n, a, b: ("betabinom", (n, a, b), {}),
    "cauchy": lambda loc, scale: ("cauchy", (loc, scale), {}),
    "gamma": lambda shape, scale: ("gamma", (shape,), {"scale": scale}),
    "gengamma": lambda alpha, p, lambd: ("gengamma", (alpha / p, p), {"scale": lambd}),
    "gumbel": lambda loc, scale: ("gumbel_r", (loc, scale), {}),
    "halfcauchy": lambda loc, scale: ("halfcauchy", (loc, scale), {}),
    "halfnormal": lambda loc, scale: ("halfnorm", (loc, scale), {}),
    "invgamma": lambda shape, scale: ("invgamma", (shape,), {"scale": scale}),
    "nbinom": lambda n, p: ("nbinom", (n, p), {}),
    "pareto": lambda b, scale: ("pareto", (b,), {"scale": scale}),
    "t": lambda df, loc, scale: ("t", (df, loc, scale), {}),
    "truncexpon": lambda b, loc, scale: ("truncexpon", (b, loc, scale), {}),
}
NAMES = [name for name, row in ROWS.items() if selfcheck.has_batches(row)]
N_STEPS, BAD_STEP = 40, 23  # enough to run in blocks
FORMS = ["scalar", "array", "blocks", "steps"]


def node_kinds(name):
    return ROWS[name]["kinds"].rstrip("sr")


def good_params(name, dtypes=()):
    """Those of the first regime, rounded up where integers are wanted."""
    params = selfcheck.read_regimes(ROWS[name])[0][: len(node_kinds(name))]
    return tuple(np.ceil(p) if np.issubdtype(dtype, np.integer) else p for p, dtype in itertools.zip_longest(params, dtypes, fillvalue="float64"))


def troubled_params(name, dtypes):
    """Parameters with one or two of them replaced, without values that the dtypes do not hold."""
    good, kinds = good_params(name, dtypes), node_kinds(name)
    for n in (1, 2):
        for chosen in itertools.combinations([i for i, kind in enumerate(kinds) if kind in TROUBLES], n):
            for values in itertools.product(*(TROUBLES[kinds[i]][:: n] for i in chosen)):
                params = [*good]
                for i, value in zip(chosen, values):
                    params[i] = np.array(value if kinds[i] != "v" else value[: len(good[i])])
                if name == "beta_binomial" and np.isinf(params[1]):
                    continue  # SciPy leaves it to binomial to refuse the NaN that beta draws; here it is a domain error as others are
                if name == "zipf" and params[0] > 1024 and np.lib.NumpyVersion(np.__version__) < "2.0.0":
                    continue  # its own zipf never ends there
                if all(np.issubdtype(dtype, np.floating) or (np.isfinite(p).all() and (p == np.rint(p)).all() and np.all(abs(p) <= 2**63))
                       for i, (p, dtype) in enumerate(zip(params, dtypes)) if i in chosen):
                    yield tuple(p.astype(dtype) for p, dtype in zip(params, dtypes))


def refusal(name, size, params):
    """The exception with which these parameters are refused, or None."""
    try:
        with np.errstate(all="ignore"):
            if name in LAWS:
                law, args, options = LAWS[name](*params)
                stats = pytest.importorskip("scipy.stats")
                getattr(stats, law).rvs(*args, **options, size=size, random_state=make_generator(name))
            else:
                _core.draw_method(name)(np, make_generator(name), size, *params)
    except (ValueError, OverflowError) as error:
        return error
    return None


def make_generator(name):
    return np.random.default_rng(5) if ROWS[name]["owners"][0] else np.random.RandomState(5)


def text_of_state(generator):
    return repr(generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.bit_generator.state)


def draw_here(name, rng, size, params):
    """A named draw, the next generator, and the line that made it, as an error tells it."""
    op = getattr(at.random, name)
    draw, line = RandomVariable.__call__(op, *params, size=size, rng=rng, name="the_draw"), inspect.currentframe().f_lineno
    return draw, draw.owner.outputs[0], line


class Case:
    """A function of the parameters that draws, counts its calls in a shared variable and moves a generator of its own besides."""

    def __init__(self, name, form, dtypes):
        self.name, self.form, self.dtypes = name, form, dtypes
        self.rng, self.other = pyscan.shared(make_generator(name), borrow=True), pyscan.shared(np.random.default_rng(9), borrow=True)
        self.count = pyscan.shared(np.int64(0))
        symbols = [at.TensorType(dtype, (None,) * (p.ndim + (form != "scalar")))() for p, dtype in zip(good_params(name), dtypes)]
        if form in ("scalar", "array"):
            drawn, next_rng, self.line = draw_here(name, self.rng, None, symbols)
            updates = {self.rng: next_rng}
        else:
            drawn, updates = pyscan.scan(self.step, sequences=symbols)
        other = at.random.normal(rng=self.other)
        updates = {**dict(updates), self.other: other.owner.outputs[0], self.count: self.count + 1}
        with pyscan.config.change_flags(scan__block_steps=0 if form == "steps" else 256):
            self.function = pyscan.function([*symbols], [other, drawn], updates=updates)

    def step(self, *params):
        draw, next_rng, self.line = draw_here(self.name, self.rng, None, params)
        return draw, {self.rng: next_rng}

    def good(self):
        return tuple(p.astype(dtype) for p, dtype in zip(good_params(self.name, self.dtypes), self.dtypes))

    def arguments(self, params):
        """The parameters, alone, or where good ones stand around them."""
        if self.form == "scalar":
            return params
        n, place = (3, 1) if self.form == "array" else (N_STEPS, BAD_STEP)
        return tuple(np.stack([bad if i == place else good for i in range(n)]) for bad, good in zip(params, self.good()))

    def states(self):
        return text_of_state(self.rng.get_value(borrow=True)), text_of_state(self.other.get_value(borrow=True)), int(self.count.get_value())

    def check(self, params):
        """One call; returns whether it was refused."""
        arguments = self.arguments(params)
        expected = refusal(self.name, (3,) if self.form == "array" else (), arguments if self.form == "array" else params)
        before = self.states()
        if expected is None:
            self.function(*arguments)
            assert self.count.get_value() == before[2] + 1
            return False
        with pytest.raises(type(expected)) as caught:
            self.function(*arguments)
        head, _, place = str(caught.value).partition("\nApply node that caused the error: ")
        assert type(caught.value) is type(expected) and head == str(expected)
        assert place.startswith(f"{self.name}_rv{{") and "\nOutput 1 is named 'the_draw'" in place
        assert f"\nMade in file {__file__}, line {self.line}" in place
        assert re.findall(r"\nat step (\d+)", place) == ([] if self.form in ("scalar", "array") else [str(BAD_STEP)])
        assert self.states() == before
        return True


def dtypes_of(name, dtype):
    """The dtypes of the parameters: doubles and vectors of that one, integers as they are."""
    return ["int64" if kind == "l" else dtype for kind in node_kinds(name)]


def check_all(name, form, dtype):
    case = Case(name, form, dtypes_of(name, dtype))
    if refusal(name, (), case.good()) is not None:
        pytest.skip("no good parameters are of that dtype")
    problems, n_refused = [], 0
    for params in troubled_params(name, case.dtypes):
        try:
            n_refused += case.check(params)
        except (AssertionError, pytest.fail.Exception, ValueError, OverflowError) as error:
            problems.append(f"{params}: {type(error).__name__}: {str(error)[:300]}")
    assert not problems, "\n".join(problems)
    return n_refused


# Rows that take all of these: categories are looked up, whatever the probabilities are, and a mean may be anything.
NEVER_REFUSED = ["categorical", "multivariate_normal"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", drawable(NAMES))
def test_what_numpy_refuses_is_refused_in_its_words_at_its_step(name, form):
    assert (check_all(name, form, "float64") == 0) == (name in NEVER_REFUSED)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("form", ["scalar", "array", "blocks"])
@pytest.mark.parametrize("name", drawable([name for name in NAMES if set(node_kinds(name)) & set("dvm")]))
def test_parameters_of_other_dtypes_are_refused_in_the_same_words(name, form, dtype):
    check_all(name, form, dtype)

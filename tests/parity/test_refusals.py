"""Domain errors of every distribution: class and message of the generator's own method, then the random variable's name, its
line and the step, with every generator and shared variable as before the call.

The cases are made from the table: in the parameters of a row's first regime each parameter, and each pair of them, is
replaced by troublesome values. What the method of the running NumPy refuses must be refused in its words, and what it takes
must be taken: by Generators, and by RandomStates, whose words are others. Of the laws that Aesara draws through scipy.stats,
SciPy's own `rvs` is asked.
"""
import inspect
import itertools
import re
import warnings

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from pyscan.tensor.random import RandomVariable
from tests.parity.drawing import ROWS, is_of_scipy, needs_scipy

NAN, INF = float("nan"), float("inf")
TROUBLES = {
    "d": [NAN, INF, -INF, -1.0, -0.0, 0.0, 1.0, 1.5, 1e19],
    "l": [-1, 0, 1, 10**9, -2**63],
    "v": [[NAN, 0.5, 0.1], [0.7, 0.8, 0.1], [-0.5, 0.5, 0.5], [1.5, 0.1, 0.1], [INF, 1.0, 0.0], [0.0, 0.0, 0.0], [0.9000001, 0.1, 0.0],
          [0.7, 0.3002, 0.0]],
    "m": [[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0], [5.0, 1.0]], [[NAN, 0.0], [0.0, 1.0]], [[INF, 0.0], [0.0, 1.0]],
          [[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]],
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
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about what it then refuses or not
FORMS = ["scalar", "filled", "array", "blocks", "steps"]
N_DRAWN = {"scalar": (), "filled": (3,), "array": (3,), "blocks": (), "steps": ()}  # by a call of the method
OWNERS = {"Generator": np.random.default_rng, "RandomState": lambda seed: np.random.RandomState(np.random.PCG64(seed))}


def node_kinds(name):
    return ROWS[name]["kinds"]


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
                if all(np.issubdtype(dtype, np.floating) or (np.isfinite(p).all() and (p == np.rint(p)).all() and np.all(abs(p) <= 2**63))
                       for i, (p, dtype) in enumerate(zip(params, dtypes)) if i in chosen):
                    yield tuple(p.astype(dtype) for p, dtype in zip(params, dtypes))


def never_ends(name, owner, params):
    """Whether the method would not come back, where the core does."""
    is_old = np.lib.NumpyVersion(np.__version__) < "2.0.0"
    if name == "vonmises":
        return owner == "RandomState" and np.any(params[1] > 1e16)
    return name == "zipf" and (is_old or owner == "RandomState") and np.any(params[0] > 1024)


def refusal(name, owner, size, params):
    """The exception with which these parameters are refused, or None."""
    generator = OWNERS[owner](5)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name == "multivariate_normal":
                draw_normals(generator, size, *params)
            elif name in LAWS:
                law, args, options = LAWS[name](*params)
                getattr(pytest.importorskip("scipy.stats"), law).rvs(*args, **options, size=size, random_state=generator)
            else:
                _core.draw_method(name)(np, generator, size, *params)
    except (ValueError, OverflowError) as error:
        return error
    return None


def draw_normals(generator, size, mean, cov):
    """By SciPy's law, which has no batches: one call for each."""
    law = pytest.importorskip("scipy.stats").multivariate_normal
    for index in np.ndindex(mean.shape[:-1]):
        law(mean[index], cov[index], allow_singular=True).rvs(size=size[len(index) :], random_state=generator)


def text_of_state(generator):
    return repr(generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.bit_generator.state)


def draw_here(name, rng, size, params):
    """A named draw, the next generator, and the line that made it, as an error tells it."""
    op = getattr(at.random, name)
    draw, line = RandomVariable.__call__(op, *params, size=size, rng=rng, name="the_draw"), inspect.currentframe().f_lineno
    return draw, draw.owner.outputs[0], line


class Case:
    """A function of the parameters that draws, counts its calls in a shared variable and moves a generator of its own besides."""

    def __init__(self, name, form, owner, dtypes):
        self.name, self.form, self.owner, self.dtypes = name, form, owner, dtypes
        self.rng, self.other = pyscan.shared(OWNERS[owner](5), borrow=True), pyscan.shared(np.random.default_rng(9), borrow=True)
        self.count = pyscan.shared(np.int64(0))
        symbols = [at.TensorType(dtype, (None,) * (p.ndim + (form not in ("scalar", "filled"))))() for p, dtype in zip(good_params(name), dtypes)]
        if form in ("scalar", "filled", "array"):
            drawn, next_rng, self.line = draw_here(name, self.rng, (3,) if form == "filled" else None, symbols)
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
        if self.form in ("scalar", "filled"):
            return params
        n, place = (3, 1) if self.form == "array" else (N_STEPS, BAD_STEP)
        return tuple(np.stack([bad if i == place else good for i in range(n)]) for bad, good in zip(params, self.good()))

    def states(self):
        return text_of_state(self.rng.get_value(borrow=True)), text_of_state(self.other.get_value(borrow=True)), int(self.count.get_value())

    def check(self, params):
        """One call; returns whether it was refused."""
        arguments = self.arguments(params)
        expected = refusal(self.name, self.owner, N_DRAWN[self.form], arguments if self.form == "array" else params)
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
        assert re.findall(r"\nat step (\d+)", place) == ([str(BAD_STEP)] if self.form in ("blocks", "steps") else [])
        assert self.states() == before
        return True


def dtypes_of(name, dtype):
    """The dtypes of the parameters: doubles and vectors of that one, integers as they are."""
    return ["int64" if kind == "l" else dtype for kind in node_kinds(name)]


def check_all(name, form, owner, dtype):
    case = Case(name, form, owner, dtypes_of(name, dtype))
    if refusal(name, owner, (), case.good()) is not None:
        pytest.skip("no good parameters are of that dtype")
    problems, n_refused = [], 0
    for params in troubled_params(name, case.dtypes):
        if never_ends(name, owner, params):
            continue
        try:
            n_refused += case.check(params)
        except (AssertionError, pytest.fail.Exception, ValueError, OverflowError) as error:
            problems.append(f"{params}: {type(error).__name__}: {str(error)[:300]}")
    assert not problems, "\n".join(problems)
    return n_refused


# A row that takes all of these: categories are looked up, whatever the probabilities are.
NEVER_REFUSED = ["categorical"]


def owned(names, of_states=lambda name: True):
    """Each name with each class that has it, for `parametrize`; with RandomState only those that are told."""
    return [pytest.param(name, owner, marks=needs_scipy if is_of_scipy(name) else ())
            for name in names for owner, has in zip(OWNERS, ROWS[name]["owners"]) if has and (owner == "Generator" or of_states(name))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "owner"), owned(NAMES))
def test_what_numpy_refuses_is_refused_in_its_words_at_its_step(name, owner, form):
    assert (check_all(name, form, owner, "float64") == 0) == (name in NEVER_REFUSED)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("form", ["scalar", "array", "blocks"])
@pytest.mark.parametrize(("name", "owner"), owned([name for name in NAMES if set(node_kinds(name)) & set("dvm")], of_states=lambda name: ROWS[name]["rounding"]))
def test_parameters_of_other_dtypes_are_refused_in_the_same_words(name, owner, form, dtype):
    check_all(name, form, owner, dtype)


# Positions, which have no batches: their own lengths and sizes change from step to step


def positions_of_regimes():
    """A length, probabilities (NaN for none), whether they are replaced, how many are drawn: good ones, and each with troubles."""
    for n, p, replace in selfcheck.read_regimes(ROWS["choice"]):
        good = (int(n), p if p.ndim else None, bool(replace), min(3, int(n)) if p.ndim == 0 or replace else 3)
        yield good
        yield from ((k, None if p.ndim == 0 else p, good[2], good[3]) for k in (0, -1))  # the probabilities are then too many
        yield from ((*good[:3], m) for m in (0, -1))
        if n < 100:
            yield (*good[:3], int(n) + 1)
        if p.ndim:
            for trouble in (p[1:], p - 0.2, p * 1.1, p * 0.0, np.where(p == p.max(), NAN, p), np.where(p == p.max(), INF, p), np.eye(len(p))[0]):
                yield (good[0], trouble, *good[2:])


def choose(owner, a, p, replace, m):
    """The exception of the method, or None."""
    try:
        OWNERS[owner](5).choice(a, (m,), replace, p)
    except (ValueError, OverflowError) as error:
        return error
    return None


class Choices:
    """A loop that chooses from integers, or from an array's rows, and counts its calls."""

    def __init__(self, owner, has_weights, replace, width):
        self.owner, self.has_weights, self.width = owner, has_weights, width
        self.rng, self.count = pyscan.shared(OWNERS[owner](5), borrow=True), pyscan.shared(np.int64(0))
        self.replace = replace
        n, k, m, p = at.lvector("n"), at.lvector("k"), at.lvector("m"), at.dmatrix("p")
        drawn, updates = pyscan.scan(self.step, sequences=[n, k, m, p])
        self.function = pyscan.function([n, k, m, p], drawn, updates={**dict(updates), self.count: self.count + 1}, on_unused_input="ignore")

    def step(self, n, k, m, p):
        weights = p[:k] if self.has_weights else None
        draw, self.line = at.random.choice(at.arange(n), (m,), self.replace, weights, rng=self.rng, name="the_draw"), inspect.currentframe().f_lineno
        return at.sum(draw), {self.rng: draw.owner.outputs[0]}

    def call(self, cases):
        width = self.width
        rows = [np.zeros(width) if p is None else np.concatenate([p, np.zeros(width - len(p))]) for _, p, _, _ in cases]
        return self.function(*(np.array(column, "int64") for column in zip(*((n, 0 if p is None else len(p), m) for n, p, _, m in cases))), np.array(rows))


@pytest.mark.parametrize("owner", OWNERS)
def test_choices_that_numpy_refuses_are_refused_in_its_words_at_their_step(owner):
    n_refused = 0
    for has_weights, replace in itertools.product((False, True), (False, True)):
        cases = [case for case in positions_of_regimes() if (case[1] is not None, case[2]) == (has_weights, replace)]
        if owner == "RandomState":
            cases = [case for case in cases if case[0] < 10**4]  # its own way is to shuffle all
        choices = Choices(owner, has_weights, replace, max(0 if p is None else len(p) for _, p, _, _ in cases))
        good = cases[0]
        for case in cases:
            n_refused += check_choice(choices, [case if i == BAD_STEP else good for i in range(N_STEPS)])
    assert n_refused > 15


def check_choice(choices, cases):
    n, p, replace, m = cases[BAD_STEP]
    expected = choose(choices.owner, np.arange(n), p, replace, m)
    before, count = text_of_state(choices.rng.get_value(borrow=True)), int(choices.count.get_value())
    if expected is None:
        choices.call(cases)
        assert choices.count.get_value() == count + 1
        return False
    with pytest.raises(type(expected)) as caught:
        choices.call(cases)
    head, _, place = str(caught.value).partition("\nApply node that caused the error: ")
    assert head == str(expected), cases[BAD_STEP]
    assert place.startswith("choice_rv{") and "\nOutput 1 is named 'the_draw'" in place and f"\nMade in file {__file__}, line {choices.line}" in place
    assert re.findall(r"\nat step (\d+)", place) == [str(BAD_STEP)]
    assert (text_of_state(choices.rng.get_value(borrow=True)), choices.count.get_value()) == (before, count)
    return True


@pytest.mark.parametrize("owner", OWNERS)
def test_a_permutation_too_long_for_memory_is_refused_at_its_step_and_no_other_is(owner):
    rng, lengths = pyscan.shared(OWNERS[owner](5), borrow=True), at.lvector("lengths")

    def step(n):
        draw = at.random.permutation(n, rng=rng, name="the_draw")
        return at.sum(draw), {rng: draw.owner.outputs[0]}
    sums, updates = pyscan.scan(step, sequences=[lengths])
    function = pyscan.function([lengths], sums, updates=updates)
    n = np.full(N_STEPS, 5)
    n[BAD_STEP] = -1
    np.testing.assert_array_equal(function(n), np.where(n < 0, 0, 10))  # NumPy, too, makes nothing of it
    before = text_of_state(rng.get_value(borrow=True))
    n[BAD_STEP] = 2**61
    with pytest.raises((MemoryError, ValueError)) as caught:  # NumPy's own array of positions is refused by a ValueError
        function(n)
    assert f"\nat step {BAD_STEP}" in str(caught.value) and "\nOutput 1 is named 'the_draw'" in str(caught.value)
    assert text_of_state(rng.get_value(borrow=True)) == before

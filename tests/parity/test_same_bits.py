"""The same bits in every way to run a loop: any length of block, phases or none, rewritten or not, levels of CPU, numbers of threads.

Workloads of the benchmark and generated scans, of lengths at which blocks, tapes and tiles come into play. One process compares ways
that a function can be given; a digest of all results is compared between processes for what is fixed when a process starts.
PYSCAN_FUZZ sets the number of generated scans in the first comparison (a fifth of it; 60 in the default run).
"""
import hashlib
import os
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import pyscan
from pyscan import _core
from pyscan._reference import root_cause
from tests.bench import workloads as w
from tests.fuzz.strategies import scan_cases

ALL = 1 << 20  # longer than any loop here
BLOCKS = (1, 7, 256, ALL)
N_SCANS = int(os.environ.get("PYSCAN_FUZZ", "300")) // 5
LENGTHS = (0, 1, 2, 5, 17, 40, 40, 300)
WORKLOADS = {
    "repro": w.draws(10), "draws": w.draws(5_000), "ar1": w.autoregression(5_000), "ar1_last": w.autoregression(5_000, last_only=True),
    "stochvol": w.stochastic_volatility(5_000), "gbm": w.geometric_brownian(60, 130), "sir": w.epidemic(1_000), "lds": w.linear_system(600, 20),
    "hmm": w.hidden_markov(2_000), "metropolis": w.random_walk_metropolis(2_000, 10), "logistic": w.logistic_map(3_000),
    "power": w.elementwise_power(10, 5_003), "rnn": w.recurrent_network(40, 32, 64),
}
LARGE = {"lds": w.linear_system(80, 200), "rnn": w.recurrent_network(20, 66, 66)}  # products that BLAS makes


def results(compiled):
    """Two calls' values, flat."""
    call = compiled()
    return [np.array(value) for _ in range(2) for value in (lambda got: got if isinstance(got, list) else [got])(call())]


def bits(values):
    return [(value.dtype.str, value.shape, value.tobytes()) for value in values]


def in_blocks(compiled, block_steps, **flags):
    with pyscan.config.change_flags(scan__block_steps=block_steps, **flags):
        return results(compiled)


def test_every_workload_is_here():
    assert set(WORKLOADS) == set(w.WORKLOADS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_gives_the_same_bits_in_blocks_of_any_length_step_by_step_and_unrewritten(name):
    compiled = WORKLOADS[name][1]
    want = bits(in_blocks(compiled, 0, scan__batch_products=False))
    for block_steps in BLOCKS:
        assert bits(in_blocks(compiled, block_steps, scan__batch_products=False)) == want, f"blocks of {block_steps}"
    for block_steps in (0, 256):
        assert bits(in_blocks(compiled, block_steps, scan__batch_products=False, mode="FAST_COMPILE")) == want, "FAST_COMPILE"


@pytest.mark.parametrize("name", LARGE)
def test_large_products_differ_by_rounding_where_they_are_batched_and_not_at_all_where_not(name):
    compiled = LARGE[name][1]
    want = in_blocks(compiled, 0)
    for block_steps in BLOCKS:
        assert bits(in_blocks(compiled, block_steps, scan__batch_products=False)) == bits(want), f"blocks of {block_steps}"
        for a, b in zip(in_blocks(compiled, block_steps), want):
            assert np.all(np.abs(a - b) <= 1e-12 * np.max(np.abs(b))), f"blocks of {block_steps}"


def outcome(case, block_steps, mode="FAST_RUN", is_brief=False):
    """Values or the error of each call of a generated case, and where the shared variables stand after it."""
    start = {variable: variable.get_value() for variable in case.shared}
    try:
        with pyscan.config.change_flags(scan__block_steps=block_steps, scan__batch_products=False):
            function = pyscan.function(case.inputs, case.outputs, updates=case.updates, mode=mode, on_unused_input="ignore")
        told = []
        for arguments in case.arguments:
            try:
                with np.errstate(all="ignore"):
                    told.append(bits(map(canonical, function(*arguments))))
            except Exception as error:
                cause = root_cause(error)
                # the compiled node that a message shows below its first lines is another one where rewriting is off
                text = re.sub("0x[0-9A-F]+", "0x_", str(cause)).partition("\nApply node" if is_brief else "\0")[0]
                told.append((type(cause).__name__, text))
            told.append([state_of(variable.get_value()) for variable in case.shared])
        return told
    finally:
        for variable in case.shared:
            variable.set_value(start[variable])


def canonical(value):
    """An array in which every NaN has the same bits: which operand's payload a sum keeps is the processor's choice."""
    value = np.array(value)
    if value.dtype.kind == "f":
        value[np.isnan(value)] = np.nan
    return value


def state_of(value):
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    return bits([canonical(value)])


generated = settings(deadline=None, derandomize="PYSCAN_FUZZ_RANDOM" not in os.environ, database=None,
                     suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example])


@settings(generated, max_examples=N_SCANS, print_blob=True)
@given(scan_cases(LENGTHS))
def test_a_generated_scan_gives_the_same_bits_in_blocks_of_any_length(case):
    want = outcome(case, 0)
    for block_steps in BLOCKS:
        assert outcome(case, block_steps) == want, f"blocks of {block_steps}: {case!r}"
    assert outcome(case, 256, "FAST_COMPILE", is_brief=True) == outcome(case, 0, is_brief=True), repr(case)


def digest(n_scans):
    """Of all workloads and of the first generated scans; the same in every process that runs this tree."""
    found = hashlib.sha256()
    for name, (_, compiled, _) in WORKLOADS.items():
        found.update(repr((name, bits(results(compiled)))).encode())

    @settings(generated, max_examples=n_scans, derandomize=True)
    @given(scan_cases(LENGTHS))
    def add(case):
        found.update(repr(outcome(case, 256)).encode())
    add()
    return found.hexdigest()


def in_process(run_python, n_scans, **environment):
    environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYSCAN_NUM_THREADS": "1", **environment}
    done = run_python("-c", f"from tests.parity.test_same_bits import digest; print(digest({n_scans}))", env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def test_levels_of_cpu_and_numbers_of_threads_give_the_same_bits(run_python):
    n_scans = max(N_SCANS // 3, 10)
    want = in_process(run_python, n_scans)
    for level in _core.cpu_levels()[:-1]:
        assert in_process(run_python, n_scans, PYSCAN_CPU=level) == want, level
    for threads in ("2", "3"):
        assert in_process(run_python, n_scans, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads, PYSCAN_NUM_THREADS=threads) == want, threads


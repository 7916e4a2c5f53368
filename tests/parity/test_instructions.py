"""A step of the issue's script runs no Python, and none of the workloads grows: counted in machine instructions, which do not depend on the clock."""
import json
import os
import shutil

import pytest

from tests.bench.instructions import KEPT, WORKLOADS, describe, per_step


@pytest.fixture(scope="module")
def counted():
    """The instructions a step of each workload."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    if "PYSCAN_SANITIZED" in os.environ:
        pytest.skip("sanitizers and valgrind exclude each other")
    return per_step()


def test_a_step_of_the_issues_script_costs_fewer_than_120_instructions(counted):
    assert counted["draws"] < 120


@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_workload_takes_three_in_a_hundred_more_instructions_than_were_kept(workload, counted):
    """After a change that is worth it: `python tests/bench/instructions.py --update`."""
    kept = json.loads(KEPT.read_text())
    if kept["made with"] != describe():
        pytest.skip(f"the counts were made with {kept['made with']}")
    assert counted[workload] <= kept["instructions a step"][workload] * 1.03

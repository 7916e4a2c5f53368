"""A step of the issue's script runs no Python: counted in machine instructions, which do not depend on the clock."""
import os
import shutil

import pytest

from tests.bench.instructions import per_step


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="sanitizers and valgrind exclude each other")
def test_a_step_of_the_issues_script_costs_fewer_than_120_instructions():
    assert per_step("draws") < 120

"""The program half as a plain C program: built without Python and run under the sanitizers that the compiler has."""
import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.compiler import COMPILER

here = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 1200  # seconds: the build takes half a minute, and ten times as long where others keep the processors busy
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32" or not COMPILER, reason="needs a C compiler and a POSIX shell"),
    pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="the program has sanitizers of its own, whatever runs the tests"),
]


def run(args, **environment):
    # A sanitizer that is preloaded for this process is not the one that the program was linked with.
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    env.update(environment, CC=shlex.join(COMPILER))
    return subprocess.run(args, env=env, capture_output=True, text=True, timeout=TIMEOUT)


def has_sanitizer(sanitize, folder):
    source, program = folder / "empty.c", folder / "empty"
    source.write_text("int main(void) { return 0; }\n")
    built = run([*COMPILER, f"-fsanitize={sanitize}", str(source), "-o", str(program)])
    return built.returncode == 0 and run([str(program)]).returncode == 0


@pytest.mark.parametrize("sanitize, n_programs", [("address,undefined", "60"), ("thread", "20")])
def test_the_program_half_passes_its_tests_as_plain_c(sanitize, n_programs, tmp_path):
    if not has_sanitizer(sanitize, tmp_path):
        if sanitize == "thread":
            pytest.skip("no thread sanitizer here")
        sanitize = ""
    program = str(tmp_path / "tests")
    built = run(["sh", os.path.join(here, "build.sh"), program], SANITIZE=sanitize)
    assert built.returncode == 0, built.stdout + built.stderr
    done = run([program], UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1",
               PYSCAN_FUZZ_PROGRAMS=n_programs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9][0-9]* passed, 0 failed$", done.stdout, re.M), done.stdout

"""`python -m pyscan`: the program sees what it would see in a plain run of Python."""
import re
import signal
import subprocess
import sys

import pytest

PLAIN = """\
import sys, os
print(__name__, sys.argv, os.path.basename(globals().get("__file__", "none")), __package__, __spec__ is None, sys.path[0])
print(sys.modules["__main__"].__dict__ is globals())
class Thing: pass
import pickle
print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)
"""


def both(run_python, arguments, **kwargs):
    """The same program run plainly and by pyscan."""
    return run_python(*arguments, **kwargs), run_python("-m", "pyscan", *arguments, **kwargs)


@pytest.fixture
def script(tmp_path):
    def written(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return written


def test_a_script_sees_a_plain_main(run_python, script):
    plain, ours = both(run_python, [script(PLAIN), "a", "-m", "--b"])
    assert ours.stdout == plain.stdout and ours.returncode == 0 and ours.stderr == ""


def test_a_script_named_by_a_relative_path_knows_where_it_is(run_python, script, tmp_path):
    script("print(__file__, (lambda: 0).__code__.co_filename, __loader__.path)\nraise ValueError(1)\n")
    plain, ours = both(run_python, ["program.py"], cwd=tmp_path)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr) and str(tmp_path) in ours.stdout


def test_a_module_sees_a_plain_main(run_python, script, tmp_path):
    script(PLAIN, "some_module.py")
    plain, ours = both(run_python, ["-m", "some_module", "a"], cwd=tmp_path)
    assert ours.stdout == plain.stdout and "some_module" in ours.stdout


def test_a_command_sees_a_plain_main(run_python, tmp_path):
    plain, ours = both(run_python, ["-c", PLAIN, "a"], cwd=tmp_path)
    assert ours.stdout == plain.stdout.replace("\r", "") and "['-c', 'a']" in ours.stdout


def test_standard_input_sees_a_plain_main(run_python, tmp_path):
    plain, ours = both(run_python, ["-", "a"], stdin=PLAIN, cwd=tmp_path)
    assert ours.stdout == plain.stdout and "['-', 'a']" in ours.stdout


def test_a_folder_with_a_main_runs(run_python, script, tmp_path):
    (tmp_path / "folder").mkdir()
    script("import sys, other; print(sys.argv, other.__name__)", "folder/__main__.py")
    script("", "folder/other.py")
    plain, ours = both(run_python, ["folder", "a"], cwd=tmp_path)
    assert ours.stdout == plain.stdout and ours.returncode == 0, ours.stderr


@pytest.mark.parametrize("text", [
    "def f():\n    return 1 / 0\nf()\n",
    "import json\njson.loads('{')\n",
    "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('second') from error\n",
    "x = (\n",
    "raise SystemExit('a message')\n",
    "raise SystemExit(3)\n",
    "import sys\nsys.exit()\n",
    "import sys\nsys.excepthook = lambda kind, error, tb: print('hook', kind.__name__, tb.tb_lineno, tb.tb_frame.f_code.co_name)\n1 / 0\n",
    "class Own(BaseException): pass\nraise Own('mine')\n",
])
def test_tracebacks_and_exit_codes_are_those_of_a_plain_run(run_python, script, text):
    plain, ours = both(run_python, [script(text)])
    assert (ours.stdout, ours.returncode) == (plain.stdout, plain.returncode)
    assert re.sub(r"0x[0-9a-f]+", "0x", ours.stderr) == re.sub(r"0x[0-9a-f]+", "0x", plain.stderr)


def test_a_commands_traceback_is_that_of_a_plain_run(run_python):
    plain, ours = both(run_python, ["-c", "def f():\n    return 1 / 0\nf()\n"])
    assert ours.stderr == plain.stderr and ours.returncode == 1


def test_a_modules_traceback_is_that_of_a_plain_run(run_python, script, tmp_path):
    script("def f():\n    1 / 0\nf()\n", "broken.py")
    plain, ours = both(run_python, ["-m", "broken"], cwd=tmp_path)
    assert ours.stderr == plain.stderr and ours.returncode == 1
    plain, ours = both(run_python, ["-m", "not_there_at_all"], cwd=tmp_path)
    assert ours.stderr == plain.stderr and ours.returncode == 1


def test_a_script_that_is_not_there_is_reported_as_by_python(run_python, tmp_path):
    plain, ours = both(run_python, ["missing.py"], cwd=tmp_path)
    assert ours.returncode == plain.returncode == 2 and ours.stderr == plain.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_the_process_as_it_ends_python(script, run_python, ctrl_c):
    path = script("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    import pyscan
    from pathlib import Path
    process = subprocess.Popen([sys.executable, "-m", "pyscan", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**__import__("os").environ, "PYTHONPATH": str(Path(pyscan.__file__).parents[1])})
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors.startswith(f'Traceback (most recent call last):\n  File "{path}", line ')
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_usage_is_shown_when_nothing_is_named(run_python):
    for arguments in ([], ["--unknown"], ["-c"]):
        done = run_python("-m", "pyscan", *arguments)
        assert done.returncode == 2 and "usage: python -m pyscan SCRIPT" in done.stderr
    assert "usage:" in run_python("-m", "pyscan", "--help").stdout
    assert run_python("-m", "pyscan", "--show-versions").stdout.startswith("pyscan ")


def test_aesara_is_pyscan_in_the_program_and_in_what_it_imports(run_python, script, tmp_path):
    script("import aesara.tensor as at\nfrom aesara.tensor.random.utils import RandomStream\n", "helper.py")
    path = script("import aesara, helper, pyscan\nassert aesara.scan is pyscan.scan and helper.at.exp is pyscan.tensor.exp\nprint('ok')\n")
    done = run_python("-m", "pyscan", path)
    assert done.stdout == "ok\n", done.stderr


def test_an_installed_aesara_is_not_touched(run_python, script, tmp_path):
    (tmp_path / "aesara").mkdir()
    script("raise RuntimeError('the installed one was imported')", "aesara/__init__.py")
    path = script("import aesara, aesara.tensor\nprint(aesara.__version__)\n")
    done = run_python("-m", "pyscan", path)
    assert done.stdout.startswith("2.9.4+pyscan"), done.stderr
    assert "the installed one was imported" in run_python(path).stderr


def test_the_pytest_plugin_puts_pyscan_in_place(run_python, script, tmp_path):
    pytest.importorskip("pytest")
    script("import aesara, pyscan\ndef test_it():\n    assert aesara.function is pyscan.function\n", "test_with_plugin.py")
    done = run_python("-m", "pytest", "-q", "-p", "pyscan.as_aesara", "-p", "no:cacheprovider", "test_with_plugin.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_issue_script_runs_unchanged(run_python):
    from pathlib import Path
    script = Path(__file__).parents[2] / "examples" / "issue.py"
    done = run_python("-m", "pyscan", script)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("normal_rv{0, (0, 0), floatX, True}") == 4



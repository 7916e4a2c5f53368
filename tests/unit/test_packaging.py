"""What the package says of itself, and that its parts fit together."""
import ast
import pathlib
import re

import pytest

import pyscan

ROOT = pathlib.Path(__file__).parents[2]


def test_every_public_name_has_a_docstring():
    assert [name for name in pyscan.__all__ if name not in ("__version__",) and not getattr(pyscan, name).__doc__] == []


def test_every_public_name_exists():
    assert [name for name in pyscan.__all__ if not hasattr(pyscan, name)] == []


def test_the_stub_lists_what_the_core_exports():
    stub = ast.parse((ROOT / "pyscan" / "_core.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    declared |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    exported = {name for name in vars(pyscan._core) if not name.startswith("_")}
    assert declared == exported


def test_the_package_is_marked_as_typed():
    assert (pathlib.Path(pyscan.__file__).parent / "py.typed").exists()


def test_the_version_is_written_once():
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", pyscan.__version__)
    text = (ROOT / "pyproject.toml").read_text()
    assert "version = { attr" in text and pyscan.__version__ not in text


def test_only_the_init_function_is_exported_by_the_module():
    import shutil
    import subprocess
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm")
    listed = subprocess.run([nm, "-D", "--defined-only", pyscan._core.__file__], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    assert {name for name in names if not name.startswith(("_init", "_fini", "__asan", "__odr", "__ubsan", "__sanitizer"))} == {"PyInit__core"}


def test_every_module_compiles_without_warnings():
    for path in sorted((ROOT / "pyscan").rglob("*.py")):
        compile(path.read_text(), str(path), "exec")


def test_the_import_leaves_to_first_use_what_few_programs_need(run_python):
    ran = run_python(
        "-c",
        "import sys, gc, pyscan, pyscan.tensor as at\n"
        "later = ['pyscan.printing', 'pyscan.formulas', 'pyscan.ifelse', 'pyscan.names', 'pyscan.tensor.extra_ops', 'pyscan.tensor.nlinalg']\n"
        "print([name for name in later if name in sys.modules], gc.isenabled())\n"
        "print({'pp', 'ifelse', 'install_as'} <= set(dir(pyscan)), {'repeat', 'nlinalg', 'dmatrices'} <= set(dir(at)))\n"
        "print(pyscan.pp(at.repeat(at.dvector('x'), 2).sum()) != '', at.extract_diag is at.diagonal, at.dmatrix is at.type.dmatrix)\n"
    )
    assert ran.stdout.splitlines() == ["[] True", "True True", "True True True"]

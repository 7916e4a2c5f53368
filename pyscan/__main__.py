"""`python -m pyscan SCRIPT [ARGS...]`, `-m MODULE [ARGS...]`, `-c CODE [ARGS...]` or `-`: runs a program with pyscan in the place of Aesara.

The program sees what it would see in a plain run: `__main__`, `sys.argv`, `sys.path[0]`, its own tracebacks (the frames of this
file are taken out) and its exit code.

Relies on: names (install_as). Relied on by: nothing.
"""
from __future__ import annotations

import importlib.machinery
import io
import linecache
import os
import runpy
import sys
import types
import zipfile
from typing import Any, Callable, NoReturn

USAGE = """usage: python -m pyscan SCRIPT [ARGS...]
       python -m pyscan -m MODULE [ARGS...]
       python -m pyscan -c CODE [ARGS...]
       python -m pyscan - [ARGS...]          (the program comes by standard input)
       python -m pyscan --show-versions

Runs the program with `import aesara` and all its dotted names standing for pyscan."""


def new_main(**names: Any) -> types.ModuleType:
    """A fresh `__main__` in sys.modules, as the interpreter makes one."""
    module = types.ModuleType("__main__")
    module.__dict__.update({"__builtins__": __builtins__, "__annotations__": {}, "__spec__": None, "__package__": None, **names})
    sys.modules["__main__"] = module
    return module


def put_first(path: str) -> None:
    """Put the program's folder where the interpreter puts it: in the place of the folder that `python -m` stands in."""
    if not sys.flags.safe_path:
        sys.path[0:1] = [path]


def run_code(code: types.CodeType, module: types.ModuleType) -> None:
    exec(code, module.__dict__)


def run_source(text: str | bytes, filename: str, **names: Any) -> None:
    module = new_main(**names)
    run_code(compile(text, filename, "exec", dont_inherit=True), module)


def run_module(name: str, keep_argv: bool = False) -> None:
    new_main()
    runpy._run_module_as_main(name, alter_argv=not keep_argv)  # what `python -m` itself calls


def run_script(path: str) -> None:
    """A file of source or bytecode, or a folder or archive with a `__main__` in it."""
    full = os.path.abspath(path)
    if os.path.isdir(full) or (os.path.isfile(full) and zipfile.is_zipfile(full)):
        put_first(path)
        run_module("__main__", keep_argv=True)
        return
    put_first(os.path.dirname(os.path.realpath(full)))
    try:
        with io.open_code(full) as file:
            text = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {full!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    if path.endswith(".pyc"):
        loader: Any = importlib.machinery.SourcelessFileLoader("__main__", full)
        run_code(loader.get_code("__main__"), new_main(__file__=full, __loader__=loader))
        return
    loader = importlib.machinery.SourceFileLoader("__main__", full)
    run_source(text, full, __file__=full, __cached__=None, __loader__=loader)


def run_command(text: str) -> None:
    put_first("")
    if sys.version_info >= (3, 13):
        linecache.cache["<string>"] = (len(text), None, text.splitlines(True), "<string>")  # tracebacks show it since then
    run_source(text, "<string>", __loader__=importlib.machinery.BuiltinImporter)


def run_stdin() -> None:
    put_first("")
    run_source(sys.stdin.buffer.read(), "<stdin>", __file__="<stdin>", __loader__=importlib.machinery.BuiltinImporter)


def _without_own_frames(traceback: Any) -> Any:
    """The traceback from the program's first frame on."""
    inside = False
    while traceback is not None:
        own = traceback.tb_frame.f_code.co_filename == __file__
        if inside and not own:
            return traceback
        inside = inside or own
        traceback = traceback.tb_next
    return None


def _hide_own_frames() -> None:
    """Let whatever hook is in force when the program ends see the program's frames alone."""
    hook = sys.excepthook

    def shown(kind: Any, error: Any, traceback: Any) -> None:
        rest = _without_own_frames(traceback)
        hook(kind, error.with_traceback(rest), rest)
    sys.excepthook = shown


def _usage_error(text: str) -> NoReturn:
    print(f"{text}\n{USAGE}", file=sys.stderr)
    raise SystemExit(2)


def main(argv: list[str]) -> None:
    """Run the program that the arguments name."""
    if not argv:
        _usage_error("no program was named")
    first, rest = argv[0], argv[1:]
    if first in ("-h", "--help"):
        print(USAGE)
        return
    if first == "--show-versions":
        from pyscan.explain import show_versions
        show_versions()
        return
    action: Callable[[], None]
    if first in ("-m", "-c") or (first[:2] in ("-m", "-c") and len(first) > 2):
        flag, value = first[:2], first[2:]
        if not value:
            if not rest:
                _usage_error(f"Argument expected for the {flag} option")
            value, rest = rest[0], rest[1:]
        sys.argv = [flag, *rest]
        action = (lambda: run_module(value)) if flag == "-m" else (lambda: run_command(value))
        if flag == "-m":
            put_first(os.getcwd())
    elif first == "-":
        sys.argv = [first, *rest]
        action = run_stdin
    elif first.startswith("-"):
        _usage_error(f"unknown option {first}")
    else:
        sys.argv = [first, *rest]
        action = lambda: run_script(first)  # noqa: E731
    from pyscan.names import install_as
    install_as("aesara")
    try:
        action()
    except SystemExit:
        raise
    except BaseException:
        _hide_own_frames()
        raise


if __name__ == "__main__":
    main(sys.argv[1:])

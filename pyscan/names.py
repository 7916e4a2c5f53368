"""The table of Aesara's dotted names, and `install_as`, which lets `import aesara` give pyscan by it.

Each row names one of Aesara's modules and the modules of pyscan whose public names stand in it. A row `absent` names what is not
part of pyscan: it can be imported, and refuses when it is used, saying what it is and what comes nearest. A name in no row fails
at import, with the closest name in the message.

The modules are real module objects, made when the root is first imported; what is in them is looked up when it is asked for.

Relies on: the modules that the rows name, imported late. Relied on by: `__main__`, as_aesara, the package's top.
"""
from __future__ import annotations

import builtins
import dis
import functools
import importlib
import importlib.machinery
import sys
import types
from typing import Any, Iterator

from pyscan.names_table import ABSENT, AESARA_VERSION, MODULES
from pyscan.version import __version__

__all__ = ["install_as", "uninstall", "resolve", "Absent"]


class AbsentNameError(NotImplementedError, AttributeError):
    """Something was used that is not part of pyscan. An AttributeError too, so that `hasattr` is answered with False."""


class Absent:
    """Stands for a name of Aesara that pyscan does not have. It can be imported and passed on; using it raises NotImplementedError.

    Nothing is an instance of it.
    """

    def __init__(self, name: str, what: str, nearest: str) -> None:
        self._absent = (name, what, nearest)
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.__doc__ = f"Not part of pyscan: {name} ({what}). {nearest}"

    def _refuse(self) -> AbsentNameError:
        name, what, nearest = self._absent
        return AbsentNameError(f"{name} is not part of pyscan ({what}). {nearest}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._refuse()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise self._refuse()

    def __mro_entries__(self, bases: tuple) -> tuple:
        raise self._refuse()

    def __getitem__(self, key: Any) -> Any:
        raise self._refuse()

    def __iter__(self) -> Iterator[Any]:
        raise self._refuse()

    def __enter__(self) -> Any:
        raise self._refuse()

    def __exit__(self, *exc: Any) -> None:
        raise self._refuse()

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        return False

    def __reduce__(self) -> Any:
        return Absent, self._absent

    def __repr__(self) -> str:
        return f"<absent {self._absent[0]}>"


def _absent_rows() -> dict[str, dict[str, tuple[str, str]]]:
    """module -> name -> (what it is, what comes nearest)."""
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    for what, nearest, modules in ABSENT:
        for module, names in modules.items():
            rows.setdefault(module, {}).update({name: (what, nearest) for name in names.split()})
    return rows


_ABSENT = _absent_rows()


@functools.lru_cache(maxsize=1)
def _module_paths() -> tuple[str, ...]:
    """Every dotted module of the table, parents before their children; "" is the root."""
    paths = {"", *MODULES, *_ABSENT}
    for path in list(paths):
        while path:
            path = path.rpartition(".")[0]
            paths.add(path)
    return tuple(sorted(paths, key=lambda path: (path.count("."), path)))


_MISSING = object()


def _sources(path: str) -> Iterator[tuple[str, str | None, str | None]]:
    """(module of pyscan, its name for one thing or None for all its names, the name here)."""
    for row in MODULES.get(path, "").split():
        module, _, rest = row.partition(":")
        if not rest:
            yield module, None, None
        for item in rest.split(",") if rest else ():
            own, _, here = item.partition("=")
            yield module, own, here or own


def _present(path: str, name: str) -> Any:
    """What the rows of a module give for a name, or _MISSING."""
    for module, own, here in _sources(path):
        if own is None and not name.startswith("_"):
            own = here = name
        if here == name and own is not None:
            source = importlib.import_module(module)
            # The package's own top looks names up here when it does not have them.
            is_here = module != "pyscan" or own in vars(source) or own in source.__all__
            value = getattr(source, own, _MISSING) if is_here else _MISSING
            if value is not _MISSING and not (isinstance(value, types.ModuleType) and own == here):
                return value
    return _MISSING


def _public_names(path: str) -> set[str]:
    """Every name that can be taken from a module of the table."""
    names = {child.rpartition(".")[2] for child in _module_paths() if child and child.rpartition(".")[0] == path}
    names.update(_ABSENT.get(path, ()))
    for module, own, here in _sources(path):
        if own is None:
            source = importlib.import_module(module)
            names.update(name for name in {*vars(source), *getattr(source, "__all__", ())}
                         if not name.startswith("_") and not isinstance(getattr(source, name), types.ModuleType))
        elif here is not None:
            names.add(here)
    return names


# The modules of which a star import replaces Python's own sum, map, ... in Aesara.
_WITH_BUILTINS = frozenset(("", "scan", "scan.views", "tensor.math", "scalar", "scalar.basic"))


def _star_names(path: str) -> list[str]:
    """What `from MODULE import *` gives: the names of the table, without what pyscan's modules import for themselves from Python."""
    if path == "tensor":
        return ["random"]  # Aesara's own list
    names = _public_names(path)
    for module, own, _ in _sources(path):
        if own is None:
            source = importlib.import_module(module)
            names -= {name for name, value in vars(source).items() if getattr(value, "__module__", None) in ("typing", "__future__")}
            names -= set() if path in _WITH_BUILTINS else {name for name in vars(builtins) if name in vars(source)}
    return sorted(names)


def _closest(path: str, name: str) -> str:
    import difflib  # here, since only errors need it
    found = difflib.get_close_matches(name, sorted(_public_names(path)), 1)
    return f"; the closest name there is {found[0]!r}" if found else ""


class AliasModule(types.ModuleType):
    """One of Aesara's modules: its names are looked up in the table when they are first asked for."""

    def __init__(self, root: str, path: str) -> None:
        super().__init__(f"{root}.{path}" if path else root)
        self.__dict__.update(_root=root, _path=path)
        self.__doc__ = f"pyscan in the place of {'aesara.' + path if path else 'aesara'}."
        self.__file__ = sys.modules["pyscan"].__file__
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        value = _star_names(self._path) if name == "__all__" else self._looked_up(name)
        if value is _MISSING:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{_closest(self._path, name) if not name.startswith('_') else ''}")
        self.__dict__[name] = value
        return value

    def _looked_up(self, name: str) -> Any:
        value = _present(self._path, name)
        if value is _MISSING:
            row = _ABSENT.get(self._path, {}).get(name)
            if row is not None:
                value = _stand_in(f"aesara.{self._path}.{name}" if self._path else f"aesara.{name}", *row)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_public_names(self._path)})

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)


def _stand_in(name: str, what: str, nearest: str) -> Any:
    """An Absent; for an exception a class of its own, so that it can stand in an `except` clause."""
    short = name.rpartition(".")[2]
    if short.endswith(("Error", "Exception", "Warning")):
        base = UserWarning if short.endswith("Warning") else Exception
        return type(short, (base,), {"__doc__": f"Not part of pyscan ({what}): it is never raised.", "__module__": name.rpartition(".")[0]})
    return Absent(name, what, nearest)


class _Finder:
    """Finds the root and the modules below it before the path is searched: a finder and a loader, though not by importlib.abc,
    which takes milliseconds to import."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.modules: dict[str, AliasModule] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname == self.root or fullname in self.names():
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return self._refuse(fullname) if fullname.startswith(self.root + ".") else None

    def names(self) -> set[str]:
        return {f"{self.root}.{path}" if path else self.root for path in _module_paths()}

    def _refuse(self, fullname: str) -> None:
        """Raise what a plain import would raise, with the closest name added; None when nothing is being imported."""
        asked = _who_asks()
        parent, _, name = fullname.rpartition(".")
        closest = _closest(parent[len(self.root) + 1:], name) if parent in self.names() else ""
        if asked == "from":
            raise ImportError(f"cannot import name {name!r} from {parent!r} (pyscan in the place of aesara){closest}", name=parent)
        if asked == "import":
            raise ModuleNotFoundError(f"No module named {fullname!r}{closest}", name=fullname)

    def create_module(self, spec: Any) -> Any:
        """The module. With the root, all modules below it are made and entered: none is set as an attribute later, so that
        `aesara.scan` stays the function although there is a module of that name."""
        if not self.modules:
            self._make_all()
        return self.modules[spec.name]

    def _make_all(self) -> None:
        for path in _module_paths():
            module = AliasModule(self.root, path)
            module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, self, is_package=True)
            module.__loader__ = self
            module.__package__ = module.__name__
            self.modules[module.__name__] = module
            sys.modules[module.__name__] = module
            parent = self.modules.get(module.__name__.rpartition(".")[0])
            name = module.__name__.rpartition(".")[2]
            if parent is not None and _present(parent._path, name) is _MISSING:
                parent.__dict__[name] = module
        self.modules[self.root].__dict__["__version__"] = f"{AESARA_VERSION}+pyscan{__version__}"

    def exec_module(self, module: Any) -> None:
        """Nothing to run: a module is complete when it is made."""


def _who_asks() -> str:
    """"from" for a name of a from-import, "import" for a module, "" for someone who only looks (importlib.util.find_spec) or who
    calls `__import__` with names, of which the missing ones are left out."""
    frame, asked = sys._getframe(3), ""
    while frame is not None and "importlib" in frame.f_code.co_filename:
        if frame.f_code.co_name == "_handle_fromlist":
            caller = frame.f_back
            is_statement = caller is not None and dis.opname[caller.f_code.co_code[caller.f_lasti]] == "IMPORT_NAME"
            return "from" if is_statement else ""
        if frame.f_code.co_name == "_find_and_load":
            asked = "import"
        frame = frame.f_back
    return asked


def install_as(name: str = "aesara") -> None:
    """From now on `import NAME`, and the dotted names below it, give pyscan in this process.

    An installed package of that name is not touched. RuntimeError when it has been imported already.

    >>> import pyscan
    >>> pyscan.install_as("aesara")
    >>> from aesara.graph.fg import FunctionGraph
    >>> FunctionGraph is pyscan.graph.FunctionGraph
    True
    """
    if not name.isidentifier():
        raise ValueError(f"the name to install pyscan as must be a plain module name, got {name!r}")
    if any(isinstance(finder, _Finder) and finder.root == name for finder in sys.meta_path):
        return
    loaded = sys.modules.get(name)
    if loaded is not None:
        raise RuntimeError(f"{name} has been imported from {getattr(loaded, '__file__', None)!r} already: "
                           f"call pyscan.install_as({name!r}) before anything imports {name}")
    sys.meta_path.insert(0, _Finder(name))


def uninstall(name: str = "aesara") -> None:
    """Undo `install_as`: what is imported from now on is the installed package, if there is one."""
    for finder in [f for f in sys.meta_path if isinstance(f, _Finder) and f.root == name]:
        sys.meta_path.remove(finder)
        for full in finder.modules:
            sys.modules.pop(full, None)


def resolve(dotted: str) -> Any:
    """The object, module or `Absent` that a dotted name of the table stands for, for example `"graph.fg.FunctionGraph"`.

    AttributeError for a name in no row.
    """
    path, _, name = dotted.rpartition(".")
    if dotted in _module_paths() and _present(path, name) is _MISSING:
        return AliasModule("aesara", dotted)
    if path not in _module_paths():
        raise AttributeError(f"no module {path!r} in the table of names")
    return getattr(AliasModule("aesara", path), name)

"""pyscan: loops with random streams over symbolic graphs, drawn in place on a C core.

    >>> import pyscan, pyscan.tensor as at
    >>> stream = at.random.RandomStream(23)
    >>> path, updates = pyscan.scan(lambda: stream.normal(), n_steps=3)
    >>> f = pyscan.function([], path, updates=updates)
    >>> f().round(3)
    array([0.167, 2.051, 0.088])

The names are Aesara's; `python -m pyscan SCRIPT` runs a program written for Aesara as it is.
"""
import gc as _gc
from typing import TYPE_CHECKING

# The collector would look at the names and constants of every module again and again while they are made.
_was_collecting = _gc.isenabled()
_gc.disable()
try:
    from pyscan import _core
    from pyscan.config import config
    from pyscan.version import __version__
    from pyscan import errors, graph
    from pyscan.graph import Apply, Constant, FunctionGraph, Op, Type, Variable, clone_replace
    from pyscan import scalar
    from pyscan import tensor
    from pyscan.sharedvalue import SharedVariable, collect_new_shareds, shared, shared_constructor
    from pyscan.updates import OrderedUpdates
    from pyscan.io import In, Out
    from pyscan.mode import Mode, get_default_mode, predefined_modes
    from pyscan.function import Function, FunctionMaker, function, rebuild_function
    from pyscan.ops import as_op
    from pyscan.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until
    from pyscan.tensor.basic import get_scalar_constant_value
    from pyscan.explain import Explanation, explain, show_versions
finally:
    if _was_collecting:
        if hasattr(_gc, "freeze") and not _gc.get_freeze_count():  # what was made goes among the old objects, without a look at each
            _gc.freeze()
            _gc.unfreeze()
        _gc.enable()

if TYPE_CHECKING:
    from pyscan import features, ifelse, printing
    from pyscan.names import install_as
    from pyscan.printing import debugprint, dprint, pp, pprint

# What is imported when it is first asked for: name -> its module.
_LATER = {
    "features": "features", "ifelse": "ifelse", "printing": "printing", "debugprint": "printing", "dprint": "printing", "pp": "printing",
    "pprint": "printing", "install_as": "names",
}

__all__ = [
    "Apply", "Constant", "Explanation", "Function", "FunctionGraph", "FunctionMaker", "In", "Mode", "Op", "OrderedUpdates", "Out", "SharedVariable", "Type",
    "Variable", "__version__", "as_op", "clone_replace", "collect_new_shareds", "config", "debugprint", "dprint", "errors", "explain",
    "features", "foldl", "foldr", "function", "get_default_mode", "get_scalar_constant_value", "graph", "ifelse", "install_as", "map", "pp",
    "pprint", "predefined_modes", "printing", "rebuild_function", "reduce", "scalar", "scan", "scan_checkpoints", "shared",
    "shared_constructor", "show_versions", "tensor", "until",
]


def __getattr__(name: str) -> object:
    """What is imported later, and the other names that Aesara has at its top (`compile`, `gradient`, ...), for `import pyscan as aesara`."""
    from importlib import import_module
    if name in _LATER:
        module = import_module(f"pyscan.{_LATER[name]}")
        return globals().setdefault(name, module if name == _LATER[name] else getattr(module, name))
    if name.startswith("__"):
        raise AttributeError(f"module 'pyscan' has no attribute {name!r}")
    resolve = import_module("pyscan.names").resolve  # here, since few programs ask for the names of Aesara's modules
    try:
        return resolve(name)
    except AttributeError as error:
        raise AttributeError(f"module 'pyscan' has no attribute {name!r}{str(error).partition(repr(name))[2]}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

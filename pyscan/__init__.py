"""pyscan: loops with random streams over symbolic graphs, drawn in place on a C core.

    >>> import pyscan, pyscan.tensor as at
    >>> stream = at.random.RandomStream(23)
    >>> path, updates = pyscan.scan(lambda: stream.normal(), n_steps=3)
    >>> f = pyscan.function([], path, updates=updates)
    >>> f().round(3)
    array([0.167, 2.051, 0.088])

The names are Aesara's; `python -m pyscan SCRIPT` runs a program written for Aesara as it is.
"""
from typing import TYPE_CHECKING

from pyscan import _core
from pyscan.config import config
from pyscan.version import __version__
from pyscan import errors, features, graph
from pyscan.graph import Apply, Constant, FunctionGraph, Op, Type, Variable, clone_replace
from pyscan import scalar
from pyscan import tensor
from pyscan.sharedvalue import SharedVariable, collect_new_shareds, shared, shared_constructor
from pyscan.updates import OrderedUpdates
from pyscan.io import In, Out
from pyscan.mode import Mode, get_default_mode, predefined_modes
from pyscan.function import Function, FunctionMaker, function, rebuild_function
from pyscan.ops import as_op
from pyscan import printing
from pyscan.printing import debugprint, dprint, pp, pprint
from pyscan.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until
from pyscan import ifelse
from pyscan.tensor.basic import get_scalar_constant_value
from pyscan.explain import Explanation, explain, show_versions

if TYPE_CHECKING:
    from pyscan.names import install_as

__all__ = [
    "Apply", "Constant", "Explanation", "Function", "FunctionGraph", "FunctionMaker", "In", "Mode", "Op", "OrderedUpdates", "Out", "SharedVariable", "Type",
    "Variable", "__version__", "as_op", "clone_replace", "collect_new_shareds", "config", "debugprint", "dprint", "errors", "explain",
    "features", "foldl", "foldr", "function", "get_default_mode", "get_scalar_constant_value", "graph", "ifelse", "install_as", "map", "pp",
    "pprint", "predefined_modes", "printing", "rebuild_function", "reduce", "scalar", "scan", "scan_checkpoints", "shared",
    "shared_constructor", "show_versions", "tensor", "until",
]


def __getattr__(name: str) -> object:
    """The other names that Aesara has at its top (`compile`, `gradient`, ...), for `import pyscan as aesara`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'pyscan' has no attribute {name!r}")
    from pyscan.names import install_as, resolve  # here, since few programs ask for the names of Aesara's modules
    if name == "install_as":
        return install_as
    try:
        return resolve(name)
    except AttributeError as error:
        raise AttributeError(f"module 'pyscan' has no attribute {name!r}{str(error).partition(repr(name))[2]}") from None

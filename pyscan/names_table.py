"""The rows of the table of names: see names.py, which reads them.

MODULES: a module of Aesara -> the modules of pyscan whose public names stand there; `module:a,b=c` takes a, and b as c.
ABSENT: (what it is, what comes nearest, {module of Aesara: names}).

Relies on: nothing. Relied on by: names.
"""
from __future__ import annotations

# The version whose names these are.
AESARA_VERSION = "2.9.4"

MODULES: dict[str, str] = {
    "": "pyscan pyscan.graph:Variable,clone_replace pyscan.tensor.basic:as_tensor_variable=as_symbolic",
    "_version": "",
    "assert_op": "pyscan.raise_op",
    "compile": "pyscan.function pyscan.io pyscan.mode pyscan.ops pyscan.sharedvalue pyscan.graph:SharedVariable pyscan.errors:UnusedInputError "
               "pyscan.features:Supervisor",
    "compile.function": "pyscan.function",
    "compile.function.pfunc": "pyscan.function pyscan.io",
    "compile.function.types": "pyscan.function pyscan.features pyscan.io pyscan.errors:UnusedInputError pyscan.graph:FunctionGraph",
    "compile.io": "pyscan.io",
    "compile.mode": "pyscan.mode",
    "compile.ops": "pyscan.ops",
    "compile.sharedvalue": "pyscan.sharedvalue pyscan.graph:SharedVariable",
    "configdefaults": "pyscan.config:config",
    "configparser": "pyscan.config:config,Config=AesaraConfigParser",
    "graph": "pyscan.graph pyscan.errors",
    "graph.basic": "pyscan.graph pyscan.formulas:as_string",
    "graph.destroyhandler": "pyscan.features pyscan.graph",
    "graph.features": "pyscan.features",
    "graph.fg": "pyscan.graph pyscan.features",
    "graph.op": "pyscan.graph",
    "graph.rewriting.db": "pyscan.mode:RewriteDatabaseQuery",
    "graph.toolbox": "pyscan.features",
    "graph.type": "pyscan.graph",
    "graph.utils": "pyscan.graph pyscan.errors",
    "ifelse": "pyscan.ifelse",
    "link.basic": "pyscan.sharedvalue:Container",
    "misc.safe_asarray": "",
    "printing": "pyscan.printing",
    "raise_op": "pyscan.raise_op",
    "scalar": "pyscan.scalar",
    "scalar.basic": "pyscan.scalar",
    "scalar.math": "pyscan.scalar",
    "scan": "pyscan.scan",
    "scan.basic": "pyscan.scan:scan",
    "scan.checkpoints": "pyscan.scan:scan_checkpoints",
    "scan.op": "pyscan.scan_op",
    "scan.utils": "pyscan.scan:until",
    "scan.views": "pyscan.scan:map,reduce,foldl,foldr",
    "tensor": "pyscan.tensor",
    "tensor.basic": "pyscan.tensor.basic pyscan.tensor",
    "tensor.elemwise": "pyscan.tensor.elemwise",
    "tensor.exceptions": "pyscan.tensor.basic pyscan.errors",
    "tensor.extra_ops": "pyscan.tensor.extra_ops",
    "tensor.math": "pyscan.tensor.math",
    "tensor.nlinalg": "pyscan.tensor.nlinalg",
    "tensor.nnet": "pyscan.tensor:sigmoid,softplus",
    "tensor.nnet.basic": "pyscan.tensor:softplus",
    "tensor.random": "pyscan.tensor.random",
    "tensor.random.basic": "pyscan.tensor.random",
    "tensor.random.op": "pyscan.tensor.random",
    "tensor.random.type": "pyscan.tensor.random",
    "tensor.random.utils": "pyscan.tensor.random",
    "tensor.random.var": "pyscan.tensor.random",
    "tensor.shape": "pyscan.tensor.shape",
    "tensor.sharedvar": "pyscan.tensor.sharedvar",
    "tensor.slinalg": "pyscan.tensor.slinalg",
    "tensor.sort": "pyscan.tensor.sort",
    "tensor.special": "pyscan.tensor.special",
    "tensor.subtensor": "pyscan.tensor.subtensor",
    "tensor.type": "pyscan.tensor.type",
    "tensor.type_other": "pyscan.tensor.type_other",
    "tensor.var": "pyscan.tensor.variable",
    "updates": "pyscan.updates",
    "version": "pyscan.version:__version__=version",
}

ABSENT: tuple[tuple[str, str, dict[str, str]], ...] = ()

"""Modes: which rewrite passes a function is compiled with.

A mode is a set of passes of `_core.passes()`. Modes change speed and nothing else: values, states and errors are the same in all
of them. `FAST_RUN` has every pass, `FAST_COMPILE` merges and folds constants only, `None` as optimizer has none.

Relies on: `_core.passes`, config. Relied on by: function, scan_op.
"""
from __future__ import annotations

from typing import Any, Iterable

from pyscan import _core
from pyscan.config import config

__all__ = ["Mode", "get_mode", "get_default_mode", "register_mode", "predefined_modes", "RewriteDatabaseQuery", "optdb"]

# Aesara's names of linkers. There is one way to run a program here, so that they are checked and kept, and no more.
LINKERS = ("py", "c", "c|py", "c|py_nogc", "vm", "cvm", "vm_nogc", "cvm_nogc", "jax", "numba")
# Aesara's names for optimizers, and the tags that select our passes.
_OPTIMIZERS: dict[Any, tuple[str, ...]] = {
    "fast_run": ("fast_run",), "fast_compile": ("fast_compile",), "merge": ("merge",), "unsafe": ("fast_run",),
    "o4": ("fast_run",), "o3": ("fast_run",), "o2": ("fast_run",), "o1": ("fast_compile",), "None": (), None: (),
}
# Aesara's names for passes that are called differently here.
_ALIASES = {
    "scan": ("scan_prune", "scan_push_out", "scan_save_mem", "scan_make_inplace"), "inplace_opt": ("inplace",),
    "scan_eqopt1": ("scan_push_out",), "scan_pushout": ("scan_push_out",), "scan_pushout_nonseqs_ops": ("scan_push_out",),
    "scan_pushout_seqs_ops": ("scan_push_out",), "scan_eqopt2": ("scan_prune",), "scan_remove_constants_and_unused_inputs": ("scan_prune",),
    "merge1": ("merge",), "MergeOptimizer": ("merge",), "ScanInplaceOptimizer": ("scan_make_inplace",), "scanOp_make_inplace": ("scan_make_inplace",),
    "scan_save_memory": ("scan_save_mem",), "topo_constant_folding": ("constant_folding",),
    "canonicalize": ("constant_folding",),
}


class RewriteDatabaseQuery:
    """Which passes to run, by name or tag: those `include`d, less those `exclude`d, and having every tag `require`d."""

    def __init__(self, include: Iterable[str], require: Iterable[str] = (), exclude: Iterable[str] = (), **ignored: Any) -> None:
        self.include, self.require, self.exclude = tuple(include or ()), tuple(require or ()), tuple(exclude or ())

    def including(self, *names: str) -> RewriteDatabaseQuery:
        return RewriteDatabaseQuery((*self.include, *names), self.require, self.exclude)

    def excluding(self, *names: str) -> RewriteDatabaseQuery:
        return RewriteDatabaseQuery(self.include, self.require, (*self.exclude, *names))

    def requiring(self, *names: str) -> RewriteDatabaseQuery:
        return RewriteDatabaseQuery(self.include, (*self.require, *names), self.exclude)

    def passes(self) -> tuple[str, ...]:
        """Names of the passes selected, in the order in which they run."""
        return tuple(dict.fromkeys(name for name, _, tags, _ in _core.passes() if self._selects({name, *tags})))

    def rewriters(self) -> tuple[Any, ...]:
        """The rewriters selected of those that programs registered, by position."""
        chosen = [row for name, row in optdb.rows.items() if self._selects({name, *row.tags})]
        return tuple([row.rewriter for row in sorted(chosen, key=lambda row: row.position)])

    def _selects(self, words: set[str]) -> bool:
        include, exclude, require = (_resolved(names) for names in (self.include, self.exclude, self.require))
        return bool(words & include) and not words & exclude and require <= words

    def __repr__(self) -> str:
        return f"RewriteDatabaseQuery(inc={list(self.include)},ex={list(self.exclude)},require={list(self.require)})"


def _resolved(names: Iterable[str]) -> set[str]:
    return {own for name in names for own in _ALIASES.get(name, (name,))}


class _Registered:
    """A row of `optdb`."""

    def __init__(self, rewriter: Any, tags: set[str], position: float) -> None:
        self.rewriter, self.tags, self.position = rewriter, tags, position


class _Registry:
    """`optdb`: the graph rewriters that programs register for functions compiled from then on; they run before the passes.

    >>> from pyscan.rewriting import graph_rewriter
    >>> @graph_rewriter
    ... def count_nodes(fgraph):
    ...     print(len(fgraph.apply_nodes))
    >>> optdb.register("count_nodes", count_nodes, "fast_run", position=1)
    >>> "count_nodes" in optdb
    True
    >>> optdb.remove_tags("count_nodes", "fast_run")
    """

    def __init__(self) -> None:
        self.rows: dict[str, _Registered] = {}

    def register(self, name: str, rewriter: Any, *tags: str, position: float | str = "last", **ignored: Any) -> None:
        """Let modes that include the name or one of the tags run a GraphRewriter.

        Those of lower positions run first. ValueError for a name that is taken, TypeError for what is no graph rewriter.
        """
        if name in self.rows:
            raise ValueError(f"The tag '{name}' is already present in the RewriteDatabase; the name of a rewriter is taken once")
        if not callable(getattr(rewriter, "rewrite", None)):
            raise TypeError(f"{name} must be a GraphRewriter, such as in2out makes of a node rewriter; got {rewriter!r}")
        self.rows[name] = _Registered(rewriter, set(tags), float("inf") if position == "last" else float(position))

    def add_tags(self, name: str, *tags: str) -> None:
        self.rows[name].tags.update(tags)

    def remove_tags(self, name: str, *tags: str) -> None:
        self.rows[name].tags.difference_update(tags)

    def __contains__(self, name: str) -> bool:
        return name in self.rows

    def __getitem__(self, name: str) -> Any:
        return self.rows[name].rewriter


optdb = _Registry()


class Mode:
    """How a function is compiled: a linker's name (kept for programs that give one) and the passes.

    Parameters
    ----------
    linker
        One of Aesara's linker names, or None for the default. All run the same core.
    optimizer
        "fast_run", "fast_compile", "merge", "o1" to "o4", None, a `RewriteDatabaseQuery`, or a GraphRewriter that runs alone.

    >>> Mode("py", None).passes
    ()
    """

    def __init__(self, linker: Any = None, optimizer: Any = "default", db: Any = None) -> None:
        if linker is None:
            linker = config.linker
        if isinstance(linker, str) and linker not in LINKERS:
            raise KeyError(f"{linker}: there is no such linker; `linker` must be one of {', '.join(map(repr, LINKERS))}")
        if isinstance(optimizer, str) and optimizer == "default":
            optimizer = config.optimizer
        self.rewriter = optimizer if callable(getattr(optimizer, "rewrite", None)) else None
        if self.rewriter is not None:
            optimizer = RewriteDatabaseQuery(())
        if not isinstance(optimizer, RewriteDatabaseQuery):
            if optimizer not in _OPTIMIZERS:
                raise KeyError(f"{optimizer}: there is no such optimizer; `optimizer` must be one of {', '.join(map(repr, _OPTIMIZERS))}")
            optimizer = RewriteDatabaseQuery(_OPTIMIZERS[optimizer])
        self.linker = linker
        self.provided_linker = linker
        self.optimizer = optimizer
        self.provided_optimizer = optimizer
        self._passes: tuple[str, ...] | None = None

    @property
    def passes(self) -> tuple[str, ...]:
        """Names of the passes that run, in order."""
        if self._passes is None:
            query = self.optimizer.including(*filter(None, config.optimizer_including.split(":")))
            self._passes = query.excluding(*filter(None, config.optimizer_excluding.split(":"))).passes()
        return self._passes

    @property
    def rewriters(self) -> tuple[Any, ...]:
        """The program's own rewriters that run before the passes: the one given, and those registered that the mode selects."""
        return (() if self.rewriter is None else (self.rewriter,)) + self.optimizer.rewriters()

    def for_bodies(self) -> Mode:
        """The mode in which the bodies of loops are compiled: a rewriter that was given runs on the function's own graph alone."""
        query = self.optimizer
        return self if self.rewriter is None else _rebuilt_mode(self.linker, query.include, query.require, query.exclude)

    def _with(self, query: RewriteDatabaseQuery) -> Mode:
        return _rebuilt_mode(self.linker, query.include, query.require, query.exclude, self.rewriter)

    def including(self, *names: str) -> Mode:
        """A mode that also has the passes with these names or tags. Names that Aesara alone knows have no effect."""
        return self._with(self.optimizer.including(*names))

    def excluding(self, *names: str) -> Mode:
        """A mode without the passes that have one of these names or tags."""
        return self._with(self.optimizer.excluding(*names))

    def requiring(self, *names: str) -> Mode:
        """A mode with those passes alone that have all of these tags."""
        return self._with(self.optimizer.requiring(*names))

    def clone(self, link_kwargs: Any = None, optimizer: Any = "", **kwargs: Any) -> Mode:
        """A copy, with another optimizer if one is given."""
        return self._with(self.optimizer) if isinstance(optimizer, str) and optimizer == "" else Mode(self.linker, optimizer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mode) and (self.linker, self.passes, self.rewriters) == (other.linker, other.passes, other.rewriters)

    def __hash__(self) -> int:
        return hash((self.linker, self.passes, self.rewriters))

    def __str__(self) -> str:
        return f"Mode(linker={self.linker}, optimizer={self.optimizer})"

    __repr__ = __str__

    def __reduce__(self) -> Any:
        query = self.optimizer
        return _rebuilt_mode, (self.linker, query.include, query.require, query.exclude, self.rewriter)


def _rebuilt_mode(linker: Any, include: tuple, require: tuple, exclude: tuple, rewriter: Any = None) -> Mode:
    mode = Mode(linker, RewriteDatabaseQuery(include, require, exclude))
    mode.rewriter = rewriter
    return mode


# Names of modes in Aesara that check what a function does while it runs; nothing here takes their place in silence.
_REFUSED = {
    "DebugMode": "DebugMode", "DEBUG_MODE": "DebugMode", "NanGuardMode": "NanGuardMode",
}
predefined_modes: dict[str, Mode] = {
    "FAST_COMPILE": Mode("vm", "fast_compile"), "FAST_RUN": Mode("cvm", "fast_run"),
    "JAX": Mode("jax", "fast_run"), "NUMBA": Mode("numba", "fast_run"),
}


def get_default_mode() -> Mode:
    """The mode of functions for which none is given: what `config.mode` says."""
    return get_mode(None)


def get_mode(mode: Any) -> Mode:
    """The Mode that a `mode=` argument stands for: a name, a Mode, or None for the configured default.

    `"JAX"` and `"NUMBA"` compile as FAST_RUN does, since modes never change results. ValueError for an unknown name.
    """
    name = config.mode if mode is None else mode
    if not isinstance(name, str):
        if isinstance(name, Mode):
            return name
        raise TypeError(f"mode must be a Mode, the name of one, or None; got {mode!r} of type {type(mode).__name__}")
    if name == "Mode":
        return Mode(config.linker, config.optimizer)
    if name in predefined_modes:
        return predefined_modes[name]
    if name in _REFUSED:
        raise NotImplementedError(f"{_REFUSED[name]} is not part of pyscan; compile with mode=\"FAST_COMPILE\" to run the graph nearly as it was written")
    raise ValueError(f"No predefined mode exist for string: {name}. `mode` must be one of {', '.join(map(repr, predefined_modes))}, a Mode or None.")


def register_mode(name: str, mode: Mode) -> None:
    """Let a mode be given by name."""
    if name in predefined_modes:
        raise ValueError(f"Mode name already taken: {name}")
    predefined_modes[name] = mode

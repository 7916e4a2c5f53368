"""The configuration: `pyscan.config.floatX`, `config.change_flags(...)`, and the flags of the environment.

The names are Aesara's. Those that steer pyscan are listed first, with what they do; those after them belong to parts of
Aesara that have no counterpart here (compilers, devices, profilers): they can be read, set and changed, and do nothing, so that
a program that sets them runs. Flags are read at import from `PYSCAN_FLAGS` and, where that says nothing, from
`AESARA_FLAGS` (`floatX=float32,on_unused_input=warn`; dots in names stand for two underscores).

Relies on: nothing in this package. Relied on by: nearly every module.
"""
from __future__ import annotations

import contextlib
import os
from typing import Any

__all__ = ["config", "Config"]

# name: (default, the values allowed or None, what it does)
FLAGS: dict[str, tuple[Any, tuple | None, str]] = {
    "floatX": ("float64", ("float32", "float64"), "dtype of the tensors and draws that are declared without one"),
    "mode": ("Mode", None, "how functions are compiled when no mode is given: FAST_RUN, FAST_COMPILE, or Mode for linker and optimizer below"),
    "optimizer": ("o4", None, "with mode Mode: fast_run and o1 to o4, fast_compile, merge, or None"),
    "linker": ("cvm", None, "with mode Mode: any of Aesara's names; all run on the same core"),
    "optimizer_including": ("", None, "passes or tags added to every mode, separated by colons"),
    "optimizer_excluding": ("", None, "passes or tags taken from every mode, separated by colons"),
    "on_unused_input": ("raise", ("raise", "warn", "ignore"), "what function() does about an input that no output needs"),
    "cast_policy": ("custom", ("custom", "numpy+floatX", "numpy"), "how Python numbers get a dtype; only custom is built"),
    "allow_gc": (True, None, "kept for programs that set it: memory is freed between calls in any case"),
    "exception_verbosity": ("low", ("low", "high"), "high: errors of an operation also print the graph below it"),
    "warn_float64": ("ignore", ("ignore", "warn", "raise", "pdb"), "what happens when a float64 variable is made"),
    "scan__allow_gc": (False, None, "default of scan's allow_gc"),
    "scan__allow_output_prealloc": (True, None, "kept for programs that set it: paths are always written in place"),
    "scan__block_steps": (2048, None, "the longest block of steps for which a loop draws and computes ahead; 0: step by step. "
                                     "Read when a function is made; changes speed and nothing else"),
    "scan__batch_products": (True, None, "whether matrix products in a loop which no state enters, and which are large enough for BLAS, are "
                                         "made for a block of steps at once. On by default, since that saves a call of BLAS at each step and, "
                                         "with vectors, reads the matrix once; BLAS then sums in another order, so that results agree to about "
                                         "1e-12. False: the bits of step by step. Smaller products (up to 2**15 terms a step, 2**18 of matrices "
                                         "of reals) have the same bits in any case. Read when a function is made"),
    "compute_test_value": ("off", ("off", "ignore", "warn", "raise", "pdb"), "whether tag.test_value is computed for each expression that is written, and what a variable without one does"),
    "cycle_detection": ("regular", ("regular", "fast"), "both run the same incremental check"),
    "traceback__limit": (8, None, "frames kept of where a variable was made"),
    "profile": (False, None, "kept for programs that set it"),
    "pickle_test_value": (True, None, "whether tag.test_value is pickled"),
}
_INERT: dict[str, Any] = {
    "device": "cpu", "force_device": False, "openmp": False, "openmp_elemwise_minsize": 200000, "cxx": "", "gcc__cxxflags": "",
    "blas__ldflags": "", "blas__check_openmp": True, "compiledir": "", "base_compiledir": "", "compiledir_format": "", "deterministic": "default",
    "optimizer_requiring": "", "optimizer_verbose": False, "on_opt_error": "warn", "on_shape_error": "warn", "check_input": True,
    "check_stack_trace": "off", "compute_test_value_opt": "off", "print_test_value": False, "print_global_stats": False,
    "assert_no_cpu_op": "ignore", "traceback__compile_limit": 0, "unpickle_function": True, "vm__lazy": None, "lib__amblibm": False,
    "tensor__cmp_sloppy": 0, "tensor__local_elemwise_fusion": True, "tensor__insert_inplace_optimizer_validate_nb": -1,
    "profile_memory": False, "profile_optimizer": False, "profiling__time_thunks": True, "profiling__n_apply": 20, "profiling__n_ops": 20,
    "profiling__min_memory_size": 1024, "profiling__min_peak_memory": False, "profiling__destination": "stderr",
    "profiling__debugprint": False, "profiling__ignore_first_call": False, "profiling__output_line_width": 512,
    "numba__vectorize_target": "cpu", "numba__fastmath": True, "numba__cache": True, "optdb__position_cutoff": float("inf"),
    "optdb__max_use_ratio": 8.0, "metaopt__verbose": 0, "metaopt__optimizer_excluding": "", "metaopt__optimizer_including": "",
    "unittests__rseed": "666", "warn__round": False, "warn__ignore_bug_before": "0.9", "conv__assert_shape": False, "ctc__root": "",
    "experimental__local_alloc_elemwise": False, "experimental__local_alloc_elemwise_assert": True, "nocleanup": False,
    "DebugMode__patience": 10, "DebugMode__check_c": True, "DebugMode__check_py": True, "DebugMode__check_finite": True,
    "DebugMode__check_strides": 0, "DebugMode__warn_input_not_reused": True, "DebugMode__check_preallocated_output": "",
    "DebugMode__check_preallocated_output_ndim": 4, "NanGuardMode__nan_is_error": True, "NanGuardMode__inf_is_error": True,
    "NanGuardMode__big_is_error": True, "NanGuardMode__action": "raise", "cmodule__preload_cache": False, "cmodule__debug": False,
    "cmodule__remove_gxx_opt": False, "cmodule__compilation_warning": False, "cmodule__warn_no_version": False,
    "cmodule__age_thresh_use": 2073600, "compile__timeout": 120, "compile__wait": 5,
}


def _parse(text: str, default: Any) -> Any:
    """The flag's value that a piece of text of the environment stands for."""
    text = text.strip()
    if isinstance(default, bool):
        if text.lower() in ("1", "true"):
            return True
        if text.lower() in ("0", "false"):
            return False
        raise ValueError(f"expected True or False, got {text!r}")
    if isinstance(default, (int, float)):
        return type(default)(text)
    return None if text == "None" and default is None else text


class _ChangeFlags(contextlib.ContextDecorator):
    """Sets flags for the length of a `with` block, or of each call of the function that it decorates."""

    def __init__(self, config: Config, flags: dict[str, Any]) -> None:
        for name in flags:
            if name not in config._values:
                raise KeyError(name)
        self._config, self._flags, self._saved = config, flags, []

    def __enter__(self) -> None:
        saved = {name: self._config._values[name] for name in self._flags}
        try:
            for name, value in self._flags.items():
                setattr(self._config, name, value)
        except BaseException:
            self._config.restore(saved)
            raise
        self._saved.append(saved)

    def __exit__(self, *exc: Any) -> None:
        self._config.restore(self._saved.pop())


class Config:
    """The flags as attributes. One object, `pyscan.config`, serves the whole process.

    >>> import pyscan
    >>> with pyscan.config.change_flags(floatX="float32"):
    ...     pyscan.tensor.vector().dtype
    'float32'
    """

    _values: dict[str, Any]
    _watchers: dict[str, Any]

    def __init__(self) -> None:
        values = {name: row[0] for name, row in FLAGS.items()}
        object.__setattr__(self, "_values", {**values, **_INERT})
        object.__setattr__(self, "_watchers", {})

    def __getattr__(self, name: str) -> Any:
        if name == "_values":  # while a copy or a pickle is being made
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{_closest(name, self._values)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(f"there is no configuration variable {name!r}{_closest(name, self._values)}")
        row = FLAGS.get(name)
        if row is not None and row[1] is not None and value not in row[1]:
            raise ValueError(f"Invalid value ('{value}') for configuration variable '{name}'. Valid options are {sorted(row[1])}")
        self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        self._values[name] = value
        if name in self._watchers:
            self._watchers[name](value)

    def watch(self, name: str, watcher: Any) -> None:
        """Have the watcher called with the flag's value, now and after each change of it."""
        self._watchers[name] = watcher
        watcher(self._values[name])

    def __reduce__(self) -> Any:
        return _rebuilt, (dict(self._values),)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._values])

    def __str__(self) -> str:
        return "\n".join(f"{name} = {self._values[name]!r}\n    {row[2]}" for name, row in FLAGS.items())

    def change_flags(self, *args: Any, **flags: Any) -> _ChangeFlags:
        """Give flags other values inside a `with` block or a decorated function; KeyError for a name that does not exist."""
        for given in args:
            flags = {**dict(given), **flags}
        return _ChangeFlags(self, flags)

    def snapshot(self) -> dict[str, Any]:
        """All values, for `restore`."""
        return dict(self._values)

    def restore(self, values: dict[str, Any]) -> None:
        """Put back what `snapshot` gave."""
        for name, value in values.items():
            self._set(name, value)

    def read_flags(self, text: str, lenient: bool) -> None:
        """Set the flags of a text such as `floatX=float32,mode=FAST_COMPILE`; `lenient` passes over names not known here."""
        for item in filter(None, (piece.strip() for piece in text.split(","))):
            name, equals, value = item.partition("=")
            name = name.strip().replace(".", "__")
            if name not in self._values:
                if lenient:
                    continue
                raise ValueError(f"PYSCAN_FLAGS names {name!r}, which is no configuration variable{_closest(name, self._values)}")
            if not equals:
                raise ValueError(f"PYSCAN_FLAGS has {item!r} where name=value was expected")
            setattr(self, name, _parse(value, self._values[name]))


def _rebuilt(values: dict[str, Any]) -> Config:
    made = Config()
    made._values.update(values)
    return made


def _closest(name: str, names: Any) -> str:
    import difflib  # here, since only errors need it
    found = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {found[0]!r}?" if found else ""


config = Config()
config.read_flags(os.environ.get("AESARA_FLAGS", ""), lenient=True)
config.read_flags(os.environ.get("PYSCAN_FLAGS", ""), lenient=False)

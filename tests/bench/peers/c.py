"""loops.c, built with the system's compiler, over the static library of distributions that NumPy brings along."""
import ctypes
import functools
import os
import pathlib
import shlex
import subprocess
import sysconfig
import tempfile

import numpy as np

from tests.bench import workloads as w

VERSION = f"C over NumPy {np.__version__}'s library"


@functools.cache
def _build():
    numpy, folder = pathlib.Path(np.__file__).parent, tempfile.mkdtemp()
    headers = numpy / ("_core" if (numpy / "_core" / "include").exists() else "core") / "include"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-O3", "-march=native", "-shared", "-fPIC", "-DNPY_NO_DEPRECATED_API=0", f"-I{headers}", f"-I{sysconfig.get_paths()['include']}",
                    str(pathlib.Path(__file__).with_name("loops.c")), str(numpy / "random" / "lib" / "libnpyrandom.a"), "-lm", "-o", f"{folder}/loops.so"],
                   check=True)
    return ctypes.CDLL(f"{folder}/loops.so")


def compiled(name):
    """A call of the workload without arguments, or None."""
    n = w.WORKLOADS[name][0]
    rng = np.random.default_rng(w.SEED)
    if name in ("repro", "ar1_last"):  # the numbers of calls and of steps differ, not the code
        name = {"repro": "draws", "ar1_last": "ar1"}[name]
    made = np.random.default_rng(0)
    turn = 0.99 * np.linalg.qr(made.normal(size=(w.STATES, w.STATES)))[0]
    factor = np.tril(made.normal(size=(w.STATES, w.STATES)))
    rows, means = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), np.array([-2.0, 0.0, 2.0])
    floats, ints = (lambda *shape: lambda: np.empty(shape)), (lambda *shape: lambda: np.empty(shape, dtype=np.int64))
    # The arguments after the generator and the number of steps; functions make those that each call makes anew.
    arguments = {
        "draws": [floats(n)], "ar1": [floats(n)], "stochvol": [floats(n), floats(n)], "gbm": [w.PATHS, floats(n, w.PATHS)], "sir": [ints(n), ints(n)],
        "lds": [w.STATES, turn, factor, np.zeros(w.STATES), floats(n, w.STATES)], "hmm": [rows, means, ints(n), floats(n)],
        "metropolis": [w.DIMENSIONS, floats(n, w.DIMENSIONS), floats(n)], "logistic": [floats(n)],
        "power": [w.LENGTH, np.linspace(0.5, 1.5, w.LENGTH), floats(w.LENGTH)],
    }.get(name)
    if arguments is None:
        return None
    function = getattr(_build(), name)
    function.restype = None
    first = [] if name in ("logistic", "power") else [rng.bit_generator.ctypes.bit_generator]

    def call():
        given = [a() if callable(a) else a for a in arguments]
        function(*first, ctypes.c_int64(n), *(a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in given))
        return given
    return call

"""What pyscan is measured against: one row a peer, and how fast pyscan has to be beside it.

A peer with requirements has an environment of its own, build/peers/NAME, which `make bench-peers` makes with the newest Python
of `pythons` that is at hand; the others run in the environment of the build.
"""
import typing


class System(typing.NamedTuple):
    """A column of the table: the module of this folder, the library of its graphs, what pip installs, the Pythons it runs on."""
    module: str
    library: str = ""
    needs: tuple = ()
    pythons: tuple = ()


NEW = ("3.13", "3.12", "3.11")
SYSTEMS = {
    "pyscan": System("graphs", "pyscan"),
    "C": System("c"),
    "NumPy": System("plain"),
    "Numba": System("numba", needs=("numba",), pythons=NEW),
    "PyTensor": System("graphs", "pytensor", ("pytensor",), NEW),
    "JAX": System("jax", needs=("jax",), pythons=NEW),
    "Aesara": System("graphs", "aesara", ("aesara==2.9.4", "numpy<1.24", "scipy<1.11", "setuptools<70"), ("3.11",)),
}

# The largest ratio of pyscan's time to the peer's. C's time for ar1_last is that of ar1.
SCALAR = ("draws", "ar1", "ar1_last", "stochvol", "sir", "hmm", "logistic")
BARS = {
    "C": {"draws": 0.35, "ar1": 0.5, "ar1_last": 0.5, "stochvol": 0.5, "gbm": 0.4, "sir": 1.25, "lds": 0.45, "hmm": 0.75, "metropolis": 0.55,
          "logistic": 1.6, "power": 0.7},
    "NumPy": {"rnn": 0.7},
    "Numba": {"draws": 0.45, "stochvol": 0.6, "gbm": 0.4, "metropolis": 0.6},
    "PyTensor": {**dict.fromkeys(SCALAR, 0.15), "rnn": 0.8},
    "JAX": {},
    "Aesara": dict.fromkeys(("draws", "ar1", "stochvol", "hmm"), 0.001),
}


def bar(peer, workload, peer_ns):
    """The largest ratio asked for, or None. Where Numba's own draw takes less than 4 ns, its normals are inlined too."""
    return 1.2 if (peer, workload) == ("Numba", "draws") and peer_ns < 4.0 else BARS[peer].get(workload)

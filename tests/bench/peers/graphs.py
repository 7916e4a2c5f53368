"""The workloads as symbolic graphs, of the library that the environment names (see workloads.py)."""
from tests.bench import workloads as w

VERSION = f"{w.LIBRARY} {getattr(w.library, '__version__', '')}".strip()


def compiled(name):
    """A call of the workload without arguments."""
    return w.WORKLOADS[name][1]()

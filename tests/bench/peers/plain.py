"""The loops of NumPy calls that stand beside the graphs in workloads.py."""
import numpy as np

from tests.bench import workloads as w

VERSION = f"NumPy {np.__version__}"


def compiled(name):
    """A call of the workload without arguments."""
    return w.WORKLOADS[name][2]

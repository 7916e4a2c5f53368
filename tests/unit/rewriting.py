"""What the tests of the rewrite passes share: graphs made by hand, passes run on them, and their text."""
import pyscan.tensor as at
from pyscan import _core
from pyscan.graph import Constant, FunctionGraph

SCAN_PASSES = ("merge", "constant_folding", "scan_prune", "scan_push_out", "scan_save_mem")
ALL_PASSES = tuple(row[0] for row in _core.passes())


def evaluate(node):
    return _core.evaluate(node.outputs)


def graph_of(inputs, outputs, update_mapping=None):
    """A FunctionGraph on copies of the nodes."""
    return FunctionGraph(inputs, outputs, clone=True, update_mapping=update_mapping)


def rewritten(inputs, outputs, *names, protected=(), update_mapping=None, mutable=()):
    """The graph after the named passes, each of which is checked; inputs are protected but those in `mutable`."""
    graph = graph_of(inputs, outputs, update_mapping)
    protect = [new for old, new in zip(inputs, graph.inputs) if old not in mutable]
    graph.attach_feature(_core.Supervisor(protect))
    run(graph, *names)
    return graph


def run(graph, *names):
    """Runs passes with the whole graph checked after each; returns the counts."""
    before = _core.set_verify(True)
    try:
        return _core.rewrite(graph, names, evaluate)
    finally:
        _core.set_verify(before)


def op_texts(graph):
    return [str(node.op) for node in graph.toposort()]


def nodes_of(graph, kind):
    return [node for node in graph.toposort() if getattr(node.op, "kind", None) == kind]


def the_scan(graph):
    (node,) = nodes_of(graph, "scan")
    return node


def constant_value(variable):
    assert isinstance(variable, Constant), variable
    return variable.data.tolist() if hasattr(variable.data, "tolist") else variable.data


def scalars(names):
    return [at.dscalar(name) for name in names]

"""A type and Ops with no values, for tests of graphs alone."""
from pyscan.graph import Apply, Constant, Op, Type, Variable


class Plain(Type):
    """Takes any data; all of its instances are equal."""

    __props__ = ()

    def filter(self, data, strict=False, allow_downcast=None):
        return data


class Other(Plain):
    """A type that is not Plain."""


plain, other = Plain(), Other()


class Node(Op):
    """An Op with a name, maps and a number of outputs, equal to others of the same description."""

    __props__ = ("name", "n_outputs", "destroyed", "viewed")

    def __init__(self, name, n_outputs=1, destroyed=(), viewed=(), **attributes):
        self.name, self.n_outputs, self.destroyed, self.viewed = name, n_outputs, tuple(destroyed), tuple(viewed)
        self.destroy_map = {out: [i] for out, i in self.destroyed}
        self.view_map = {out: [i] for out, i in self.viewed}
        self.__dict__.update(attributes)

    def make_node(self, *inputs):
        return Apply(self, inputs, [plain() for _ in range(self.n_outputs)])

    def __str__(self):
        return self.name


f, g, h = Node("f"), Node("g"), Node("h")
add_inplace = Node("add_inplace", destroyed=[(0, 0)])
view = Node("view", viewed=[(0, 0)])


def variables(names):
    """New leaves of those names, from a string with blanks."""
    return [plain(name) for name in names.split()]


def constant(data, name=None):
    return Constant(plain, data, name=name)


def chain(n, start, op=f):
    """`start` under n nodes of the Op."""
    variable = start
    for _ in range(n):
        variable = op(variable)
    return variable


def snapshot(fgraph):
    """All that a graph notes about itself, to compare."""
    return (
        list(fgraph.inputs), list(fgraph.outputs), set(fgraph.apply_nodes), set(fgraph.variables),
        {v: list(clients) for v, clients in fgraph.clients.items()}, {n: list(n.inputs) for n in fgraph.apply_nodes},
        dict(fgraph.update_mapping), dict(fgraph.inv_update_mapping),
    )


__all__ = [
    "Apply", "Constant", "Node", "Op", "Other", "Plain", "Type", "Variable", "add_inplace", "chain", "constant", "f", "g", "h", "other",
    "plain", "snapshot", "variables", "view",
]

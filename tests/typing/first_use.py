"""What a first program writes, checked by mypy: `python -m mypy tests/typing`."""
from typing import Any, assert_type

import numpy as np

import pyscan
import pyscan.tensor as at

x = at.dvector("x")
state = pyscan.shared(np.zeros(2), name="state")
fn = pyscan.function([x], x + state, updates=[(state, state + x)], mode="FAST_RUN")
assert_type(fn, pyscan.Function)
value: Any = fn([1.0, 2.0])
assert_type(fn.name, str | None)
assert_type(fn.counters, dict[str, int])

stream = at.random.RandomStream(23)
path, updates = pyscan.scan(lambda: stream.normal(), n_steps=10)
assert_type(pyscan.explain(fn), pyscan.Explanation)
text: str = str(pyscan.explain(fn))

graph = pyscan.FunctionGraph([x], [x + 1.0])
assert_type(graph.toposort(), list[pyscan.Apply])


class Double(pyscan.Op):
    """A user's own Op."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> pyscan.Apply:
        return pyscan.Apply(self, list(inputs), [inputs[0].type()])

    def perform(self, node: pyscan.Apply, inputs: list[Any], output_storage: list[list[Any]], params: Any = None) -> None:
        output_storage[0][0] = inputs[0] * 2.0


with pyscan.config.change_flags(floatX="float32"):
    y = at.vector("y")

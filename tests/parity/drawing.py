"""Draws through the public surface, for the tests that go over the whole table of distributions."""
from pyscan.tensor import random as RANDOM
from pyscan.tensor.random import RandomVariable


def make_draw(name, rng, size, params):
    """The draw of a row from the parameters of its node (which its function may take in another form), and the next generator."""
    draw = RandomVariable.__call__(getattr(RANDOM, name), *params, size=size, rng=rng)
    return draw, draw.owner.outputs[0]

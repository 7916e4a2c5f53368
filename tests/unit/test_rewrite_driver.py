"""The table of passes and the function that runs them."""
import pytest

from pyscan import _core
from tests.unit.rewriting import ALL_PASSES, graph_of, run

import pyscan.tensor as at


def test_passes_are_listed_in_the_order_of_their_positions():
    positions = [row[1] for row in _core.passes()]
    assert positions == sorted(positions)
    assert ALL_PASSES == (
        "merge", "constant_folding", "scan_prune", "scan_push_out", "scan_save_mem", "add_destroy_handler",
        "local_inplace_setsubtensor", "scan_make_inplace", "random_make_inplace",
    )  # fmt: skip


def test_fast_compile_merges_and_folds_and_nothing_else():
    assert [name for name, _, tags, _ in _core.passes() if "fast_compile" in tags] == ["merge", "constant_folding"]


def test_every_pass_says_what_it_does():
    assert all(doc and tags for _, _, tags, doc in _core.passes())


def test_rewrite_returns_the_number_of_changes_of_each_pass_that_ran():
    x = at.dscalar("x")
    graph = graph_of([x], [x + 1.0, x + 1.0])
    assert _core.rewrite(graph, ["merge", "add_destroy_handler"]) == {"merge": 2, "add_destroy_handler": 1}


def test_names_may_come_in_any_order():
    x = at.dscalar("x")
    graph = graph_of([x], [x + 1.0])
    counts = _core.rewrite(graph, ("random_make_inplace", "merge"))
    assert list(counts) == ["merge", "random_make_inplace"]


def test_an_unknown_name_is_refused():
    x = at.dscalar("x")
    graph = graph_of([x], [x + 1.0])
    with pytest.raises(ValueError, match="There is no pass 'fuse'"):
        _core.rewrite(graph, ["fuse"])


@pytest.mark.parametrize("graph", [None, 3, "graph"])
def test_what_is_no_graph_is_refused(graph):
    with pytest.raises(TypeError, match="expects a FunctionGraph"):
        _core.rewrite(graph, [])


def test_the_destroy_handler_is_attached_once():
    x = at.dscalar("x")
    graph = graph_of([x], [x + 1.0])
    assert run(graph, "add_destroy_handler") == {"add_destroy_handler": 1}
    assert run(graph, "add_destroy_handler") == {"add_destroy_handler": 0}


def test_a_pass_that_leaves_a_broken_graph_is_named():
    x = at.dscalar("x")
    graph = graph_of([x], [x + 1.0])
    graph.variables.discard(graph.inputs[0])
    with pytest.raises(AssertionError, match="The pass 'merge' left a graph that is not consistent") as caught:
        run(graph, "merge")
    assert caught.value.__cause__ is not None


def test_set_verify_returns_what_it_was():
    before = _core.set_verify(True)
    assert _core.set_verify(False) is True
    assert _core.set_verify(before) is False


def test_the_update_mapping_is_left_alone():
    x, y = at.dscalar("x"), at.dscalar("y")
    graph = graph_of([x, y], [x + 1.0, x + 1.0, x + y], update_mapping={1: 0, 2: 1})
    run(graph, *ALL_PASSES)
    assert graph.update_mapping == {1: 0, 2: 1}
    assert len(graph.outputs) == 3 and len(graph.inputs) == 2

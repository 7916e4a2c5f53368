"""The in-place passes: who may overwrite what, and who may not."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.tensor.random import RandomStream
from tests.unit.rewriting import ALL_PASSES, SCAN_PASSES, graph_of, nodes_of, op_texts, rewritten, run, the_scan

INPLACE = ALL_PASSES


def shared_rng(seed=1):
    return pyscan.shared(np.random.default_rng(seed), name="rng")


def flags(graph):
    return [node.op.inplace for node in nodes_of(graph, "random")]


def draw(rng, loc=0.0):
    """(next state, draw)"""
    node = at.random.normal(loc, 1.0, rng=rng).owner
    return node.outputs


# Writing into tensors


def test_a_write_into_a_fresh_buffer_is_in_place():
    n, x = at.lscalar("n"), at.dscalar("x")
    graph = rewritten([n, x], [at.set_subtensor(at.empty((n,))[:1], x)], *INPLACE)
    assert "IncSubtensor{InplaceSet;:int64:}" in op_texts(graph)


def test_a_write_into_an_input_is_refused_by_the_supervisor():
    v = at.dvector("v")
    graph = rewritten([v], [at.set_subtensor(v[0], 1.0)], *INPLACE)
    assert op_texts(graph) == ["IncSubtensor{Set;int64}"]
    ((reason, _, error),) = graph.vetoes
    assert (reason, error) == ("local_inplace_setsubtensor", "Trying to destroy a protected variable: v")


def test_a_write_into_a_mutable_input_is_in_place():
    v = at.dvector("v")
    graph = rewritten([v], [at.set_subtensor(v[0], 1.0)], *INPLACE, mutable=[v])
    assert op_texts(graph) == ["IncSubtensor{InplaceSet;int64}"]


def test_a_write_into_an_intermediate_is_in_place_and_comes_after_its_other_readers():
    v = at.dvector("v")
    y = at.exp(v)
    graph = rewritten([v], [at.set_subtensor(y[0], 1.0), y.sum()], *INPLACE)
    texts = op_texts(graph)
    assert texts.index("Sum{acc_dtype=float64}") < texts.index("IncSubtensor{InplaceSet;int64}")


def test_a_write_into_what_is_also_an_output_is_a_copy():
    v = at.dvector("v")
    y = at.exp(v)
    graph = rewritten([v], [at.set_subtensor(y[0], 1.0), y], *INPLACE)
    assert "IncSubtensor{Set;int64}" in op_texts(graph)


def test_of_two_writes_into_one_tensor_one_is_in_place():
    v = at.dvector("v")
    y = at.exp(v)
    graph = rewritten([v], [at.set_subtensor(y[0], 1.0), at.inc_subtensor(y[0], 1.0)], *INPLACE)
    assert sorted(text for text in op_texts(graph) if "Subtensor" in text) == ["IncSubtensor{Inc;int64}", "IncSubtensor{InplaceSet;int64}"]
    assert [error for reason, _, error in graph.vetoes if "Multiple destroyers of" in error]


def test_a_constant_is_never_written_into():
    graph = rewritten([], [at.set_subtensor(at.constant(np.zeros(3))[0], at.constant(1.0))], "merge", *INPLACE[5:])
    assert op_texts(graph) == ["IncSubtensor{Set;int64}"]


def test_chosen_rows_are_written_in_place():
    v, i = at.dvector("v"), at.lvector("i")
    graph = rewritten([v, i], [at.set_subtensor(at.exp(v)[i], 1.0)], *INPLACE)
    assert [node.op.inplace for node in nodes_of(graph, "advanced_inc_subtensor1")] == [True]


def test_writes_in_place_compute_what_they_did():
    v = at.dvector("v")
    y = at.exp(v)
    outputs = [at.set_subtensor(y[0], 1.0), y.sum(), at.inc_subtensor(y[1:], y[:-1])]
    x = np.linspace(0.0, 1.0, 5)
    fast = pyscan.function([v], outputs)(x)
    slow = pyscan.function([v], outputs, mode="FAST_COMPILE")(x)
    assert [a.tobytes() for a in fast] == [a.tobytes() for a in slow]


# Random variables


def test_a_draw_from_a_generator_that_may_be_destroyed_is_in_place():
    rng = shared_rng()
    state, value = draw(rng)
    graph = rewritten([rng], [value, state], *INPLACE, mutable=[rng], update_mapping={1: 0})
    assert flags(graph) == [True]


def test_a_draw_from_a_protected_generator_is_a_copy_and_says_why():
    rng = shared_rng()
    graph = rewritten([rng], [draw(rng)[1]], *INPLACE)
    assert flags(graph) == [False]
    assert [(reason, error) for reason, _, error in graph.vetoes] == [
        ("random_make_inplace", "Trying to destroy a protected variable: rng")
    ]


def test_a_chain_of_draws_is_in_place_throughout():
    rng = shared_rng()
    state, a = draw(rng)
    state, b = draw(state)
    graph = rewritten([rng], [a, b, state], *INPLACE, mutable=[rng], update_mapping={2: 0})
    assert flags(graph) == [True, True]


@pytest.mark.parametrize("feeds", [0, 1])
def test_of_two_draws_from_one_state_the_one_that_feeds_the_update_is_in_place_and_last(feeds):
    rng = shared_rng()
    draws = [draw(rng, 0.0), draw(rng, 5.0)]
    outputs = [draws[0][1], draws[1][1], draws[feeds][0]]
    graph = rewritten([rng], outputs, *INPLACE, mutable=[rng], update_mapping={2: 0})
    first, last = nodes_of(graph, "random")
    assert (first.op.inplace, last.op.inplace) == (False, True)
    assert last.outputs[1] is graph.outputs[feeds]
    assert [error for reason, _, error in graph.vetoes if error.startswith("Multiple destroyers of")]


def test_a_draw_that_leads_to_the_update_by_a_chain_comes_first_too():
    rng = shared_rng()
    _, other = draw(rng, 5.0)
    state, a = draw(rng)
    state, b = draw(state)
    graph = rewritten([rng], [other, a, b, state], *INPLACE, mutable=[rng], update_mapping={3: 0})
    made = {id(node.outputs[1]): node.op.inplace for node in nodes_of(graph, "random")}
    assert [made[id(v)] for v in graph.outputs[:3]] == [False, True, True]


def test_a_generator_that_is_itself_an_output_is_not_destroyed():
    rng = shared_rng()
    state, value = draw(rng)
    graph = rewritten([rng], [value, rng, state], *INPLACE, mutable=[rng], update_mapping={2: 0})
    assert flags(graph) == [False]


def test_other_props_of_a_draw_survive():
    rng = shared_rng()
    node = at.random.integers(0, 9, size=(3,), rng=rng).owner
    graph = rewritten([rng], [node.outputs[1], node.outputs[0]], *INPLACE, mutable=[rng])
    (new,) = nodes_of(graph, "random")
    before, after = node.op._props_dict(), new.op._props_dict()
    assert after == {**before, "inplace": True}
    assert new.outputs[1].type == node.outputs[1].type


# Loops


def walk(n_steps=4, srng=None):
    srng = srng or RandomStream(3)
    x0 = at.dscalar("x0")
    out, updates = pyscan.scan(lambda x: x + srng.normal(), outputs_info=[x0], n_steps=n_steps)
    ((rng, state),) = updates.items()
    return x0, out, rng, state


def test_a_loop_takes_its_state_and_its_generator():
    x0, out, rng, state = walk()
    graph = rewritten([x0, rng], [out, state], *INPLACE, mutable=[rng], update_mapping={1: 1})
    assert the_scan(graph).op.destroy_map == {0: [1], 1: [2]}
    assert str(the_scan(graph).op) == "forall_inplace,cpu,scan_fn}"
    assert "IncSubtensor{InplaceSet;:int64:}" in op_texts(graph)


def test_a_loop_leaves_a_protected_generator_and_takes_its_state():
    x0, out, rng, state = walk()
    graph = rewritten([x0, rng], [out], *INPLACE)
    assert the_scan(graph).op.destroy_map == {0: [1]}
    assert "Trying to destroy a protected variable" in graph.vetoes[-1][2]


def test_a_loop_without_recurrence_takes_its_generator_and_keeps_its_text():
    srng = RandomStream(3)
    out, updates = pyscan.scan(lambda: srng.normal(), n_steps=4)
    ((rng, state),) = updates.items()
    graph = rewritten([rng], [out, state], *INPLACE, mutable=[rng], update_mapping={1: 0})
    assert the_scan(graph).op.destroy_map == {1: [1]}
    assert str(the_scan(graph).op) == "for{cpu,scan_fn}"


def test_two_states_that_start_alike_both_get_buffers_of_their_own():
    (a, b), _ = pyscan.scan(lambda x, y: (x + 1.0, y + x), outputs_info=[np.float64(0.0), np.float64(0.0)], n_steps=3)
    graph = rewritten([], [a, b], *INPLACE)
    assert the_scan(graph).op.destroy_map == {0: [1], 1: [2]}


def share_buffer(n_loops, same_loop=False):
    """Loops (or one loop of two states) that all start from one variable."""
    x0 = at.dscalar("x0")
    if same_loop:
        (a, b), _ = pyscan.scan(lambda x, y: (x + 1.0, y * 2.0), outputs_info=[x0, x0], n_steps=3)
        graph = graph_of([x0], [a, b])
        (node,) = nodes_of(graph, "scan")
        graph.change_node_input(node, 2, node.inputs[1])
        return graph
    outs = [pyscan.scan(lambda x, i=i: x + float(i), outputs_info=[x0], n_steps=3)[0] for i in range(n_loops)]
    graph = graph_of([x0], outs)
    first, *others = nodes_of(graph, "scan")
    for node in others:
        graph.change_node_input(node, 1, first.inputs[1])
    return graph


@pytest.mark.parametrize("same_loop", [False, True])
def test_loops_that_share_a_start_get_buffers_of_their_own(same_loop):
    graph = share_buffer(3, same_loop)
    graph.attach_feature(_core.Supervisor(graph.inputs))
    run(graph, *INPLACE)
    loops = nodes_of(graph, "scan")
    states = [node.inputs[i] for node in loops for entry in node.op.destroy_map.values() for i in entry]
    assert len(states) == len(set(states)) == (2 if same_loop else 3)
    assert op_texts(graph).count("AllocEmpty{dtype='float64'}") == len(states)


def test_a_state_that_is_a_functions_input_is_refused_alone():
    x0, out, rng, state = walk()
    graph = graph_of([x0, rng, at.dvector("buffer")], [out, state], update_mapping={1: 1})
    graph.change_node_input(the_scan(graph), 1, graph.inputs[2])
    graph.attach_feature(_core.Supervisor([graph.inputs[0], graph.inputs[2]]))
    run(graph, *INPLACE)
    assert the_scan(graph).op.destroy_map == {1: [2]}
    assert [error for reason, _, error in graph.vetoes] == ["Trying to destroy a protected variable: buffer"] * 2


def two_loops(rng, feeds):
    outs, states = [], []
    for i in range(2):
        out, updates = pyscan.scan(lambda r=rng, i=i: (at.random.normal(float(i), 1.0, rng=r), {r: at.random.normal(float(i), 1.0, rng=r).owner.outputs[0]}), n_steps=3)
        outs.append(out)
        states.append(updates[rng])
    return outs, states[feeds]


@pytest.mark.parametrize("feeds", [0, 1])
def test_of_two_loops_on_one_generator_the_one_that_feeds_the_update_takes_it_and_is_last(feeds):
    rng = shared_rng()
    outs, state = two_loops(rng, feeds)
    graph = rewritten([rng], [*outs, state], *INPLACE, mutable=[rng], update_mapping={2: 0})
    first, last = nodes_of(graph, "scan")
    assert (first.op.destroy_map, last.op.destroy_map) == ({}, {1: [1]})
    assert last.outputs[0] is graph.outputs[feeds]


def test_loops_that_hand_a_generator_on_are_all_in_place():
    rng = shared_rng()
    outs, state = [], rng
    for i in range(3):
        out, updates = pyscan.scan(
            lambda r: [at.random.normal(float(i), 1.0, rng=r), at.random.normal(float(i), 1.0, rng=r).owner.outputs[0]],
            outputs_info=[None, state], n_steps=3,
        )  # fmt: skip
        outs.append(out[0])
        state = out[1]
    graph = rewritten([rng], [*outs, state], *INPLACE, mutable=[rng], update_mapping={3: 0})
    assert [node.op.destroy_map for node in nodes_of(graph, "scan")] == [{1: [1]}] * 3


def test_a_loop_leaves_the_generator_to_the_draw_that_feeds_the_update():
    rng = shared_rng()
    outs, _ = two_loops(rng, 0)
    state, value = draw(rng, 9.0)
    graph = rewritten([rng], [outs[0], value, state], *INPLACE, mutable=[rng], update_mapping={2: 0})
    assert flags(graph) == [True]
    assert the_scan(graph).op.destroy_map == {}


def test_a_draw_leaves_the_generator_to_the_loop_that_feeds_the_update():
    rng = shared_rng()
    outs, state = two_loops(rng, 0)
    _, value = draw(rng, 9.0)
    graph = rewritten([rng], [outs[0], value, state], *INPLACE, mutable=[rng], update_mapping={2: 0})
    assert flags(graph) == [False]
    assert the_scan(graph).op.destroy_map == {1: [1]}


# Together


def test_without_the_destroy_handler_no_in_place_pass_is_vetoed_into_nonsense():
    rng = shared_rng()
    state, value = draw(rng)
    graph = rewritten([rng], [value, state], *SCAN_PASSES, mutable=[rng])
    assert flags(graph) == [False]


def test_in_place_passes_propose_a_fixed_number_of_times_for_each_candidate():
    class Counter(_core.Feature):
        n = 0

        def validate(self, fgraph):
            self.n += 1

    def proposals(n):
        rng = shared_rng()
        values, state = [], rng
        for i in range(n):
            state, value = draw(state, float(i))
            values.append(value)
        graph = graph_of([rng], [*values, state])
        counter = Counter()
        graph.attach_feature(counter)
        run(graph, "add_destroy_handler", "random_make_inplace")
        return counter.n

    assert proposals(20) == 20
    assert proposals(40) == 40


def test_a_draw_keeps_its_dtype_when_floatX_changes_before_it_is_compiled():
    srng = pyscan.tensor.random.RandomStream(3)
    with pyscan.config.change_flags(floatX="float32"):
        x = srng.normal()
    fn = pyscan.function([], x)
    assert [node.op.inplace for node in fn.maker.fgraph.toposort() if hasattr(node.op, "inplace")] == [True]
    assert fn().dtype == "float32"

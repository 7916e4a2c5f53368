"""scan_prune, scan_push_out and scan_save_mem: loops keep what somebody reads, and fail as they did."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, scan_op
from pyscan.errors import PyscanWarning
from pyscan.graph import Apply, Constant, Op
from pyscan.scan import until
from pyscan.tensor.random import RandomStream
from tests.unit.rewriting import constant_value, nodes_of, rewritten, run, the_scan

PRUNE = ("merge", "constant_folding", "scan_prune")
PUSH = (*PRUNE, "scan_push_out")
SAVE = (*PUSH, "scan_save_mem", "merge", "constant_folding")
RAW = pyscan.Mode("py", None)


def body_texts(node):
    return [str(inner.op) for inner in node.op.fgraph.toposort()]


class Noisy(Op):
    """A user's Op that may fail: nothing is known of it."""

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0])


# scan_prune


def test_a_path_that_nobody_reads_goes():
    x0 = at.dscalar("x0")
    (a, b), _ = pyscan.scan(lambda x: (x * 2, at.exp(x)), outputs_info=[x0, None], n_steps=3)
    node = the_scan(rewritten([x0], [a], *PRUNE))
    assert len(node.outputs) == 1 and node.op.info.n_nit_sot == 0
    assert body_texts(node) == ["Elemwise{mul,no_inplace}"]
    assert len(node.inputs) == 2


def test_a_state_that_feeds_another_stays():
    x0 = at.dscalar("x0")
    (a, b), _ = pyscan.scan(lambda x, y: (x * 2, y + x), outputs_info=[x0, x0], n_steps=3)
    assert len(the_scan(rewritten([x0], [b], *PRUNE)).outputs) == 2
    assert len(the_scan(rewritten([x0], [a], *PRUNE)).outputs) == 1


def test_states_that_feed_each_other_alone_go_together():
    x0 = at.dscalar("x0")
    (a, b, c), _ = pyscan.scan(lambda x, y, z: (x + y, y - x, z * 2), outputs_info=[x0, x0, x0], n_steps=3)
    assert len(the_scan(rewritten([x0], [c], *PRUNE)).outputs) == 1


def test_the_condition_keeps_what_it_reads():
    x0 = at.dscalar("x0")
    (a, b), _ = pyscan.scan(lambda x, y: ([x * 2, y + 1.0], until(y > 2.0)), outputs_info=[x0, x0], n_steps=9)
    node = the_scan(rewritten([x0], [a], *PRUNE))
    assert len(node.outputs) == 2 and node.op.info.as_while


def test_an_output_whose_computing_may_fail_stays_with_its_error():
    x0 = at.lscalar("x0")
    (a, b), _ = pyscan.scan(lambda x: (x - 1, 6 // x), outputs_info=[x0, None], n_steps=3)
    assert len(the_scan(rewritten([x0], [a], *PRUNE)).outputs) == 2
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = pyscan.function([x0], a, mode=mode)
        assert f(5).tolist() == [4, 3, 2]
        with pytest.raises(ZeroDivisionError):
            f(2)


def test_a_state_whose_start_may_fail_stays_with_its_error():
    v, x0 = at.dvector("v"), at.dscalar("x0")
    start = at.Assert("start must be positive")(x0, x0 > 0)
    (a, b), _ = pyscan.scan(lambda x, y: (x * 2, y * 2), outputs_info=[at.constant(np.float64(1.0)), start], n_steps=2)
    assert len(the_scan(rewritten([v, x0], [a], *PRUNE)).outputs) == 2
    with pytest.raises(AssertionError, match="start must be positive"):
        pyscan.function([x0], a)(-1.0)


def test_a_vector_state_that_keeps_its_length_goes():
    x0, v = at.dscalar("x0"), at.dvector("v")
    (a, b, c), _ = pyscan.scan(lambda x, y: (x * 2, at.exp(y) * 2.0, at.tanh(y)), outputs_info=[x0, v, None], n_steps=3)
    assert len(the_scan(rewritten([x0, v], [a], *PRUNE)).outputs) == 1


def test_a_vector_state_whose_length_may_change_stays_with_its_error():
    x0, v, w = at.dscalar("x0"), at.dvector("v"), at.dvector("w")
    (a, b), _ = pyscan.scan(lambda x, y, w: (x * 2, w * 2.0), outputs_info=[x0, v], non_sequences=[w], n_steps=3)
    assert len(the_scan(rewritten([x0, v, w], [a], *PRUNE)).outputs) == 2
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        with pytest.raises(ValueError, match="could not broadcast"):
            pyscan.function([x0, v, w], a, mode=mode)(1.0, np.zeros(2), np.zeros(3))


def test_a_path_whose_rows_may_differ_stays_with_its_error():
    x0, n = at.lscalar("x0"), at.lscalar("n")
    (a, b), _ = pyscan.scan(lambda x: (x + 1, at.zeros((at.maximum(x, 0),))), outputs_info=[x0, None], n_steps=n)
    assert len(the_scan(rewritten([x0, n], [a], *PRUNE)).outputs) == 2


def test_a_users_op_is_not_dropped():
    x0 = at.dscalar("x0")
    noisy = Noisy()
    (a, b), _ = pyscan.scan(lambda x: (x * 2, noisy(x)), outputs_info=[x0, None], n_steps=3)
    assert len(the_scan(rewritten([x0], [a], *PRUNE)).outputs) == 2


def test_a_generator_that_nobody_stores_goes_with_its_unread_draw():
    srng = RandomStream(3)
    x0 = at.dscalar("x0")
    (a, b), updates = pyscan.scan(lambda x: (x * 2, srng.normal()), outputs_info=[x0, None], n_steps=3)
    (rng,) = updates
    node = the_scan(rewritten([x0, rng], [a], *PRUNE))
    assert node.op.info.n_shared_outs == 0 and len(node.outputs) == 1


def test_a_generator_whose_new_state_is_stored_stays_with_its_draw():
    srng = RandomStream(3)
    x0 = at.dscalar("x0")
    (a, b), updates = pyscan.scan(lambda x: (x * 2, srng.normal()), outputs_info=[x0, None], n_steps=3)
    (rng,) = updates
    node = the_scan(rewritten([x0, rng], [a, updates[rng]], *PRUNE))
    assert node.op.info.n_shared_outs == 1 and node.op.info.n_nit_sot == 0
    assert [inner.op.kind for inner in node.op.fgraph.toposort()].count("random") == 1


def test_other_draws_keep_their_numbers_when_one_is_removed():
    def build():
        srng = RandomStream(3)
        (a, b), updates = pyscan.scan(lambda: (srng.normal(), srng.uniform()), n_steps=4)
        return a, b, updates

    a, b, updates = build()
    both = pyscan.function([], [a, b], updates=updates)
    expected = [both()[1], both()[1]]
    a, b, updates = build()
    alone = pyscan.function([], b, updates=updates)
    assert [alone().tolist(), alone().tolist()] == [e.tolist() for e in expected]


def test_a_draw_with_parameters_that_may_be_wrong_stays():
    srng = RandomStream(3)
    x0, scale = at.dscalar("x0"), at.dscalar("scale")
    (a, b), updates = pyscan.scan(lambda x, s: (x * 2, srng.normal(0.0, s)), outputs_info=[x0, None], non_sequences=[scale], n_steps=3)
    with pytest.raises(ValueError, match="scale < 0"):
        pyscan.function([x0, scale], a)(1.0, -1.0)


def test_a_non_sequence_that_is_not_read_goes():
    x0, p, q = at.dscalar("x0"), at.dscalar("p"), at.dscalar("q")
    a, _ = pyscan.scan(lambda x, p, q: x * p, outputs_info=[x0], non_sequences=[p, q], n_steps=3)
    node = the_scan(rewritten([x0, p, q], [a], *PRUNE))
    assert node.op.info.n_non_seqs == 1


def test_a_constant_non_sequence_moves_into_the_body():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x, p: x * p, outputs_info=[x0], non_sequences=[at.constant(np.float64(3.0)) * 1.0], n_steps=3)
    node = the_scan(rewritten([x0], [a], *PRUNE))
    assert node.op.info.n_non_seqs == 0
    (inner,) = node.op.fgraph.apply_nodes
    assert [constant_value(v) for v in inner.inputs if isinstance(v, Constant)] == [3.0]


def test_equal_sequences_and_non_sequences_are_joined():
    x, p = at.dvector("x"), at.dscalar("p")
    a, _ = pyscan.scan(lambda x, y, p, q: x * p + y * q, sequences=[x, x], non_sequences=[p, p])
    node = the_scan(rewritten([x, p], [a], *PRUNE))
    assert (node.op.info.n_seqs, node.op.info.n_non_seqs) == (1, 1)
    assert pyscan.function([x, p], a)([1.0, 2.0], 3.0).tolist() == [6.0, 12.0]


def test_a_sequence_that_is_not_read_stays_since_its_length_counts():
    x = at.dvector("x")
    a, _ = pyscan.scan(lambda x: at.constant(1.0) + 0.0, sequences=[x], n_steps=5)
    assert the_scan(rewritten([x], [a], *PRUNE)).op.info.n_seqs == 1
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        with pytest.raises(ValueError, match=r"Sequence 0 has shape \(3,\) but the Scan's required number of steps is 5"):
            pyscan.function([x], a, mode=mode)(np.zeros(3))


def test_a_loop_whose_result_only_a_pruned_loop_read_goes_too():
    x0 = at.dscalar("x0")
    first, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=3)
    (a, b), _ = pyscan.scan(lambda s, x: (x * 3, s + 1.0), sequences=[first], outputs_info=[x0, None], n_steps=3)
    total, _ = pyscan.scan(lambda x, u: (x * 3), outputs_info=[x0], non_sequences=[first], n_steps=3)
    assert len(nodes_of(rewritten([x0], [total], *PRUNE), "scan")) == 2  # the outer may fail: it is a loop
    assert len(nodes_of(rewritten([x0], [a], *PRUNE), "scan")) == 2


def test_the_place_in_the_users_code_is_kept():
    x0 = at.dscalar("x0")
    (a, b), _ = pyscan.scan(lambda x: (x * 2, at.exp(x)), outputs_info=[x0, None], n_steps=3)
    graph = rewritten([x0], [a])
    before = the_scan(graph).origin
    run(graph, *PRUNE)
    assert the_scan(graph).origin == before


def test_pruned_loops_compute_what_they_did():
    x, p = at.dvector("x"), at.dscalar("p")
    (a, b, c), _ = pyscan.scan(
        lambda x, s, t, p, two: (s + x * p, t * two, s - t), sequences=[x], outputs_info=[np.float64(1.0), {"initial": x[:2], "taps": [-2]}, None],
        non_sequences=[p, at.constant(np.float64(2.0))],
    )  # fmt: skip
    values = (np.linspace(1.0, 2.0, 5), 0.5)
    everything = pyscan.function([x, p], [a, b, c], mode=RAW)(*values)
    for i, output in enumerate((a, b, c)):
        assert pyscan.function([x, p], output)(*values).tobytes() == everything[i].tobytes()


# scan_push_out


def test_a_node_of_non_sequences_that_cannot_fail_moves_out():
    x0, p = at.dscalar("x0"), at.dscalar("p")
    a, _ = pyscan.scan(lambda x, p: x * at.exp(p * 2.0), outputs_info=[x0], non_sequences=[p], n_steps=3)
    node = the_scan(rewritten([x0, p], [a], *PUSH))
    assert body_texts(node) == ["Elemwise{mul,no_inplace}"]
    assert str(node.inputs[-1].owner.op) == "Elemwise{exp,no_inplace}"
    assert node.op.info.n_non_seqs == 1


def test_a_non_sequence_that_the_body_still_reads_stays_beside_what_was_made_of_it():
    x0, p = at.dscalar("x0"), at.dscalar("p")
    a, _ = pyscan.scan(lambda x, p: x * at.exp(p) + p, outputs_info=[x0], non_sequences=[p], n_steps=3)
    assert the_scan(rewritten([x0, p], [a], *PUSH)).op.info.n_non_seqs == 2
    assert pyscan.function([x0, p], a)(1.0, 0.0).tolist() == [1.0, 1.0, 1.0]


def test_a_plain_view_stays_in_the_loop():
    x0, p = at.dvector("x0"), at.dvector("p")
    a, _ = pyscan.scan(lambda x, p: x * p[0], outputs_info=[x0], non_sequences=[p[1:]], n_steps=3)
    assert "InplaceDimShuffle{x}" in body_texts(the_scan(rewritten([x0, p], [a], *PUSH)))


def test_what_may_fail_stays_in_the_loop():
    x0, p = at.lscalar("x0"), at.lscalar("p")
    a, _ = pyscan.scan(lambda x, p: x + 6 // p, outputs_info=[x0], non_sequences=[p], n_steps=at.lscalar("n"))
    n = a.owner.inputs[0].owner.inputs[0]
    node = the_scan(rewritten([x0, p, n], [a], *PUSH))
    assert "Elemwise{floor_divide,no_inplace}" in body_texts(node)
    f = pyscan.function([x0, p, n], a)
    assert f(1, 0, 0).shape == (0,)
    with pytest.raises(ZeroDivisionError):
        f(1, 0, 1)


def test_vectors_move_only_when_their_lengths_agree_for_certain():
    x0, p, q = at.dvector("x0"), at.dvector("p"), at.dvector("q")
    a, _ = pyscan.scan(lambda x, p, q: x + (p + q), outputs_info=[x0], non_sequences=[p, q], n_steps=3)
    assert len(body_texts(the_scan(rewritten([x0, p, q], [a], *PUSH)))) == 2
    b, _ = pyscan.scan(lambda x, p: x + (p * at.exp(p) + 1.0), outputs_info=[x0], non_sequences=[p], n_steps=3)
    assert body_texts(the_scan(rewritten([x0, p], [b], *PUSH))) == ["Elemwise{add,no_inplace}"]


def test_draws_never_move():
    rng = pyscan.shared(np.random.default_rng(1))
    x0 = at.dscalar("x0")
    with pytest.warns(PyscanWarning, match="repeats in every step"):
        a, _ = pyscan.scan(lambda x: x + at.random.normal(0.0, 1.0, rng=rng), outputs_info=[x0], n_steps=3)
    node = the_scan(rewritten([x0, rng], [a], *PUSH))
    assert [inner.op.kind for inner in node.op.fgraph.toposort()].count("random") == 1


def test_users_ops_do_not_move():
    x0, p = at.dscalar("x0"), at.dscalar("p")
    noisy = Noisy()
    a, _ = pyscan.scan(lambda x, p: x + noisy(p), outputs_info=[x0], non_sequences=[p], n_steps=3)
    assert len(the_scan(rewritten([x0, p], [a], *PUSH)).op.fgraph.apply_nodes) == 2


def test_an_output_that_is_the_same_in_every_step_is_still_a_path():
    x0, p = at.dscalar("x0"), at.dscalar("p")
    (a, b), _ = pyscan.scan(lambda x, p: (x + 1.0, at.exp(p)), outputs_info=[x0, None], non_sequences=[p], n_steps=3)
    assert body_texts(the_scan(rewritten([x0, p], [a, b], *PUSH))) == ["Elemwise{add,no_inplace}"]
    assert pyscan.function([x0, p], b)(0.0, 0.0).tolist() == [1.0] * 3


def test_moved_nodes_compute_what_they_did():
    x0, p = at.dvector("x0"), at.dvector("p")
    a, _ = pyscan.scan(lambda x, p: at.tanh(x * p.sum() + p[1:3].sum()), outputs_info=[x0], non_sequences=[p], n_steps=5)
    values = (np.linspace(0.0, 1.0, 4), np.linspace(-1.0, 1.0, 6))
    assert pyscan.function([x0, p], a)(*values).tobytes() == pyscan.function([x0, p], a, mode=RAW)(*values).tobytes()


# scan_save_mem


def rows_of(node, i=1):
    """The number of rows of a state's buffer."""
    return node.inputs[i].owner.inputs[0].owner.inputs[0]


def test_the_last_value_needs_a_row_for_the_past_and_one_for_the_step():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [a[-1]], *SAVE)))) == 2


@pytest.mark.parametrize("index, rows", [(lambda a: a[-3], 4), (lambda a: a[-3:], 4), (lambda a: a[-2:][0], 3), (lambda a: a[-3:, ...], 4)])
def test_as_many_rows_are_kept_as_are_read(index, rows):
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [index(a)], *SAVE)))) == rows


@pytest.mark.parametrize(
    "index", [lambda a: a, lambda a: a[0], lambda a: a[-3:-1], lambda a: a[::-1], lambda a: a[2:], lambda a: a.sum(), lambda a: a[-3::-1]]
)
def test_of_what_is_read_otherwise_every_step_is_kept_but_not_the_past(index):
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [index(a)], *SAVE)))) == 1000


@pytest.mark.parametrize("index", [lambda a: a.owner.inputs[0], lambda a: a.owner.inputs[0][0], lambda a: a.owner.inputs[0][::2] + a[-1]])
def test_a_past_that_is_read_is_kept(index):
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [index(a)], *SAVE)))) == 1001


def test_a_path_without_its_past_is_the_loops_own_output():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=10)
    a.name = "doubled"
    graph = rewritten([x0], [a, a[-1]], *SAVE)
    assert graph.outputs[0] is the_scan(graph).outputs[0] is graph.outputs[1].owner.inputs[0]
    assert graph.outputs[0].name == "doubled"


@pytest.mark.parametrize("taps", [[-1], [-2, -1], [-3]])
@pytest.mark.parametrize("n_steps", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_path_without_its_past_has_the_values_of_steps(taps, n_steps, shape):
    """Also where the loop has fewer steps than the state has past, whose rows then stay; in blocks, step by step, and in memory of the caller's."""
    start = at.TensorType("float64", (None,) * (len(shape) + (taps != [-1])))("start")
    info = dict(initial=start, taps=taps)
    a, _ = pyscan.scan(lambda *x: 0.5 * x[0] + at.sin(x[-1]), outputs_info=[info], n_steps=n_steps)
    given = np.arange(1.0, 1 + (1 if taps == [-1] else -taps[0]) * int(np.prod(shape, dtype=int))).reshape((() if taps == [-1] else (-taps[0],)) + shape)
    plain = pyscan.function([start], [a, a[-1]], mode="FAST_COMPILE")(given)
    function = pyscan.function([start], [a, a[-1]])
    whole = np.empty_like(plain[0])
    for found in (function(given), function(given, out=[whole, None])):
        assert [x.tobytes() for x in found] == [x.tobytes() for x in plain]
    assert whole.tobytes() == plain[0].tobytes()


def test_one_reader_that_needs_all_steps_keeps_them():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [a[-1], a], *SAVE)))) == 1000


def test_several_readers_need_the_most_of_them():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0], [a[-1], a[-5:]], *SAVE)))) == 6


def test_an_index_that_is_not_constant_keeps_all_steps():
    x0, i = at.dscalar("x0"), at.lscalar("i")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=1000)
    assert constant_value(rows_of(the_scan(rewritten([x0, i], [a[i]], *SAVE)))) == 1000


def test_a_path_is_shortened_by_its_length():
    x = at.dvector("x")
    a, _ = pyscan.scan(lambda x: x * 2, sequences=[at.arange(100.0)])
    b, _ = pyscan.scan(lambda: at.constant(1.0) * 2.0, n_steps=50)
    node = the_scan(rewritten([], [b[-2:]], *SAVE))
    assert constant_value(node.inputs[1]) == 2
    assert constant_value(node.inputs[0]) == 50
    assert x.owner is None and a.owner is not None


def test_states_with_older_taps_keep_the_rows_of_these():
    v = at.dvector("v")
    a, _ = pyscan.scan(lambda x3, x1: x3 + x1, outputs_info=[{"initial": v, "taps": [-3, -1]}], n_steps=100)
    f = pyscan.function([v], a[-1])
    assert f(np.array([1.0, 2.0, 3.0])) == pyscan.function([v], a, mode=RAW)(np.array([1.0, 2.0, 3.0]))[-1]
    assert "scalar_minimum" in str([str(n.op) for n in rewritten([v], [a[-1]], *SAVE).toposort()])


def test_a_symbolic_number_of_steps_gives_the_smaller_of_both():
    x0, n = at.dscalar("x0"), at.lscalar("n")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=n)
    node = the_scan(rewritten([x0, n], [a[-2]], *SAVE))
    assert str(rows_of(node).owner.op) == "Elemwise{scalar_minimum,no_inplace}"
    for mode in ("FAST_RUN", "FAST_COMPILE", RAW):
        f = pyscan.function([x0, n], a[-2], mode=mode)
        assert f(1.0, 5) == 16.0
        assert f(1.0, 2) == 2.0
        for n_steps in (0, 1):
            with pytest.raises(IndexError):
                f(1.0, n_steps)


@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("n_steps", [0, 1, 2, 4, 7])
def test_the_last_rows_are_those_of_the_whole_path(k, n_steps):
    x0, n = at.dscalar("x0"), at.lscalar("n")
    (a, b), _ = pyscan.scan(lambda x: (x * 2, x + 1), outputs_info=[x0, None], n_steps=n)
    whole = pyscan.function([x0, n], [a, b], mode=RAW)(1.0, n_steps)
    last = pyscan.function([x0, n], [a[-k:], b[-k:]])(1.0, n_steps)
    assert [value.tolist() for value in last] == [value[-k:].tolist() for value in whole]


def test_a_loop_that_stops_early_gives_its_last_values():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: (x * 2, until(x * 2 > 20)), outputs_info=[x0], n_steps=100)
    assert pyscan.function([x0], [a[-1], a[-3:]])(1.0)[1].tolist() == [8.0, 16.0, 32.0]
    assert pyscan.function([x0], a[-9:])(1.0).tolist() == [2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_shared_state_that_is_updated_keeps_its_last_value_alone():
    s = pyscan.shared(np.float64(1.0), name="s")
    a, updates = pyscan.scan(lambda: {s: s * 2}, n_steps=10)
    (update,) = updates.values()
    assert constant_value(rows_of(the_scan(rewritten([s], [update], *SAVE)))) == 2
    f = pyscan.function([], [], updates=updates)
    f()
    f()
    assert s.get_value() == 2.0**20


def test_the_same_loop_read_in_two_functions_is_not_changed_for_the_other():
    x0 = at.dscalar("x0")
    a, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=4)
    last, whole = pyscan.function([x0], a[-1]), pyscan.function([x0], a)
    assert last(1.0) == 16.0
    assert whole(1.0).tolist() == [2.0, 4.0, 8.0, 16.0]


# The work of compiling


@pytest.mark.parametrize("depth", (4, 8))
def test_each_body_of_nested_loops_is_rewritten_once(depth, monkeypatch):
    rewrites = []
    monkeypatch.setattr(_core, "rewrite", lambda *arguments, rewrite=_core.rewrite: rewrites.append(1) or rewrite(*arguments))
    srng, n = RandomStream(1), at.lscalar("n")

    def level(k):
        def step(x):
            if k == 0:
                return at.tanh(x) + srng.normal()
            path, updates = pyscan.scan(level(k - 1), outputs_info=[x], n_steps=n)
            return path[-1], updates
        return step

    path, updates = pyscan.scan(level(depth), outputs_info=[at.constant(0.5, dtype="float64")], n_steps=n)
    pyscan.function([n], path[-1], updates=updates)
    assert len(rewrites) == depth + 2


@pytest.mark.parametrize("depth", (8, 30))
def test_equal_nests_are_compared_level_by_level(depth, monkeypatch):
    """Each level holds the loop below twice, for the path and for the updates: comparing both anew would double the work by level."""
    compared = []
    monkeypatch.setattr(scan_op, "equal_computations",
                        lambda *arguments, equal=scan_op.equal_computations: compared.append(1) or equal(*arguments))
    srng, n = RandomStream(1), at.lscalar("n")

    def level(k):
        def step(x):
            if k == 0:
                return at.tanh(x) + srng.normal()
            path, updates = pyscan.scan(level(k - 1), outputs_info=[x], n_steps=n)
            return path[-1], updates
        return step

    nests = [pyscan.scan(level(depth), outputs_info=[at.constant(0.5, dtype="float64")], n_steps=n) for _ in range(2)]
    function = pyscan.function([n], [path[-1] for path, _ in nests], updates=[pair for _, updates in nests for pair in updates.items()])
    assert depth < len(compared) < 30 * depth
    first, second = function(1)
    assert first != second  # each nest has a generator of its own


def test_equal_bodies_of_neighbouring_loops_are_rewritten_once(monkeypatch):
    rewrites = []
    monkeypatch.setattr(_core, "rewrite", lambda *arguments, rewrite=_core.rewrite: rewrites.append(1) or rewrite(*arguments))
    starts = [at.dscalar() for _ in range(20)]
    function = pyscan.function(starts, [pyscan.scan(lambda y: at.tanh(y) * 2.0, outputs_info=[x], n_steps=5)[0][-1] for x in starts])
    assert len(rewrites) == 2
    assert function(*range(20))[3] == function(*[3] * 20)[0]


def test_a_hundred_loops_within_each_other_run():
    n = at.lscalar("n")

    def level(k):
        def step(x):
            if k == 0:
                return x + 1.0
            path, _ = pyscan.scan(level(k - 1), outputs_info=[x], n_steps=n)
            return path[-1] * 2.0
        return step

    x = at.dscalar("x")
    path, _ = pyscan.scan(level(99), outputs_info=[x], n_steps=n)
    function = pyscan.function([x, n], path)
    assert function(0.0, 1).tolist() == [2.0 ** 99]

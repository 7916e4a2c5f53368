"""Loops before they are compiled: what scan's arguments mean, the node it makes, and what it refuses."""
import pickle
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.graph import InconsistencyError, MissingInputError
from pyscan.scan import foldr, map, reduce, scan, scan_checkpoints, until
from pyscan.scan_op import Scan, ScanInfo
from pyscan.updates import OrderedUpdates


def dscalar(name="x0"):
    return at.dscalar(name)


def node_of(variable):
    """The Scan node that a variable is made of."""
    while not isinstance(variable.owner.op, Scan):
        variable = variable.owner.inputs[0]
    return variable.owner


def op_texts(variable):
    """The Ops from a variable down its first inputs."""
    texts = []
    while variable.owner is not None:
        texts.append(str(variable.owner.op))
        variable = variable.owner.inputs[0]
    return texts


def generator(seed=1, name="rng"):
    return pyscan.shared(np.random.default_rng(seed), name=name)


# Layout


def test_the_issue_s_loop_has_the_layout_of_aesara():
    stream = at.random.RandomStream(23)
    res, updates = scan(lambda: stream.normal(), n_steps=10, strict=True)
    node = res.owner
    (rng,) = updates
    assert str(node.op) == "for{cpu,scan_fn}"
    assert node.op.info == ScanInfo(0, (), (), (), (), 1, 1, 0, False)
    assert [str(v) for v in node.inputs] == ["TensorConstant{10}", str(rng), "TensorConstant{10}"]
    assert node.inputs[0] is node.inputs[2] and res is node.outputs[0] and updates[rng] is node.outputs[1]
    assert [str(v) for v in node.op.inner_inputs] == ["*0-<RandomGeneratorType>"]
    draw, next_rng = node.op.inner_outputs
    assert draw.owner.inputs[0] is next_rng.owner.inputs[0] is node.op.inner_inputs[0]
    assert draw.owner is not next_rng.owner, "the draw and the next state are two nodes until the graph is rewritten"
    assert rng.default_update is None


def test_a_state_starts_in_the_first_row_of_a_buffer():
    x0 = at.dvector("x0")
    xs, _ = scan(lambda x: x + 1.0, outputs_info=[x0], n_steps=at.iscalar("n"))
    assert op_texts(xs)[:1] == ["Subtensor{int64::}"]
    node = node_of(xs)
    buffer = node.inputs[1]
    assert str(buffer.owner.op) == "IncSubtensor{Set;:int64:}"
    assert op_texts(buffer.owner.inputs[1]) == ["Unbroadcast{0}", "InplaceDimShuffle{x,0}"]
    assert op_texts(buffer)[:3] == ["IncSubtensor{Set;:int64:}", "AllocEmpty{dtype='float64'}", "Elemwise{add,no_inplace}"]
    assert node.op.info.sit_sot_in_slices == ((-1,),)


def test_several_past_values_take_the_rows_they_need():
    y = at.dvector("y")
    seen = []

    def step(*past):
        seen.extend(str(v) for v in past)
        return sum(past)

    ys, _ = scan(step, outputs_info=[{"initial": y, "taps": [-2, -3]}], n_steps=4)
    assert seen == ["y[t-2]", "y[t-3]"]
    assert node_of(ys).op.info.mit_sot_in_slices == ((-2, -3),)
    assert int(ys.owner.inputs[1].data) == 3
    kept = node_of(ys).inputs[1].owner.inputs[1]
    assert str(kept.owner.op) == "Subtensor{:int64:}" and int(kept.owner.inputs[1].data) == 3


def test_only_the_list_of_minus_one_stands_for_a_state_without_leading_axis():
    v = at.dvector("v")
    single, _ = scan(lambda x: x, outputs_info=[{"initial": v, "taps": [-1]}], n_steps=4)
    past, _ = scan(lambda x: x, outputs_info=[{"initial": v, "taps": (-1,)}], n_steps=4)
    assert (single.type.ndim, past.type.ndim) == (2, 1)
    assert node_of(past).op.info.mit_sot_in_slices == ((-1,),)


def test_taps_of_a_sequence_are_slices_that_belong_to_one_step():
    x = at.dvector("x")
    seen = []

    def step(*taps):
        seen.extend(str(v) for v in taps)
        return sum(taps)

    ys, _ = scan(step, sequences=[{"input": x, "taps": [-1, 0, 2]}], n_steps=5)
    assert seen == ["x[t-1]", "x[t]", "x[t+2]"]
    assert [v.owner.inputs[0].name for v in node_of(ys).inputs[1:4]] == ["x[0:-3]", "x[1:-2]", "x[3:]"]
    assert [str(v.owner.op) for v in node_of(ys).inputs[1:4]] == ["Subtensor{:int8:}"] * 3


def test_without_steps_the_shortest_sequence_counts():
    x, w = at.dvector("x"), at.dmatrix("w")
    ys, _ = scan(lambda a, r: a * r, sequences=[x, w])
    assert op_texts(node_of(ys).inputs[0])[:3] == ["Elemwise{scalar_minimum,no_inplace}", "Subtensor{int64}", "Shape"]


def test_going_backwards_turns_the_slice_before_it_is_cut():
    ys, _ = scan(lambda a: a, sequences=[at.dvector("x")], n_steps=3, go_backwards=True)
    assert op_texts(node_of(ys).inputs[1]) == ["Subtensor{:int8:}", "Subtensor{::int64}", "Subtensor{int64::}"]


def test_fn_gets_sequences_then_states_in_the_users_order_then_non_sequences():
    s, a, b, w = at.dvector("s"), dscalar("a"), at.dvector("b"), dscalar("w")
    seen = []

    def step(*args):
        seen.extend(str(v) for v in args)
        s_t, a_1, b_2, w_ = args
        return [a_1 + s_t, b_2 * w_, s_t]

    outputs, _ = scan(step, sequences=s, outputs_info=[a, {"initial": b, "taps": [-2]}, None], non_sequences=w, n_steps=3)
    assert seen == ["s[t]", "a[t-1]", "b[t-2]", "w"]
    node = node_of(outputs[0])
    assert outputs[0].owner.inputs[0] is node.outputs[1] and outputs[1].owner.inputs[0] is node.outputs[0]
    assert outputs[2] is node.outputs[2]


def test_shared_variables_then_given_then_closed_over_ones_are_the_non_sequences():
    a, b, c, s = dscalar("a"), dscalar("b"), dscalar("c"), pyscan.shared(1.5, name="s")
    outputs, _ = scan(lambda b_, s_: [a * b_, c * s_], non_sequences=[b, s], n_steps=5)
    node = outputs[0].owner
    assert [str(v) for v in node.op.outer_non_seqs(node)] == ["s", "b", "c", "a"]


def test_a_variable_used_in_the_condition_or_an_update_alone_is_found():
    bound, rate, cnt = dscalar("bound"), dscalar("rate"), pyscan.shared(0.0, name="cnt")
    xs, updates = scan(lambda x: (x + 1.0, {cnt: cnt + rate}, until(x > bound)), outputs_info=[dscalar()], n_steps=9)
    node = node_of(xs)
    assert {str(v) for v in node.op.outer_non_seqs(node)} == {"bound", "rate"}
    assert list(updates) == [cnt] and node.op.info.as_while
    assert str(node.op) == "do_while{cpu,scan_fn}"


def test_generators_come_before_tensors_among_the_updates():
    stream, cnt = at.random.RandomStream(1), pyscan.shared(0, name="cnt")
    xs, updates = scan(lambda: (stream.normal(), {cnt: cnt + 1}), n_steps=3)
    rng, counter = updates
    assert counter is cnt and updates[rng] is xs.owner.outputs[2]
    assert op_texts(updates[cnt])[:2] == ["Subtensor{int64}", "for{cpu,scan_fn}"]
    assert isinstance(updates, OrderedUpdates)


def test_a_draw_made_outside_is_no_update_of_the_loop():
    stream = at.random.RandomStream(1)
    z = stream.normal()
    xs, updates = scan(lambda: z, n_steps=3)
    assert not updates and z.owner.inputs[0].default_update is not None
    assert xs.owner.op.info.n_non_seqs == 1


def test_updates_of_an_inner_loop_travel_up_when_they_are_returned():
    stream = at.random.RandomStream(15)
    xs, updates = scan(lambda: scan(lambda: stream.normal(), n_steps=2), n_steps=3)
    assert len(updates) == 1 and xs.type.ndim == 2
    assert isinstance(xs.owner.op.inner_outputs[0].owner.op, Scan)


def test_a_generator_may_be_a_state():
    rng = generator()

    def step(rng_):
        next_rng, eps = at.random.normal(rng=rng_).owner.outputs
        return eps, next_rng

    (xs, last), updates = scan(step, outputs_info=[None, rng], n_steps=4)
    assert not updates and last.type == rng.type
    assert xs.owner.op.info.n_shared_outs == 1 and xs.owner.inputs[1] is rng


def test_equal_loops_are_equal_ops_and_merge_by_hash():
    def loop(factor=2.0, name=None):
        return scan(lambda x: x * factor, outputs_info=[dscalar()], n_steps=3, name=name)[0].owner.inputs[0].owner.op

    assert loop() == loop() and hash(loop()) == hash(loop())
    assert loop() != loop(3.0) and loop() != loop(name="other")
    assert loop().with_destroy_map({0: [1]}) != loop()
    copied = pickle.loads(pickle.dumps(loop()))
    assert copied.info == loop().info and str(copied) == str(loop())


def test_the_text_names_the_recurrent_outputs_made_in_place_alone():
    stream = at.random.RandomStream(1)
    outputs, _ = scan(lambda x, y: [x + stream.normal(), y], outputs_info=[dscalar("x"), dscalar("y")], n_steps=3, name="sc")
    op = node_of(outputs[0]).op
    assert str(op) == "for{cpu,sc}"
    assert str(op.with_destroy_map({2: [3]})) == "for{cpu,sc}"
    assert str(op.with_destroy_map({0: [1]})) == "for{inplace{0,},cpu,sc}"
    assert str(op.with_destroy_map({0: [1], 1: [2], 2: [3]})) == "forall_inplace,cpu,sc}"


def test_a_clone_of_a_loop_is_equal_and_has_an_inner_graph_of_its_own():
    x = at.dvector("x")
    outputs, _ = scan(lambda a, s: s + a, sequences=[x], outputs_info=[np.float64(0.0)])
    op = node_of(outputs).op
    copy = op.clone()
    assert copy == op and copy.fgraph is not op.fgraph and copy.fgraph.outputs != op.fgraph.outputs
    graph = pyscan.graph.FunctionGraph([x], [outputs], clone=True, clone_inner_graphs=True)
    assert node_of(graph.outputs[0]).op.fgraph is not op.fgraph
    np.testing.assert_array_equal(pyscan.function(graph.inputs, graph.outputs[0])([1.0, 2.0]), [1.0, 3.0])


def test_the_mappings_tell_which_positions_belong_together():
    stream = at.random.RandomStream(1)
    x, w = at.dvector("x"), dscalar("w")
    outputs, _ = scan(
        lambda s, p2, p1: [p2 + p1 * w, s * stream.normal()], sequences=x, outputs_info=[{"initial": at.dvector("y"), "taps": [-2, -1]}, None]
    )
    mappings = node_of(outputs[0]).op.get_oinp_iinp_iout_oout_mappings()
    assert mappings["outer_inp_from_outer_out"] == {0: 2, 1: 4, 2: 3}
    assert mappings["inner_inp_from_outer_inp"] == {0: [], 1: [0], 2: [1, 2], 4: [], 3: [3], 5: [4]}
    assert mappings["outer_inp_from_inner_inp"] == {0: 1, 1: 2, 2: 2, 3: 3, 4: 5}
    assert mappings["inner_out_from_inner_inp"] == {0: [], 1: [0], 2: [0], 3: [2], 4: []}
    assert mappings["outer_out_from_inner_out"] == {0: 0, 1: 1, 2: 2}


# One step


@pytest.mark.parametrize("n_steps", [1, -1, np.int64(1), at.constant(1)])
def test_one_step_is_no_loop(n_steps):
    stream = at.random.RandomStream(1)
    x, h = at.dvector("x"), dscalar("h")
    ys, updates = scan(lambda a, b: a + b + stream.normal(), sequences=[x], outputs_info=[h], n_steps=n_steps)
    assert op_texts(ys)[:3] == ["Unbroadcast{0}", "InplaceDimShuffle{x}", "Elemwise{add,no_inplace}"]
    assert type(updates) is dict and not updates
    (rng, _), = stream.updates()
    assert rng.default_update is not None


def test_one_step_backwards_reads_the_last_element():
    ys, _ = scan(lambda a: a, sequences=[at.dvector("x")], n_steps=1, go_backwards=True)
    first = ys.owner.inputs[0].owner.inputs[0]
    assert int(first.owner.inputs[1].data) == -1


def test_one_step_returns_the_update_dict_of_fn():
    s = pyscan.shared(1.0, name="s")
    outputs, updates = scan(lambda: (s * 2, {s: s + 1}), n_steps=1, return_list=True)
    assert isinstance(outputs, list) and list(updates) == [s] and not isinstance(updates, OrderedUpdates)


# What fn may return


@pytest.mark.parametrize("bad", [1.0, None, "x", np.zeros(2), [1.0], {"a": 1.0}])
def test_values_that_are_no_variables_are_refused(bad):
    with pytest.raises(ValueError, match="The return value of your scan lambda expression may only be made of lists"):
        scan(lambda: bad, n_steps=3)


def test_updates_before_outputs_are_refused():
    s = pyscan.shared(1.0)
    with pytest.raises(ValueError, match="The return value of the lambda function has been restricted. you have to always return first"):
        scan(lambda: ({s: s + 1}, s * 2), n_steps=3)


@pytest.mark.parametrize(
    "form", [lambda s, u: u, lambda s, u: (u, s), lambda s, u: (s, u, {s: s}), lambda s, u: (s, {s: s}, u, s), lambda s, u: [[s], [s], [s, [s]]]]
)
def test_other_forms_are_refused(form):
    s = pyscan.shared(1.0)
    with pytest.raises(ValueError, match="Scan cannot parse the return value of your lambda expression, which is: "):
        scan(lambda: form(s, until(s > 1)), n_steps=3)


def test_the_accepted_forms():
    s, x = pyscan.shared(1.0), dscalar("x")
    for form, n_outputs, n_updates in [
        (lambda: x, 1, 0), (lambda: [x, x * 2], 2, 0), (lambda: (x, x * 2), 2, 0), (lambda: {s: s + 1}, 0, 1),
        (lambda: [(s, s + 1)], 0, 1), (lambda: (x, {s: s + 1}), 1, 1), (lambda: ([x], [(s, s + 1)]), 1, 1), (lambda: (x, until(x > 1)), 1, 0),
        (lambda: ({s: s + 1}, until(x > 1)), 0, 1), (lambda: ([x, x], {s: s + 1}, until(x > 1)), 2, 1), (lambda: {}, 0, 0), (lambda: [], 0, 0),
    ]:  # fmt: skip
        outputs, updates = scan(form, n_steps=3, return_list=True)
        assert (len(outputs), len(updates)) == (n_outputs, n_updates)


def test_one_output_is_a_variable_several_a_list_none_is_none():
    x = dscalar("x")
    assert scan(lambda: x, n_steps=3)[0].type.ndim == 1
    assert isinstance(scan(lambda: [x, x], n_steps=3)[0], list)
    assert scan(lambda: [], n_steps=3) == (None, OrderedUpdates())
    assert scan(lambda: x, n_steps=3, return_updates=False).type.ndim == 1


def test_a_condition_must_be_a_scalar():
    with pytest.raises(AssertionError):
        until(at.dvector("v"))
    with pytest.raises(TypeError, match="Cannot cast True or False as a tensor variable."):
        until(True)


# Numbers of steps


def test_a_loop_needs_a_number_of_steps():
    with pytest.raises(ValueError, match="No information about the number of steps provided. Either provide a value for n_steps"):
        scan(lambda x: x, outputs_info=[dscalar()])


@pytest.mark.parametrize(
    ("n_steps", "error", "text"),
    [
        (at.dscalar("z"), ValueError, "^ n_steps must be an int. dtype provided is float64"),
        (np.float64(3), ValueError, "^ n_steps must be an int. dtype provided is float64"),
        (3.0, ValueError, "A scalar int is required for output TensorConstant{3.0}"),
        (3.7, ValueError, "A scalar int is required for output"),
        ([3], ValueError, r"A scalar int is required for output TensorConstant{\(1,\) of 3}"),
        (True, TypeError, "Cannot cast True or False as a tensor variable."),
        (float("nan"), ValueError, "cannot convert float NaN to integer"),
    ],
)
def test_a_number_of_steps_must_be_an_integer(n_steps, error, text):
    with pytest.raises(error, match=text):
        scan(lambda: at.constant(1.0), n_steps=n_steps)


def test_a_float_number_of_steps_is_refused_for_a_state_too():
    with pytest.raises(TypeError, match="Shapes must be scalar integers; got Elemwise{add,no_inplace}.0"):
        scan(lambda x: x, outputs_info=[dscalar()], n_steps=3.0)


# Arguments that are refused


@pytest.mark.parametrize(
    ("info", "error", "args"),
    [
        ({"taps": [-1]}, ValueError, ("If you are using slices of an output you need to provide a initial state for it: {'taps': [-1]}",)),
        ({"initial": 0, "taps": [-1, -1]}, ValueError, ("All the taps must be different in  `outputs_info`", {"initial": 0, "taps": [-1, -1]})),
        ({"initial": 0, "taps": [-1, 0]}, ValueError, ("All the tap values must be smaller than 0.", {"initial": 0, "taps": [-1, 0]})),
        ({"initial": 0, "taps": -1}, TypeError, ("object of type 'int' has no len(): the taps of outputs_info[0] must be a list, as in [-1]",)),
    ],
)
def test_bad_taps_of_a_state_are_refused(info, error, args):
    with pytest.raises(error) as caught:
        scan(lambda x: x, outputs_info=[info], n_steps=3)
    assert caught.value.args == args


def test_return_steps_is_refused():
    with pytest.raises(DeprecationWarning, match="Using `return_steps` has been deprecated."):
        scan(lambda x: x, outputs_info=[{"initial": dscalar(), "return_steps": 1}], n_steps=3)


def test_taps_of_none_are_the_last_value_with_a_warning():
    with pytest.warns(UserWarning, match=r"Output x0 \(index 0\) has a initial state but taps is explicitly set to None "):
        scan(lambda x: x, outputs_info=[{"initial": dscalar(), "taps": None}], n_steps=3)


def test_the_caller_s_dictionaries_stay_as_they_are():
    sequence, info = {"input": at.dvector("x"), "taps": 1}, {"initial": dscalar()}
    scan(lambda a, b: b + a, sequences=sequence, outputs_info=[info], n_steps=3)
    assert sequence["taps"] == 1 and "taps" not in info


def test_an_initial_state_with_too_few_rows_is_refused():
    with pytest.raises(ValueError, match=r"outputs_info\[0\] reads 3 step\(s\) back .* at least 3 row\(s\), the oldest first; it has 2\."):
        scan(lambda x: x, outputs_info=[{"initial": np.zeros(2), "taps": [-3]}], n_steps=3)


def test_sequences_may_be_arrays_of_numpy():
    values = np.arange(4.0)
    assert pyscan.scan(lambda a: a + 1, values)[0].eval().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert pyscan.scan(lambda a, s: a + s, values, outputs_info=[np.array(1.0)])[0].eval().tolist() == [1.0, 2.0, 4.0, 7.0]
    assert pyscan.scan(lambda a, b: a * 10 + b, {"input": values, "taps": [-1, 1]})[0].eval().tolist() == [2.0, 13.0]


def test_sequences_must_be_arrays_with_an_axis():
    with pytest.raises(AttributeError, match="'list' object has no attribute 'shape'"):
        scan(lambda x: x, sequences=[[1.0, 2.0]])
    with pytest.raises(IndexError, match="too many indices for array"):
        scan(lambda x: x, sequences=dscalar())


def test_every_output_needs_an_info_when_one_is_given():
    with pytest.raises(ValueError, match=r"Please provide None as outputs_info for any output .* \(i.e. it behaves like a map\) outputs_info has 1 "):
        scan(lambda x: [x, x], outputs_info=[dscalar()], n_steps=3)


def test_a_state_that_changes_its_dtype_is_refused_by_name():
    text = (
        r"^When compiling the inner function of scan the following error has been encountered: The initial state \(`outputs_info` in scan "
        r"nomenclature\) of variable IncSubtensor{Set;:int64:}.0 \(argument number 0\) has dtype int64, while the result of the inner function "
        r"\(`fn`\) has dtype float64. This can happen if the inner function of scan results in an upcast or downcast. The state is "
        r"outputs_info\[0\] \(n0\): a step of it has dtype int64 .* output 0 of `fn` has dtype float64"
    )
    with pytest.raises(ValueError, match=text):
        scan(lambda n: n / 2.0, outputs_info=[at.lscalar("n0")], n_steps=3)


def test_a_state_that_changes_its_rank_is_refused_with_both_ranks():
    text = (
        r"of variable IncSubtensor{Set;:int64:}.0 \(argument number 0\) has 2 dimension\(s\), while the corresponding variable in the result of "
        r"the inner function of scan \(`fn`\) has 0 dimension\(s\) \(it should be one less than the initial state\). For example, .*"
        r"outputs_info\[0\] \(v\): a step of it has dtype float64 and 1 dimension\(s\), while output 0 of `fn` has dtype float64 and 0 "
    )
    with pytest.raises(ValueError, match=text):
        scan(lambda x: x.sum(), outputs_info=[at.dvector("v")], n_steps=3)


def test_an_output_that_is_a_generator_needs_a_state():
    rng = generator()
    with pytest.raises(AttributeError, match="'RandomGeneratorType' object has no attribute 'shape'.*outputs_info"):
        scan(lambda: at.random.normal(rng=rng).owner.outputs[0], n_steps=3)


def test_strict_loops_name_the_shared_variables_that_they_miss():
    scale, rng = pyscan.shared(2.0, name="scale_factor"), generator(name="noise_rng")
    for fn, name in ((lambda x: x * scale, "scale_factor"), (lambda x: x + at.random.normal(rng=rng), "noise_rng")):
        with pytest.raises(MissingInputError, match=rf"^Scan is missing inputs: \[{name}\]"):
            scan(fn, outputs_info=[dscalar()], n_steps=3, strict=True)
    scan(lambda x, s: x * scale, outputs_info=[dscalar()], non_sequences=[scale], n_steps=3, strict=True)


def test_a_computed_non_sequence_is_one_input_of_a_step_that_draws():
    x, stream = dscalar("x"), at.random.RandomStream(3)
    mean = x * 2.0
    draws, updates = scan(lambda m: stream.normal(m), non_sequences=[mean], n_steps=3, strict=True)
    assert node_of(draws).op.outer_non_seqs(node_of(draws)) == [mean]
    fn = pyscan.function([x], draws, updates=updates)
    (loop,) = (node for node in fn.maker.fgraph.toposort() if isinstance(node.op, Scan))
    assert [str(node.op) for node in loop.op.fn.maker.fgraph.toposort()] == ["normal_rv{0, (0, 0), floatX, True}"]


def test_an_update_needs_a_shared_variable_and_its_type():
    s, x = pyscan.shared(np.float32(1.0), name="s"), dscalar("x")
    with pytest.raises(TypeError, match="An update must have the same type as the original shared variable"):
        scan(lambda: (x, {s: x}), n_steps=3)
    with pytest.raises(TypeError, match="update target must be a SharedVariable"):
        scan(lambda: (x, {x: x}), n_steps=3)


# Static shapes


def inner_types(variable):
    return [v.type.shape for v in node_of(variable).op.inner_inputs[:1]]


def test_a_state_of_length_one_is_loosened_when_the_step_does_not_keep_it():
    w = at.dmatrix("w")
    zs, _ = scan(lambda x, w: (x * w) + 1.0, outputs_info=[at.ones((2, 1), dtype="float64")], non_sequences=[w], n_steps=2)
    assert inner_types(zs) == [(2, None)]
    kept, _ = scan(lambda x: x + np.ones((1, 2)), outputs_info=[at.zeros((1, 2), dtype="float64")], n_steps=3)
    assert inner_types(kept) == [(1, 2)]


def test_loosening_goes_on_until_all_states_agree():
    starts, w = [at.ones((1,), dtype="float64") for _ in range(2)], at.dvector("w")
    (xs, _), _ = scan(lambda x, y: [y, x * w], outputs_info=starts, n_steps=4)
    assert [v.type.shape for v in node_of(xs).op.inner_inputs[:2]] == [(None,), (None,)]


def test_a_loosened_draw_and_its_generator_stay_one_chain():
    stream, w = at.random.RandomStream(3), at.dvector("w")
    xs, updates = scan(lambda x: stream.normal(x) * w, outputs_info=[at.ones((1,), dtype="float64")], n_steps=4)
    op = node_of(xs).op
    assert inner_types(xs) == [(None,)] and len(updates) == 1
    assert op.inner_shared_outs()[0].owner.inputs[0] is op.inner_shared()[0]


def test_a_state_that_grows_by_its_static_shape_is_refused():
    text = (
        r"Inconsistency in the inner graph of scan 'scan_fn' : an input and an output are associated with the same recurrent state and should "
        r"have compatible types but have type 'TensorType\(float64, \(1,\)\)' and 'TensorType\(float64, \(3,\)\)' respectively"
    )
    with pytest.raises(TypeError, match=text):
        scan(lambda x: x + np.zeros(3), outputs_info=[at.zeros((1,), dtype="float64")], n_steps=3)


# The Op by hand


def simple_op(output=None, n_inputs=1):
    inputs = [at.dscalar() for _ in range(n_inputs)]
    return Scan(inputs, [inputs[0] * 2 if output is None else output(inputs[0])], ScanInfo(0, (), (), (), ((-1,),), 0, 0, n_inputs - 1, False))


def test_a_node_checks_its_inputs():
    op, n = simple_op(n_inputs=2), at.lscalar("n")
    with pytest.raises(TypeError, match="Inputs must be `Variable` instances"):
        op(3, at.dvector(), dscalar())
    with pytest.raises(ValueError, match="The number of inputs given to the inner function of scan does not match"):
        op(n, at.dvector())
    with pytest.raises(TypeError, match=r"Cannot convert Type TensorType\(float64, \(\?, \?\)\)"):
        op(n, at.dmatrix(), dscalar())
    with pytest.raises(ValueError, match="has dtype float64, while the result of the inner function"):
        simple_op(lambda x: at.cast(x, "float32"))(n, at.dvector())
    assert op(n, at.fvector(), dscalar()).owner.inputs[1].type.dtype == "float64"


def test_an_inner_graph_must_not_be_in_place_nor_miss_an_input():
    draw = type(at.random.normal)(inplace=True)
    rng = at.random.random_generator_type()
    node = draw.make_node(rng, None, None, 0.0, 1.0)
    info = ScanInfo(0, (), (), (), (), 1, 1, 0, False)
    with pytest.raises(InconsistencyError, match="Inner-graphs must not contain in-place operations."):
        Scan([rng], [node.outputs[1], node.outputs[0]], info)
    with pytest.raises(MissingInputError, match="OpFromGraph is missing an input: mm"):
        simple_op(lambda x: x * dscalar("mm"))
    with pytest.raises(TypeError, match="Inputs and outputs must be non-Constant/shared Variable instances; got s"):
        Scan([pyscan.shared(1.0, name="s")], [], ScanInfo(0, (), (), (), (), 0, 0, 1, False))


def test_a_sequence_and_its_slice_must_agree_on_axes_of_length_one():
    row = at.row(dtype="float64")
    op = Scan([row], [row * 2], ScanInfo(1, (), (), (), (), 1, 0, 0, False))
    n = at.lscalar("n")
    with pytest.raises(TypeError, match=r"The broadcast pattern of the output of scan .* The output on axis 1 is `False`, but it is `True` on axis 0"):
        op(n, at.dtensor3(), n)


# Shorthands


def test_map_reduce_and_the_folds_are_scans():
    x, zero = at.dvector("x"), at.zeros((), dtype="float64")
    assert isinstance(map(lambda a: a + 1, [x])[0].owner.op, Scan)
    total, updates = reduce(lambda a, s: a + s, [x], [zero])
    assert total.type.ndim == 0 and not updates
    both, _ = reduce(lambda a, s, t: [a + s, a * t], [x], [zero, zero])
    assert [v.type.ndim for v in both] == [0, 0]
    assert "Subtensor{::int64}" in op_texts(node_of(foldr(lambda a, s: a + 2 * s, [x], [zero])[0]).inputs[1])


def test_checkpoints_are_two_nested_loops():
    A = at.dvector("A")
    powers, _ = scan_checkpoints(lambda p, A: p * A, outputs_info=[at.ones_like(A)], non_sequences=[A], n_steps=6, save_every_N=2)
    outer = node_of(powers)
    assert outer.op.name == "checkpointscan_fn_outer"
    assert node_of(outer.op.inner_outputs[0]).op.name == "checkpointscan_fn_inner"
    with pytest.raises(RuntimeError, match="scan_checkpoints doesn't work with taps."):
        scan_checkpoints(lambda p: p, outputs_info=[{"initial": A, "taps": [-2]}], n_steps=6)


# OrderedUpdates


def test_updates_take_shared_variables_and_merge_without_collisions():
    s, t, x = pyscan.shared(1.0, name="s"), pyscan.shared(1.0, name="t"), dscalar("x")
    updates = OrderedUpdates([(s, x)])
    assert repr(updates) == "OrderedUpdates([(s, x)])"
    assert list(updates + OrderedDict([(t, x)])) == [s, t] and list(OrderedDict([(t, x)]) + updates) == [t, s]
    updates.update({s: x})
    with pytest.raises(KeyError) as caught:
        updates.update({s: x + 1})
    assert caught.value.args == ("Collision", s)
    with pytest.raises(TypeError) as caught:
        updates[x] = x
    assert caught.value.args == ("OrderedUpdates keys must inherit from SharedVariable", x)
    updates[s] = x + 1


def test_plain_dictionaries_of_two_updates_warn():
    s, t, x = pyscan.shared(1.0), pyscan.shared(1.0), dscalar("x")
    with pytest.warns(UserWarning, match="Initializing an `OrderedUpdates` from a non-ordered dictionary with 2"):
        updates = OrderedUpdates({s: x, t: x})
    with pytest.warns(UserWarning, match="Updating an `OrderedUpdates` with a non-ordered dictionary with 2"):
        updates.update({s: x, t: x})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OrderedUpdates({s: x})


def test_a_step_keeps_no_values():
    x0 = at.dscalar("x0")
    out, _ = scan(lambda x: 2.0 * x, outputs_info=[x0], n_steps=3)
    f = pyscan.function([x0], out)
    (node,) = [node for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)]
    f(1.0)
    cells = [*node.op.fn.input_storage, *node.op.fn.output_storage]
    assert len(cells) == len(node.op.fn.maker.fgraph.inputs) + len(node.op.fn.maker.fgraph.outputs) and all(cell.value is None for cell in cells)

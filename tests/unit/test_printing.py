"""dprint, pp and the shorter forms, line by line as Aesara prints them."""
import io
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import printing

ISSUE = """\
for{cpu,scan_fn}.0 [id A] 0
 |TensorConstant{10} [id B]
 |RandomGeneratorSharedVariable(<Generator(PCG64) at 0x_>) [id C]
 |TensorConstant{10} [id B]
for{cpu,scan_fn}.1 [id A] 0

Inner graphs:

for{cpu,scan_fn}.0 [id A]
 >normal_rv{0, (0, 0), floatX, FLAG}.1 [id D]
 > |*0-<RandomGeneratorType> [id E] -> [id C]
 > |TensorConstant{[]} [id F]
 > |TensorConstant{11} [id G]
 > |TensorConstant{0.0} [id H]
 > |TensorConstant{1.0} [id I]
 >normal_rv{0, (0, 0), floatX, FLAG}.0 [id D]

for{cpu,scan_fn}.1 [id A]
 >normal_rv{0, (0, 0), floatX, FLAG}.1 [id D]
 >normal_rv{0, (0, 0), floatX, FLAG}.0 [id D]
"""


@pytest.fixture
def dot_graph():
    x, y = at.dvector("x"), at.dmatrix("y")
    out = at.dot(y, x) + x * 2
    out.name = "out"
    return x, y, out


@pytest.mark.parametrize("mode, flag", [("FAST_RUN", "True"), ("FAST_COMPILE", "False")])
def test_the_issue_script_prints_as_expected(dprinted, mode, flag):
    stream = at.random.RandomStream(23)
    path, updates = pyscan.scan(lambda: stream.normal(), n_steps=10, strict=True)
    assert dprinted(pyscan.function([], path, updates=updates, mode=mode)) == ISSUE.replace("FLAG", flag)


def test_without_an_update_the_body_is_in_place_all_the_same(dprinted):
    stream = at.random.RandomStream(23)
    path, _ = pyscan.scan(lambda: stream.normal(), n_steps=10, strict=True)
    text = dprinted(pyscan.function([], path))
    assert "floatX, True}" in text and "floatX, False}" not in text


def test_the_destroy_map_of_the_loop_is_shown_when_asked_for(dprinted):
    stream = at.random.RandomStream(23)
    path, updates = pyscan.scan(lambda: stream.normal(), n_steps=10)
    assert "for{cpu,scan_fn}.0 [id A] d={1: [1]} 0\n" in dprinted(pyscan.function([], path, updates=updates), print_destroy_map=True)
    assert "for{cpu,scan_fn}.0 [id A] 0\n" in dprinted(pyscan.function([], path), print_destroy_map=True)


def test_a_tree_has_one_line_a_variable(dprinted, dot_graph):
    assert dprinted(dot_graph[2]) == """\
Elemwise{add,no_inplace} [id A] 'out'
 |dot [id B]
 | |y [id C]
 | |x [id D]
 |Elemwise{mul,no_inplace} [id E]
   |x [id D]
   |InplaceDimShuffle{x} [id F]
     |TensorConstant{2} [id G]
"""


@pytest.mark.parametrize("options, first_lines", [
    ({"depth": 1}, ["Elemwise{add,no_inplace} [id A] 'out'"]),
    ({"depth": 2}, ["Elemwise{add,no_inplace} [id A] 'out'", " |dot [id B]", " |Elemwise{mul,no_inplace} [id C]"]),
    ({"depth": 0}, []),
    ({"print_type": True}, ["Elemwise{add,no_inplace} [id A] <TensorType(float64, (?,))> 'out'", " |dot [id B] <TensorType(float64, (?,))>"]),
    ({"id_type": "int"}, ["Elemwise{add,no_inplace} [id 0] 'out'", " |dot [id 1]"]),
    ({"id_type": ""}, ["Elemwise{add,no_inplace} 'out'", " |dot", " | |y"]),
    ({"stop_on_name": True}, ["Elemwise{add,no_inplace} [id A] 'out'"]),
    ({"print_view_map": True}, ["Elemwise{add,no_inplace} [id A] 'out'", " |dot [id B]"]),
])
def test_options_change_the_lines(dprinted, dot_graph, options, first_lines):
    lines = dprinted(dot_graph[2], **options).splitlines()
    assert lines[:len(first_lines)] == first_lines
    if options.get("depth") is not None or options.get("stop_on_name"):
        assert len(lines) == len(first_lines)


def test_ids_by_python_and_by_auto_name(dot_graph):
    out = dot_graph[2]
    assert printing.debugprint(out, file="str", id_type="id", depth=1) == f"Elemwise{{add,no_inplace}} [id {id(out)}] 'out'\n"
    assert f"[id {out.auto_name}]" in printing.debugprint(out, file="str", id_type="auto", depth=1)


def test_letters_count_in_base_26():
    assert [printing.char_from_number(n) for n in (0, 25, 26, 27, 51, 52, 701)] == ["A", "Z", "BA", "BB", "BZ", "CA", "BAZ"]


def test_files_and_shared_ids(dot_graph, capsys):
    x, y, out = dot_graph
    stream = io.StringIO()
    assert printing.debugprint(x, file=stream) is stream and stream.getvalue() == "x [id A]\n"
    printing.debugprint(x)
    assert capsys.readouterr().out == "x [id A]\n"
    done, used = {}, {}
    printing.debugprint(out, file="str", done=done, used_ids=used)
    assert printing.debugprint([out, at.dscalar("new")], file="str", done=done, used_ids=used) == (
        "Elemwise{add,no_inplace} [id A] 'out'\nnew [id H]\n")


def test_what_is_not_a_graph_is_refused():
    with pytest.raises(TypeError, match="debugprint cannot print an object type <class 'str'>"):
        printing.debugprint("x", file="str")
    with pytest.raises(Exception, match="depth parameter must be an int"):
        printing.debugprint(at.dscalar(), depth="1")
    with pytest.warns(DeprecationWarning, match="`ids` is deprecated; use `id_type` instead."):
        printing.debugprint(at.dscalar("x"), ids="int", file="str")
    assert printing.debugprint([3, 2.5, np.ones(2)], file="str") == "3\n2.5\n[1. 1.]\n"


def test_a_loops_roles_are_shown(dprinted):
    x = at.dvector("x")
    path, _ = pyscan.scan(lambda a, b, s, k: s * a + b * k, sequences=[{"input": x, "taps": [-1, 1]}],
                          outputs_info=[at.as_tensor(np.float64(0.0))],
                          non_sequences=[at.dscalar("k")], name="sc")
    text = dprinted(path, print_op_info=True)
    for role in ("n_steps", "outer_in_seqs-0", "outer_in_seqs-1", "outer_in_sit_sot-0", "outer_in_non_seqs-0", "outer_out_sit_sot-0",
                 "inner_in_seqs-0", "inner_in_seqs-1", "inner_in_sit_sot-0", "inner_in_non_seqs-0", "inner_out_sit_sot-0"):
        assert f"({role})" in text, role


def test_inputs_of_graphs_are_listed_when_asked_for(dprinted):
    stream = at.random.RandomStream(1)
    x = at.dscalar("x")
    path, updates = pyscan.scan(lambda p: p + stream.normal(), outputs_info=[x], n_steps=3)
    text = dprinted(pyscan.function([x], path, updates=updates), print_fgraph_inputs=True)
    assert text.startswith("-x [id A]\n-RandomGeneratorSharedVariable(<Generator(PCG64) at 0x_>) [id B]\n")
    assert "-*0-<TensorType(float64, ())> [id" in text


def test_default_updates_are_printed_when_asked_for(dprinted):
    stream = at.random.RandomStream(1)
    draw = stream.normal(0, 1, size=(2,))
    text = dprinted(draw, print_default_updates=True)
    assert text == """\
normal_rv{0, (0, 0), floatX, False}.1 [id A]
 |RandomGeneratorSharedVariable(<Generator(PCG64) at 0x_>) [id B] <- [id A]
 |TensorConstant{(1,) of 2} [id C]
 |TensorConstant{11} [id D]
 |TensorConstant{0} [id E]
 |TensorConstant{1} [id F]

Default updates:

normal_rv{0, (0, 0), floatX, False}.0 [id A]
 |RandomGeneratorSharedVariable(<Generator(PCG64) at 0x_>) [id B] <- [id A]
 |TensorConstant{(1,) of 2} [id C]
 |TensorConstant{11} [id D]
 |TensorConstant{0} [id E]
 |TensorConstant{1} [id F]
"""


PP = {
    "dot": (lambda x, y: at.dot(y, x) + x * 2, "((y \\dot x) + (x * 2))"),
    "arithmetic": (lambda x, y: at.exp(x) * 2 - x / 3, "((exp(x) * 2) - (x / 3))"),
    "neg": (lambda x, y: -x, "(-x)"),
    "pow": (lambda x, y: x**2, "(x ** 2)"),
    "abs": (lambda x, y: abs(x), "|x|"),
    "switch": (lambda x, y: at.switch(x > 0, x, 0), "switch(gt(x, 0), x, 0)"),
    "maximum": (lambda x, y: at.maximum(x, 0), "scalar_maximum(x, 0)"),
    "eq": (lambda x, y: at.eq(x, 1), "eq(x, 1)"),
    "index": (lambda x, y: x[0], "x[0]"),
    "indices": (lambda x, y: y[0, 1], "y[0, 1]"),
    "slice": (lambda x, y: x[1:], "x[int64:]"),
    "transpose": (lambda x, y: y.T, "y.T"),
    "shape": (lambda x, y: x.shape, "Shape(x)"),
    "sum over an axis": (lambda x, y: y.sum(axis=0), "sum(y, axis=(0,))"),
    "sum": (lambda x, y: y.sum(), "sum(y, axis=None)"),
    "mean": (lambda x, y: y.mean(), "((sum(y, axis=None) / float64(Shape(y))[0]) / float64(Shape(y))[1])"),
    "set": (lambda x, y: at.set_subtensor(x[0], 1), "set_subtensor(x[0], 1)"),
    "stack": (lambda x, y: at.stack([x, x]), "join(0, x, x)"),
    "reshape": (lambda x, y: x.reshape((2, 1)), "Reshape{2}(x, [2 1])"),
    "arange": (lambda x, y: at.arange(3), "ARange{dtype='int64'}(0, 3, 1)"),
    "zeros": (lambda x, y: at.zeros(2), "alloc(0.0, 2)"),
    "cast": (lambda x, y: at.cast(x, "float32"), "float32(x)"),
    "dimshuffle": (lambda x, y: x.dimshuffle("x", 0), "x"),
    "greek": (lambda x, y: at.dscalar("alpha") + x, "(\\alpha + x)"),
}


@pytest.mark.parametrize("name", PP)
def test_pp_writes_mathematics_on_one_line(name):
    make, text = PP[name]
    assert pyscan.pp(make(at.dvector("x"), at.dmatrix("y"))) == text


def test_pp_takes_variables_only():
    x = at.dscalar("x")
    with pytest.raises(AttributeError, match="'Function' object has no attribute 'owner'"):
        pyscan.pp(pyscan.function([x], x + 1.0))


def test_own_printers_take_part():
    x = at.dscalar("x")
    printer = printing.pprint.clone_assign(at.exp, printing.PatternPrinter("e^{%(0)s}"))
    assert printer.process(at.exp(x) + 1) == "(e^{x} + 1)" and pyscan.pp(at.exp(x)) == "exp(x)"
    named = printing.pprint.clone_assign(lambda state, v: v.name == "x", printing.FunctionPrinter(["unused"]))
    named.assign(lambda state, v: v.name == "x", type("Fixed", (printing.Printer,), {"process": lambda self, v, state: "HERE"})())
    assert named.process(x + 1) == "(HERE + 1)"


def test_long_chains_are_printed_without_recursion():
    out = at.dscalar("x")
    for _ in range(20_000):
        out = out + 1
    assert len(printing.debugprint(out, file="str", depth=5).splitlines()) == 9
    text = pyscan.pp(out)
    assert text.startswith("(((") and text.endswith(" + 1)") and text.count("+") == 20_000
    assert printing.as_string([], [out])[0].count("Elemwise") == 20_000


def test_min_informative_str_stops_at_names(dot_graph):
    x, y, out = dot_graph
    assert printing.min_informative_str(out) == "A. out"
    assert printing.min_informative_str(out + x) == "A. Elemwise{add,no_inplace}\n B. out\n C. x"
    assert printing.min_informative_str(x + x) == "A. Elemwise{add,no_inplace}\n B. x\n <B>"


def test_as_string_numbers_what_is_read_twice():
    x = at.dvector("x")
    assert printing.as_string([x], [x + 1]) == ["Elemwise{add,no_inplace}(x, InplaceDimShuffle{x}(TensorConstant{1}))"]
    twice = at.exp(x)
    assert printing.as_string([x], [twice + twice]) == [
        "Elemwise{add,no_inplace}(*1 -> Elemwise{exp,no_inplace}(x), *1)"]
    assert printing.as_string([x], [at.exp(x)], leaf_formatter=str, node_formatter=lambda node, texts: f"<{','.join(texts)}>") == ["<x>"]


def test_print_shows_attributes_of_the_value_each_time(capsys):
    x = at.dvector("x")
    shown = printing.Print("msg", attrs=("__str__", "shape"))(x)
    f = pyscan.function([x], shown + 1.0)
    assert f(np.ones(2)).tolist() == [2.0, 2.0]
    assert capsys.readouterr().out == "msg __str__ = [1. 1.]\nmsg shape = (2,)\n"
    assert str(shown.owner.op).startswith("Print{message='msg', attrs=('__str__', 'shape'), global_fn=<function _print_fn at 0x")
    assert pickle.loads(pickle.dumps(shown.owner.op)) == shown.owner.op


def test_print_in_a_loop_prints_once_a_step(capsys):
    path, _ = pyscan.scan(lambda s: printing.Print("s")(s) + 1.0, outputs_info=[at.as_tensor(np.float64(0.0))], n_steps=3)
    assert pyscan.function([], path)().tolist() == [1.0, 2.0, 3.0]
    assert capsys.readouterr().out == "s __str__ = 0.0\ns __str__ = 1.0\ns __str__ = 2.0\n"

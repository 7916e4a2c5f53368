"""function(): its arguments, what a call takes and gives, updates, copies, pickles, and every error it raises."""
import copy
import gc
import io
import pickle
import re
import sys
import threading

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import In, Out
from pyscan.errors import UnusedInputError
from pyscan.function import function_dump
from pyscan.graph import MissingInputError, as_string
from pyscan.maker import rebuild_collect_shared
from pyscan.ops import update_placeholder
from pyscan.profiling import ProfileStats


def raises(kind, text):
    return pytest.raises(kind, match=re.escape(text))


@pytest.fixture
def x():
    return at.dvector("x")


@pytest.fixture
def y():
    return at.dscalar("y")


# ---- outputs


def test_one_output_gives_its_value_and_a_list_gives_a_list(x):
    one = pyscan.function([x], x + 1.0)([1.0])
    assert isinstance(one, np.ndarray) and one.tolist() == [2.0]
    assert [v.tolist() for v in pyscan.function([x], [x, x * 2.0])([1.0])] == [[1.0], [2.0]]
    assert [v.tolist() for v in pyscan.function([x], (x,))([1.0])] == [[1.0]]


def test_a_dict_of_outputs_gives_a_dict_sorted_by_key(x):
    got = pyscan.function([x], {"b": x, "a": x + 1.0})([1.0])
    assert list(got) == ["a", "b"] and got["a"].tolist() == [2.0]


def test_no_outputs_give_an_empty_list():
    assert pyscan.function([], None)() == [] and pyscan.function([], [])() == []


def test_values_without_dimensions_are_arrays(y):
    value = pyscan.function([y], y * 2.0)(3)
    assert isinstance(value, np.ndarray) and value.shape == () and value.dtype == np.float64


def test_output_subset_gives_the_outputs_asked_for(x):
    f = pyscan.function([x], [x, x + 1.0, x + 2.0])
    assert [v.tolist() for v in f([0.0], output_subset=[2, 0])] == [[2.0], [0.0]]


def test_an_output_that_is_an_input_is_a_copy(x):
    f = pyscan.function([x], [x, x])
    given = np.ones(2)
    a, b = f(given)
    assert not np.shares_memory(a, given) and not np.shares_memory(a, b)
    assert [str(out.owner.op) for out in f.maker.fgraph.outputs] == ["DeepCopyOp", "DeepCopyOp"]


def test_a_borrowed_output_of_a_borrowed_input_may_be_the_input(x):
    f = pyscan.function([In(x, borrow=True)], Out(x, borrow=True))
    assert [str(out.owner.op) for out in f.maker.fgraph.outputs] == ["ViewOp"]


# ---- inputs


def test_inputs_are_given_by_position_or_by_name(x, y):
    f = pyscan.function([x, y], x + y)
    assert f([1.0], y=2.0).tolist() == f(y=2.0, x=[1.0]).tolist() == [3.0]


def test_a_default_is_used_and_put_back(x, y):
    f = pyscan.function([x, In(y, value=2.0)], x + y)
    assert f([1.0]).tolist() == [3.0] and f([1.0], 5.0).tolist() == [6.0] and f([1.0]).tolist() == [3.0]
    f["y"] = 7.0
    assert f[y] == 7.0 and f([1.0]).tolist() == [8.0]


def test_an_update_of_an_input_is_its_next_default(x, y):
    f = pyscan.function([x, In(y, value=2.0, update=y + x.sum())], y)
    assert f([1.0]) == 2.0 and f([1.0]) == 3.0 and f([1.0], 10.0) == 10.0 and f([0.0]) == 11.0


def test_a_call_that_fails_leaves_an_updated_input_as_it_was(x, y):
    z = at.dvector("z")
    f = pyscan.function([x, z, In(y, value=2.0, update=y + (x + z).sum())], y)
    with pytest.raises(ValueError):
        f([1.0, 2.0], [1.0, 2.0, 3.0], 9.0)
    assert f["y"] == 2.0


def test_numbers_and_lists_are_taken_where_nothing_is_lost():
    f32, i = at.fvector("f32"), at.lscalar("i")
    assert pyscan.function([f32], f32)([0.5, 1]).dtype == np.float32
    assert pyscan.function([i], i)(np.int8(3)) == 3
    with raises(TypeError, "cannot store accurately value 0.1"):
        pyscan.function([at.fscalar("s")], [], on_unused_input="ignore")(0.1)
    loose = at.fscalar("s")
    assert pyscan.function([loose], loose, allow_input_downcast=True)(0.1) == np.float32(0.1)


def test_none_as_an_argument_is_refused(y):
    with pytest.raises(TypeError):
        pyscan.function([y], y + 1.0)(None)


def test_trust_input_skips_conversion(x):
    f = pyscan.function([x], x + 1.0)
    f.trust_input = True
    assert f(np.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("call, text", [
    (lambda f: f([1.0], 1.0, 2.0), "Too many parameter passed to aesara function"),
    (lambda f: f(), "Missing required input: x"),
    (lambda f: f([1.0]), "Missing required input: y"),
    (lambda f: f([1.0], x=[2.0]), "Multiple values for input: x"),
    (lambda f: f([1.0], z=3), "Unknown input or state: z. The function has 2 named inputs (x, y)."),
])
def test_wrong_calls_are_refused_by_name(x, y, call, text):
    with raises(TypeError, text):
        call(pyscan.function([x, y], x + y))


def test_keywords_are_refused_with_the_names_that_there_are():
    state = pyscan.shared(1.0, "state")
    with raises(TypeError, "The function is supposed to have no input."):
        pyscan.function([], state)(z=1.0)
    nameless = at.dscalar()
    with raises(TypeError, "The function has a single input variable which has no name, and thus cannot be assigned through a keyword argument"):
        pyscan.function([nameless], nameless)(z=1.0)


def test_two_inputs_of_one_name_are_ambiguous(y):
    other = at.dscalar("y")
    with raises(TypeError, "Ambiguous name: y - please check the names of the inputs of your function for duplicates."):
        pyscan.function([y, other], y + other)(1.0, y=2.0)


def test_a_shared_variable_is_no_parameter(x):
    s = pyscan.shared(1.0, "s")
    with raises(TypeError, "Tried to provide value for implicit input: s"):
        pyscan.function([x], x * s)([1.0], s=3.0)


def test_a_bad_argument_is_named_with_where_its_variable_was_made(x):
    f = pyscan.function([x], x + 1.0, name="fff")
    with pytest.raises(TypeError) as caught:
        f(np.zeros((2, 2)))
    text = str(caught.value)
    assert text.startswith('Bad input argument to aesara function with name "fff" at index 0 (0-based).  \nBacktrace when that variable is created:\n\n')
    assert "test_function.py" in text and text.endswith("Wrong number of dimensions: expected 1, got 2 with shape (2, 2).")
    with raises(ValueError, "could not convert string to float: 'a'"):
        pyscan.function([at.dscalar("s")], [], on_unused_input="ignore")("a")


def test_a_default_that_is_set_serves_one_call_as_do_those_of_copies_and_pickles(x):
    y = at.dscalar("y")
    f = pyscan.function([In(x, value=[2.0], mutable=True), In(y, value=1.0)], x * y)
    for g in (f, f.copy(), pickle.loads(pickle.dumps(f))):
        g["x"], g["y"] = [3.0], 5.0
        assert (g["x"].tolist(), g["y"]) == ([3.0], 5.0)
        assert [g().tolist(), g().tolist()] == [[15.0], [2.0]]


def test_a_profile_counts_calls_and_times_them(x):
    f = pyscan.function([x], x + 1.0, profile="adds")
    with pytest.raises(ValueError):
        f("a")
    f([1.0]), f([1.0])
    report = io.StringIO()
    f.profile.summary(file=report)
    assert "Message: adds" in report.getvalue() and "Time in 2 calls" in report.getvalue()
    profile = ProfileStats()
    assert pyscan.function([x], x * 1.0, profile=profile).profile is profile
    assert 0.0 < profile.rewriting_time < profile.compile_time and profile.nb_nodes == 1
    assert [pyscan.function([x], x, profile=p).profile for p in (None, False)] == [None, None]
    assert f.copy(profile=True).profile.fct_callcount == 0 and f.copy().profile is None
    with raises(TypeError, "`profile` must be a truth value, a message or a ProfileStats; 3 came"):
        pyscan.function([x], x, profile=3)


# ---- shared variables, updates, givens


def test_updates_see_the_old_values_so_that_two_can_be_swapped():
    a, b = pyscan.shared(1.0, "a"), pyscan.shared(2.0, "b")
    f = pyscan.function([], [a, b], updates=[(a, b), (b, a)])
    assert f() == [1.0, 2.0]
    assert (a.get_value(), b.get_value()) == (2.0, 1.0)


def test_shared_variables_are_found_and_listed(x):
    s = pyscan.shared(1.0, "s")
    f = pyscan.function([x], x * s, updates={s: s + 1.0})
    assert f.get_shared() == [s] and f[s] == 1.0 and f["s"] == 1.0
    assert [str(i) for i in f.maker.inputs] == ["In(x)", "In(s -> Elemwise{add,no_inplace}.0)"]
    f[s] = 5.0
    assert s.get_value() == 5.0


def test_default_updates_are_applied_unless_blocked_or_overridden():
    s = pyscan.shared(1.0, "s")
    s.default_update = s + 1.0
    pyscan.function([], s)()
    assert s.get_value() == 2.0
    pyscan.function([], s, no_default_updates=True)()
    pyscan.function([], s, no_default_updates=[s])()
    assert s.get_value() == 2.0
    pyscan.function([], s, updates=[(s, s * 10.0)])()
    assert s.get_value() == 20.0


def _updated_in_a_step(s, new):
    return pyscan.function([], [], updates=pyscan.scan(lambda: {s: new}, n_steps=2)[1])


def _updated_by_default(s, new):
    s.default_update = new
    return pyscan.function([], s)


@pytest.mark.parametrize("make", [lambda s, new: pyscan.function([], [], updates={s: new}), _updated_by_default, _updated_in_a_step],
                         ids=["updates", "default_update", "scan"])
def test_updates_of_known_length_fit_a_vector_of_any_length_and_others_are_checked_when_they_come(make):
    for length in (1, 2):
        any_length = pyscan.shared(np.ones(length))
        make(any_length, at.zeros(length))()
        assert any_length.get_value().tolist() == [0.0] * length
    three, source = pyscan.shared(np.ones(3), shape=(3,)), pyscan.shared(np.zeros(3))
    f = make(three, source * 1.0)
    f()
    assert three.get_value().tolist() == [0.0] * 3
    source.set_value(np.ones(2))
    with pytest.raises(AssertionError, match="SpecifyShape"):
        f()
    assert three.get_value().tolist() == [0.0] * 3


def test_default_updates_of_variables_met_in_updates_are_found_too():
    s, t = pyscan.shared(1.0, "s"), pyscan.shared(1.0, "t")
    t.default_update = t + 1.0
    pyscan.function([], [], updates=[(s, s + t)])()
    assert (s.get_value(), t.get_value()) == (2.0, 2.0)


def test_a_stream_moves_on_at_each_call():
    stream = at.random.RandomStream(42)
    draw = stream.normal()
    f, still = pyscan.function([], draw), pyscan.function([], draw, no_default_updates=True)
    rng = np.random.default_rng(np.random.SeedSequence(42).spawn(1)[0])
    want = rng.normal(size=3)
    assert [f(), f(), still(), still(), f()] == [want[0], want[1], want[2], want[2], want[2]]


def test_givens_replace_variables_and_numbers_become_shared(x, y):
    s = pyscan.shared(1.0, "s")
    assert pyscan.function([x, y], x + s, givens={s: y * 2.0})([1.0], 3.0).tolist() == [7.0]
    assert pyscan.function([x], x + s, givens=[(s, 3.0)])([1.0]).tolist() == [4.0]
    assert pyscan.function([], x + 1.0, givens={x: at.zeros(2)})().tolist() == [1.0, 1.0]
    two = at.TensorType("float64", (2,))("two")
    f = pyscan.function([x], two + 1.0, givens={two: x})
    assert f([0.0, 1.0]).tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError, match="SpecifyShape"):
        f([0.0])


@pytest.mark.parametrize("make, kind, text", [
    (lambda x, y, s: pyscan.function(x, x), TypeError,
     "Input variables of an Aesara function should be contained in a list, even when there is a single input."),
    (lambda x, y, s: pyscan.function([x, y], x), UnusedInputError, "the provided input variable at index 1 is not part of the computational graph needed to compute the outputs: y.\nTo make this error into a warning, you can pass the parameter on_unused_input='warn' to aesara.function. To disable it completely, use on_unused_input='ignore'."),
    (lambda x, y, s: pyscan.function([x, y], x, on_unused_input="foo"), ValueError, "Invalid value for keyword on_unused_input of aesara.function: 'foo'.\nValid values are 'raise', 'warn', and 'ignore'."),
    (lambda x, y, s: pyscan.function([x, x], x), UnusedInputError, "Variable x is used twice in inputs to aesara.function, at indices 0 and 1.  This would result in values provided for it being ignored. Please do not duplicate variables in the inputs list."),
    (lambda x, y, s: pyscan.function([s], s), TypeError, "Cannot use a shared variable (s) as explicit input. Consider substituting a non-shared variable via the `givens` parameter"),
    (lambda x, y, s: pyscan.function([at.constant(1)], s), TypeError, "Constants not allowed in param list"),
    (lambda x, y, s: pyscan.function([3], s), TypeError, "Unknown parameter type: <class 'int'>"),
    (lambda x, y, s: pyscan.function([x], [x, 3]), TypeError, "Outputs must be aesara Variable or Out instances. Received 3 of type <class 'int'>"),
    (lambda x, y, s: pyscan.function([x], x, updates={y: s}), TypeError, "update target must be a SharedVariable"),
    (lambda x, y, s: pyscan.function([x], x, updates=[(s, s), (s, s)]), ValueError, "this shared variable already has an update expression"),
    (lambda x, y, s: pyscan.function([x], x, updates=[(s, x)]), TypeError, "An update must have the same type as the original shared variable (shared_var=s, shared_var.type=TensorType(float64, ()), update_val=x, update_val.type=TensorType(float64, (?,)))."),
    (lambda x, y, s: pyscan.function([x], x, updates=[3]), TypeError, "The `updates` parameter must be an ordered mapping or a list of pairs"),
    (lambda x, y, s: pyscan.function([x], x, no_default_updates=3), TypeError, "The `no_default_update` argument must be a boolean or list"),
    (lambda x, y, s: pyscan.function([x], x, givens={x: x + 1.0}), RuntimeError, "You are trying to replace variable 'x' through the `givens` parameter, but this variable is an input to your function. Replacing inputs is currently forbidden because it has no effect. One way"),
    (lambda x, y, s: pyscan.function([x], x, givens={3: x}), TypeError, "`givens` keys must be Variables"),
    (lambda x, y, s: pyscan.function([], s, givens={s: x}), TypeError, "Cannot convert Type TensorType(float64, (?,)) (of Variable x) into Type TensorType(float64, ())."),
    (lambda x, y, s: pyscan.function([y], s + y, givens=[(s, at.dscalar("a") + 1.0), (s, y)]), AssertionError, "When using 'givens' or 'replace' with several (old_v, new_v) replacement pairs"),
    (lambda x, y, s: pyscan.function([x], x, mode="FOO"), ValueError, "No predefined mode exist for string: FOO"),
    (lambda x, y, s: In(x, mutable=True, borrow=False), ValueError, "Symbolic input for variable x (name=None) has flags mutable=True, borrow=False. This combination is incompatible since mutable=True implies that the input variable may be both aliased (borrow=True) and overwritten."),
    (lambda x, y, s: In(x, name=3), TypeError, "name must be a string! (got: 3)"),
    (lambda x, y, s: In(x, update=y), TypeError, "Variable 'x' has type TensorType(float64, (?,)) but an update of type TensorType(float64, ()). The type of the update should be compatible with the type of the variable."),
    (lambda x, y, s: In(x, implicit=True), TypeError, "An implicit input must be given a default value"),
    (lambda x, y, s: pyscan.function([x], x + y), MissingInputError, "Input 0 (y) of the graph (indices start from 0), used to compute InplaceDimShuffle{x}(y), was not provided and not given a value."),
])
def test_arguments_that_do_not_fit_are_refused(x, y, make, kind, text):
    with raises(kind, text):
        make(x, y, pyscan.shared(1.0, "s"))


def test_an_unused_input_warns_or_passes_as_asked(x, y):
    with pytest.warns(UserWarning, match="To make this warning into an error, you can pass the parameter on_unused_input='raise'"):
        pyscan.function([x, y], x, on_unused_input="warn")
    assert pyscan.function([x, y], x, on_unused_input="ignore")([1.0], 2.0).tolist() == [1.0]
    with pyscan.config.change_flags(on_unused_input="ignore"):
        pyscan.function([x, y], x)


def test_the_texts_of_in_and_out(x):
    assert str(In(x)) == "In(x)" and str(In(x, update=x + 1.0)) == "In(x -> Elemwise{add,no_inplace}.0)"
    assert str(Out(x, True)) == "Out(x,True)"


def test_the_default_name_is_the_place_of_the_call(x):
    line = sys._getframe().f_lineno + 1
    f = pyscan.function([x], x + 1.0)
    assert f.name == f"{__file__}:{line}" and f.copy().name == f"{f.name} copy"


def test_the_given_graph_may_not_overwrite_its_inputs_unless_accepted():
    rng = pyscan.shared(np.random.default_rng(1))
    draw = at.random.normal(rng=rng)
    op = type(draw.owner.op)(**{**draw.owner.op._props_dict(), "inplace": True})
    destroying = op.make_node(*draw.owner.inputs).outputs[1]
    with raises(TypeError, "Graph must not contain inplace operations: "):
        pyscan.function([], destroying)


# ---- modes


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "JAX", "NUMBA", "Mode", None, pyscan.Mode("py", None)])
def test_modes_give_the_same_values(x, mode):
    assert pyscan.function([x], (x + 1.0) * (x + 1.0), mode=mode)([1.0, 2.0]).tolist() == [4.0, 9.0]


def test_passes_are_added_and_taken_away_by_name_and_tag():
    run, compiled = pyscan.Mode(None, "fast_run"), pyscan.Mode(None, "fast_compile")
    assert set(compiled.passes) == {"merge", "constant_folding"} < set(run.passes)
    assert "random_make_inplace" not in run.excluding("random_make_inplace").passes
    assert not {"random_make_inplace", "scan_make_inplace", "add_destroy_handler"} & set(run.excluding("inplace").passes)
    assert "scan_save_mem" in compiled.including("scan_save_mem").passes
    assert pyscan.Mode(None, None).passes == ()
    with pyscan.config.change_flags(optimizer_excluding="merge:scan_save_mem"):
        assert not {"merge", "scan_save_mem"} & set(pyscan.Mode(None, "fast_run").passes)


def test_the_configured_mode_is_the_default():
    stream = at.random.RandomStream(1)
    with pyscan.config.change_flags(mode="FAST_COMPILE"):
        assert not pyscan.function([], stream.normal()).maker.fgraph.outputs[0].owner.op.inplace
    assert pyscan.function([], stream.normal()).maker.fgraph.outputs[0].owner.op.inplace


def test_modes_that_check_while_running_are_refused_aloud(x):
    with pytest.raises(NotImplementedError, match="FAST_COMPILE"):
        pyscan.function([x], x, mode="DebugMode")


# ---- the configuration


def test_flags_change_for_a_block_or_a_function_only():
    with pyscan.config.change_flags(floatX="float32"):
        assert at.vector().dtype == "float32"
    assert at.vector().dtype == "float64"

    @pyscan.config.change_flags(floatX="float32")
    def made():
        return at.vector().dtype
    assert made() == made() == "float32" and pyscan.config.floatX == "float64"


def test_flags_are_checked():
    with raises(ValueError, "Invalid value ('foo') for configuration variable 'floatX'"):
        pyscan.config.floatX = "foo"
    with raises(AttributeError, "did you mean 'floatX'"):
        pyscan.config.floatx
    with raises(AttributeError, "there is no configuration variable"):
        pyscan.config.nonsense = 1
    with pytest.raises(KeyError):
        pyscan.config.change_flags(nonsense=1)
    with pytest.raises(ValueError), pyscan.config.change_flags(mode="FAST_COMPILE", floatX="float8"):
        pass
    assert pyscan.config.mode == "Mode"


def test_the_configuration_can_be_pickled():
    with pyscan.config.change_flags(floatX="float32"):
        copied = pickle.loads(pickle.dumps(pyscan.config))
    assert copied.floatX == "float32" and pyscan.config.floatX == "float64"


def test_containers_and_values_are_reached_by_variable_name_and_place(x, y):
    f = pyscan.function([x, In(y, value=2.0)], x + y)
    assert f.container[y] is f.container["y"] is f.container[1] and f.value[y] == 2.0 and len(f.container) == 2
    f.value["y"] = 3.0
    assert f([1.0]).tolist() == [4.0] and y in f.container and at.dscalar() not in f.container
    assert [(required, restored) for required, restored, _ in f.defaults] == [(True, False), (False, True)]
    with pytest.raises(TypeError, match="the input x has no default"):
        f["x"] = [1.0]


def test_two_functions_can_share_the_state_of_an_input():
    n, s = at.dscalar("n"), at.dscalar("s")
    up = pyscan.function([n, In(s, value=10.0, update=s + n)], [])
    down = pyscan.function([n, In(s, value=up.container[s], update=s - n, implicit=False)], [])
    up(1.0)
    down(3.0)
    assert up[s] == down[s] == 8.0
    down(1.0, 0.0)
    assert up[s] == -1.0


def test_flags_come_from_the_environment(run_python):
    show = "import pyscan; print(pyscan.config.floatX, pyscan.config.scan__allow_gc, pyscan.config.on_unused_input)"
    env = {"AESARA_FLAGS": "floatX=float32,scan.allow_gc=True,something=1", "PYSCAN_FLAGS": "on_unused_input=warn"}
    assert run_python("-c", show, env=env).stdout.split() == ["float32", "True", "warn"]
    assert "floatX" in run_python("-c", show, env={"PYSCAN_FLAGS": "floatx=float32"}).stderr


# ---- copies, pickles, threads


def test_a_copy_shares_shared_variables_but_not_defaults(x, y):
    s = pyscan.shared(1.0, "s")
    f = pyscan.function([x, In(y, value=1.0)], x * s + y, updates={s: s + 1.0})
    g = f.copy()
    g["y"] = 100.0
    assert f([1.0]).tolist() == [2.0] and g([1.0]).tolist() == [102.0] and s.get_value() == 3.0


def test_a_copy_may_swap_shared_variables_and_drop_updates(x):
    s, t = pyscan.shared(1.0, "s"), pyscan.shared(10.0, "t")
    f = pyscan.function([x], x * s, updates={s: s + 1.0})
    assert f.copy(swap={s: t})([1.0]).tolist() == [10.0] and t.get_value() == 11.0 and s.get_value() == 1.0
    f.copy(delete_updates=True)([1.0])
    assert s.get_value() == 1.0
    with pytest.raises(TypeError, match="the types must be equal"):
        f.copy(swap={s: pyscan.shared(np.zeros(2))})
    with pytest.raises(ValueError, match="does not use"):
        f.copy(swap={t: s})
    for wrong in ({x: t}, {s: 3.0}, {"s": t}):
        with pytest.raises(TypeError, match="shared variables to shared variables"):
            f.copy(swap=wrong)


def test_a_copy_begins_with_the_defaults_of_inputs_that_are_updated(y):
    f = pyscan.function([In(y, value=2.0, update=y * 10.0)], y)
    f()
    first = f.copy()
    first()
    assert f["y"] == first["y"] == 20.0 and first.copy()() == 2.0 and f() == 20.0


def test_a_pickled_function_goes_on_where_it_stood(x):
    s = pyscan.shared(np.ones(2), "s")
    stream = at.random.RandomStream(5)
    f = pyscan.function([x, In(at.dscalar("y"), value=2.0)], [x * s, stream.normal()], updates={s: s + x}, on_unused_input="ignore")
    f([1.0, 1.0])
    g, t = pickle.loads(pickle.dumps((f, s)))
    mine, theirs = f([1.0, 2.0]), g([1.0, 2.0])
    assert mine[0].tolist() == theirs[0].tolist() and mine[1] == theirs[1]
    assert t.get_value().tolist() == s.get_value().tolist() == [3.0, 4.0]
    f([1.0, 1.0])
    assert t.get_value().tolist() == [3.0, 4.0] and g.name == f.name and g["y"] == 2.0


def test_a_deep_copy_has_shared_variables_of_its_own():
    s = pyscan.shared(1.0, "s")
    f = pyscan.function([], s, updates={s: s + 1.0})
    g = copy.deepcopy(f)
    assert (f(), f(), g()) == (1.0, 2.0, 1.0)


def test_a_function_of_a_long_chain_compiles_runs_and_pickles():
    x = out = at.dscalar("x")
    for _ in range(20_000):
        out = out + x
    f = pyscan.function([x], out, mode="FAST_COMPILE")
    assert f(1.0) == 20_001.0
    assert pickle.loads(pickle.dumps(f))(1.0) == 20_001.0


def test_calls_in_threads_do_not_meet(x):
    f = pyscan.function([x], pyscan.scan(lambda p, v: p * 0.5 + v, outputs_info=[x], non_sequences=[x], n_steps=50)[0][-1])
    wrong = []

    def call(k):
        given = np.full(3, float(k))
        want = f.copy()(given)
        for _ in range(50):
            if not np.array_equal(f(given), want):
                wrong.append(k)
    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_function_may_call_itself_from_an_operation_of_its_own(y):
    @pyscan.as_op(itypes=[at.dscalar], otypes=[at.dscalar])
    def again(v):
        return f(v - 1.0) + v if v > 0 else np.array(0.0)
    f = pyscan.function([y], again(y) + 0.0)
    assert f(4.0) == 10.0


def test_the_counters_tell_copies_of_generators():
    stream = at.random.RandomStream(23)
    path, updates = pyscan.scan(lambda: stream.normal(), n_steps=10)
    for kwargs, copies in (({"updates": updates}, 0), ({}, 1)):
        f = pyscan.function([], path, **kwargs)
        f()
        assert f.counters["generator_copies"] == copies


def test_an_input_may_be_a_computed_variable_and_hides_what_it_was_computed_from():
    s = pyscan.shared(0, "s")
    s.default_update = s + 1
    doubled = 2 * s
    f = pyscan.function([doubled], doubled + 1)
    assert f(20) == 21 and s.get_value() == 0 and f.get_shared() == []


@pytest.mark.parametrize("value", [1.5, np.float64(1.5), np.array(1.5), 2, True, np.float32(1.5), np.int8(2)])
def test_scalars_given_in_any_form_are_worth_the_same(value):
    x = at.dscalar("x")
    f = pyscan.function([x], x * 2.0)
    assert f(value) == f(x=value) == 2.0 * float(value)
    assert f(value).dtype == np.float64 and type(f(value)) is np.ndarray


def test_an_integer_goes_into_an_integer_scalar_only_where_it_fits():
    n = at.lscalar("n")
    f = pyscan.function([n], n + 1)
    assert f(2**62) == 2**62 + 1 and f(True) == 2 and f(-2**63) == 1 - 2**63
    for value in (2**63, -2**63 - 1, 2**200):
        with pytest.raises((TypeError, OverflowError), match="at index 0"):  # as of values that come by name
            f(value)
    with pytest.raises(TypeError, match="at index 0"):
        f(1.5)


def test_a_strict_scalar_takes_no_number():
    x = at.dscalar("x")
    f = pyscan.function([pyscan.In(x, strict=True)], x + 1.0)
    assert f(np.array(1.0)) == 2.0
    with pytest.raises(TypeError, match="at index 0"):
        f(1.0)


def test_an_array_of_another_rank_or_dtype_is_refused_by_its_place():
    x, y = at.dvector("x"), at.dvector("y")
    f = pyscan.function([x, y], x + y)
    for wrong in (np.zeros((2, 2)), np.zeros(2, dtype=complex)):
        with pytest.raises(TypeError, match="at index 1"):
            f(np.zeros(2), wrong)
    f.trust_input = True
    assert f.trust_input is True
    with pytest.raises(TypeError, match="input 1"):
        f(np.zeros(2), [0.0, 0.0])


def test_a_subclass_may_call_in_its_own_way():
    class Doubling(type(pyscan.function([], []))):
        def __call__(self, *args, **kwargs):
            return 2 * super().__call__(*args, **kwargs)

    x = at.dscalar("x")
    f = pyscan.function([x], x + 1.0)
    doubling = Doubling(f.maker, f.input_storage, f.vm)
    assert doubling(1.0) == 4.0 and f(1.0) == 2.0


# --- memory that arguments and shared variables have in common ---

def _overwriting(*more):
    """x with its first element set to 5, in x's own memory; and what else is asked for."""
    x, y = at.dvectors("x", "y")
    return pyscan.function([In(x, mutable=True), y], [at.set_subtensor(x[0], 5.0), *(make(y) for make in more)], on_unused_input="ignore")


@pytest.mark.parametrize("cut", [slice(None), slice(1, None), slice(None, None, -1), slice(0, 1)])
def test_an_argument_is_read_as_given_though_another_one_on_its_memory_is_overwritten(cut):
    f = _overwriting(lambda y: y * 2.0, lambda y: y)
    memory = np.arange(1.0, 5.0)
    given = memory[cut].copy()
    first, doubled, same = f(memory, memory[cut])
    assert first.tolist() == memory.tolist() == [5.0, 2.0, 3.0, 4.0]
    assert doubled.tolist() == (2.0 * given).tolist() and same.tolist() == given.tolist()


def test_two_arguments_that_are_overwritten_are_told_apart():
    x, y = at.dvectors("x", "y")
    f = pyscan.function([In(x, mutable=True), In(y, mutable=True)], [at.set_subtensor(x[0], 5.0), at.set_subtensor(y[1], 6.0)])
    memory = np.zeros(2)
    assert [value.tolist() for value in f(memory, memory)] == [[5.0, 0.0], [0.0, 6.0]]


def test_a_shared_variable_on_an_arguments_memory_is_read_as_it_was():
    memory = np.zeros(3)
    s = pyscan.shared(memory, borrow=True)
    x = at.dvector("x")
    f = pyscan.function([In(x, mutable=True)], [at.set_subtensor(x[0], 5.0), s + 1.0])
    assert [value.tolist() for value in f(memory)] == [[5.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_memory_that_can_not_be_overwritten_is_not():
    f = _overwriting()
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))
    for value in (fixed, repeated):
        assert f(value, [0.0])[0].tolist() == [5.0, 0.0, 0.0]
        assert value.tolist() == [0.0, 0.0, 0.0]
    apart = np.zeros(6)[::-2]
    assert f(apart, [0.0])[0].tolist() == apart.tolist() == [5.0, 0.0, 0.0]


def test_a_default_that_a_call_may_overwrite_is_there_for_the_next_call():
    x = at.dvector("x")
    f = pyscan.function([In(x, value=np.zeros(2), mutable=True)], at.set_subtensor(x[0], x[1] + 5.0))
    assert f().tolist() == f().tolist() == [5.0, 0.0]
    assert f[x].tolist() == [0.0, 0.0]


def test_functions_say_whether_arguments_may_be_overwritten_or_kept():
    x = at.dvector("x")
    s = pyscan.shared(np.zeros(2))
    said = [pyscan.function([spec], x + 1.0, updates={s: s + 1.0})._check_for_aliased_inputs
            for spec in (x, In(x, borrow=True), In(x, mutable=True))]
    assert said == [False, True, True]


def _borrowed(*values):
    """Shared variables, and the arrays that they hold."""
    variables = [pyscan.shared(value) for value in values]
    return variables, [variable.get_value(borrow=True) for variable in variables]


def test_shared_variables_swap_their_arrays():
    (a, b, c), arrays = _borrowed(np.zeros(3), np.ones(3), np.full(3, 2.0))
    f = pyscan.function([], [], updates=[(a, b), (b, c), (c, a)])
    f()
    assert all(v.get_value(borrow=True) is array for v, array in zip((a, b, c), (arrays[1], arrays[2], arrays[0])))


def test_shared_variables_swap_their_arrays_turned_round():
    values = np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(3, 2)
    (a, b), (in_a, in_b) = _borrowed(*values)
    f = pyscan.function([], a.sum(), updates=[(a, b.T), (b, a[:, ::-1].T)])
    for _ in range(5):
        assert f() == values[0].sum()
        values = values[1].T, values[0][:, ::-1].T
        assert np.array_equal(a.get_value(), values[0]) and np.array_equal(b.get_value(), values[1])
    held = a.get_value(borrow=True), b.get_value(borrow=True)
    assert np.shares_memory(held[0], in_b) and np.shares_memory(held[1], in_a)


def test_values_are_copied_where_no_array_is_given_up():
    (a, b), (_, in_b) = _borrowed(np.zeros(3), np.ones(3))
    for updates in ([(a, b)], [(a, b[:2]), (b, b + 1.0)], [(a, b), (b, b[::-1])]):
        out = pyscan.function([], b, updates=updates)()
        held = a.get_value(borrow=True), b.get_value(borrow=True)
        assert not np.shares_memory(*held) and not any(np.shares_memory(out, one) for one in held)


def test_an_arguments_own_array_is_not_taken_over():
    s = pyscan.shared(np.zeros(2))
    x = at.dvector("x")
    f = pyscan.function([In(x, value=np.zeros(2), update=s)], [], updates={s: x})
    mine = np.ones(2)
    f(mine)
    assert s.get_value().tolist() == [1.0, 1.0] and not np.shares_memory(s.get_value(borrow=True), mine)


def test_a_swap_that_fails_swaps_nothing():
    (a, b), (in_a, in_b) = _borrowed(np.zeros(3), np.ones(3))
    n = at.lscalar("n")
    f = pyscan.function([n], at.specify_shape(a, (n,)), updates=[(a, b), (b, a)])
    with pytest.raises(AssertionError):
        f(4)
    assert a.get_value(borrow=True) is in_a and b.get_value(borrow=True) is in_b


# --- what a function is made of ---

def test_a_call_of_function_can_be_kept_in_a_file(tmp_path):
    x = at.dvector("x")
    function_dump(tmp_path / "call.pkl", [x], {"y": x + 1.0}, name="kept")
    f = pyscan.function(**pickle.loads((tmp_path / "call.pkl").read_bytes()))
    assert f.name == "kept" and f([1.0])["y"].tolist() == [2.0]


def test_shared_variables_and_updates_are_collected_as_function_does():
    x, y = at.dscalars("x", "y")
    s, t = pyscan.shared(1.0, name="s"), pyscan.shared(2.0, name="t")
    t.default_update = t + 1.0
    inputs, outputs, (equiv, updates, pairs, shared) = rebuild_collect_shared([x * t, x], [x], updates={s: s + y}, replace={y: x})
    assert inputs == [x, t, s] and shared == [t, s] and [target for target, _ in pairs] == list(updates) == [s, t]
    assert as_string([x, s], [updates[s]]) == ["Elemwise{add,no_inplace}(s, x)"] and equiv[y] is x and outputs[1] is x
    _, _, (_, updates, _, shared) = rebuild_collect_shared(x * t, [x], no_default_updates=True)
    assert not updates and shared == [t]
    given, output, (equiv, *_) = rebuild_collect_shared(Out(x * t, borrow=True), [x], copy_inputs_over=False)
    assert given[0] is equiv[x] is not x and output.borrow and output.variable.owner.inputs[0] is given[0]
    assert given[1].get_value() == 2.0
    with pytest.raises(TypeError, match="keys must be Variables"):
        rebuild_collect_shared([x], replace={1: 2})


def test_a_default_update_of_a_variable_that_is_replaced_is_not_collected():
    s = pyscan.shared(1.0, name="s")
    s.default_update = s + 1.0
    stand_in = s.type("stand_in")
    _, _, (_, updates, _, shared) = rebuild_collect_shared(s * 2.0, [s], replace={s: stand_in})
    assert not updates and not shared


def test_an_update_placeholder_lets_an_input_be_overwritten_and_computes_nothing():
    x, m = at.dscalars("x", "m")
    f = pyscan.function([x, In(m, value=3.0, update=update_placeholder(m), mutable=True)], x + 1.0)
    assert len(f.maker.fgraph.outputs) == 1 and f.maker.fgraph.update_mapping == {}
    assert f(1.0) == 2.0 and f[m] == 3.0 and In(m, update=update_placeholder(m)).mutable


def test_cells_of_a_function_can_be_looked_at():
    x = at.dvector("x")
    s = pyscan.shared(np.ones(2), name="s")
    f = pyscan.function([x], x * s + 2.0)
    cells = {str(variable): cell for variable, cell in f.vm.storage_map.items()}
    assert cells["s"] is s.container.storage and cells["x"] == [None]
    assert f.vm.counters == f.counters and "mul" in f.vm.listing()
    other = pyscan.shared(np.zeros(2), name="r")
    swapped = f.copy(swap={s: other}).storage_map.values()
    assert any(cell is other.container.storage for cell in swapped) and not any(cell is s.container.storage for cell in swapped)
    vm = f.vm
    del f
    gc.collect()
    with pytest.raises(ReferenceError):
        vm.storage_map


def test_compiling_leaves_the_garbage_collector_as_it_was():
    import gc
    x = at.dscalar("x")
    for was_enabled in (False, True):
        (gc.enable if was_enabled else gc.disable)()
        try:
            pyscan.function([x], x + 1)
            with pytest.raises(TypeError):
                pyscan.function([x], "x")
            assert gc.isenabled() == was_enabled
        finally:
            gc.enable()


@pytest.mark.parametrize("first", [lambda y: y, lambda y: y + 1, lambda y: at.exp(y * 2)])
def test_givens_may_not_replace_what_an_earlier_one_is_computed_from(first):
    x, y, s = at.dscalars("x", "y", "s")
    with pytest.raises(AssertionError, match="Here, the old_v y is used to compute other new_v's, but it is scheduled to be replaced by s"):
        pyscan.function([s], x + y, givens={x: first(y), y: s})
    assert pyscan.function([s], x + y, givens=[(y, s), (x, first(y))])(0.0) == pyscan.function([y], first(y) + y)(0.0)


V, S = at.dvector("v"), at.dscalar("s")


@pytest.mark.parametrize("build, written", [
    (lambda: V + 1.0, lambda a: a + 1.0),
    (lambda: at.exp(V) * S, lambda a: np.exp(a) * 3.0),
    (lambda: [V * 2.0, V.sum()], lambda a: a * 2.0),
    (lambda: [at.sqr(V), at.sqr(V) + V[::-1]], lambda a: a),  # V is read again, after the square
    (lambda: (V + S).sum(), lambda a: a + 3.0),
    (lambda: V + V.sum() * 0.0 + at.ones(2), lambda a: a),  # the ones may be more than V is long
    (lambda: [V, V + 1.0], lambda a: a),
    (lambda: V > 1.0, lambda a: a),
    (lambda: at.cast(V, "float32"), lambda a: a),
])
def test_an_array_that_may_be_overwritten_takes_the_elementwise_result(build, written):
    made = build()
    wanted = pyscan.function([V, S], made, on_unused_input="ignore")(np.array([2.0, 0.5]), 3.0)
    for mode, is_written in (("FAST_RUN", True), ("FAST_COMPILE", False), (pyscan.get_default_mode().excluding("inplace"), False)):
        given = np.array([2.0, 0.5])
        got = pyscan.function([In(V, mutable=True), S], made, mode=mode, on_unused_input="ignore")(given, 3.0)
        for one, other in zip(got, wanted) if isinstance(wanted, list) else [(got, wanted)]:
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(given, written(np.array([2.0, 0.5])) if is_written else [2.0, 0.5])


def test_what_is_overwritten_is_neither_another_argument_nor_a_default():
    w = at.dvector("w")
    f = pyscan.function([In(V, mutable=True), w], [V + 1.0, w * 2.0])
    both = np.ones(3)
    assert [r.tolist() for r in f(both, both)] == [[2.0] * 3, [2.0] * 3]
    g = pyscan.function([In(V, mutable=True, value=np.zeros(2))], V + 1.0)
    assert [g().tolist() for _ in range(2)] == [[1.0, 1.0]] * 2
    frozen = np.ones(2)
    frozen.flags.writeable = False
    assert g(frozen).tolist() == [2.0, 2.0] and frozen.tolist() == [1.0, 1.0]

"""Variables, nodes, Ops and types, and the walks over them."""
import copy
import gc
import weakref

import numpy as np
import pytest
from graph_nodes import Node, Other, Plain, chain, constant, f, g, h, other, plain, variables

import pyscan
import pyscan.tensor as at
from pyscan.graph import (
    Apply, AtomicVariable, Constant, HasInnerGraph, MethodNotDefined, NominalVariable, NoParams, Op, Type, Variable, ancestors,
    applys_between, as_string, clone, clone_get_equiv, clone_replace, equal_computations, get_test_value, get_var_by_name, graph_inputs, io_toposort,
    is_in_ancestors, list_of_nodes, orphans_between, vars_between, view_roots, walk,
)

LINE_OF_ORIGIN = "leaf = plain('leaf')"


# --- variables ---

def test_a_variable_reads_as_its_name_or_as_the_output_it_is():
    x, = variables("x")
    two = Node("two", n_outputs=2)
    named = Node("named", default_output=0)
    assert (str(x), repr(x)) == ("x", "x")
    assert str(plain()) == "<Plain>"
    assert [str(v) for v in two(x)] == ["two.0", "two.1"]
    assert str(named(x)) == "named.out"


@pytest.mark.parametrize("arguments, message", [
    ((plain, 3), "owner must be an Apply instance"),
    ((plain, None, "a"), "index must be an int"),
    ((plain, None, None, 3), "name must be a string"),
])
def test_a_variable_refuses_what_cannot_belong_to_it(arguments, message):
    with pytest.raises(TypeError, match=message):
        Variable(*arguments)


def test_a_variable_is_equal_to_itself_alone_and_has_no_order():
    x, y = variables("x x")
    assert x == x and x != y and len({x, y}) == 2
    with pytest.raises(NotImplementedError) as caught:
        x < y
    assert caught.value.args == ("Subclasses of Variable must provide __lt__", "Variable")


def test_a_clone_is_a_leaf_of_the_same_type_name_and_tag():
    x, = variables("x")
    y = f(x)
    y.name, y.tag.note = "y", [1]
    copied = y.clone()
    assert (copied.type, copied.owner, copied.name) == (y.type, None, "y")
    assert copied.tag.note == [1]
    copied.tag.note = 2
    assert y.tag.note == [1]
    assert y.clone(name="z").name == "z"


def test_auto_names_are_numbered_and_names_can_be_taken_away():
    x, y = variables("x y")
    assert [v.auto_name.partition("_")[0] for v in (x, y)] == ["auto", "auto"]
    assert x.auto_name != y.auto_name
    x.name = None
    assert str(x) == "<Plain>"


def test_a_python_subclass_of_variable_is_cloned_by_its_constructor():
    class Mine(Variable):
        def __init__(self, type, owner, index=None, name=None):
            super().__init__(type, owner, index=index, name=name)
            self.made = True

    assert Mine(plain, None, name="m").clone().made


def test_origins_name_the_users_line():
    class Typed(Op):
        itypes, otypes = [plain], [plain]

    op = Typed()
    leaf = plain('leaf')
    node = op(leaf).owner
    for origin in (leaf.origin, node.origin):
        assert origin[0] == __file__
    assert open(__file__).read().splitlines()[leaf.origin[1] - 1].strip() == LINE_OF_ORIGIN
    assert node.origin[1] == leaf.origin[1] + 1
    assert node.outputs[0].origin is None


def test_scratchpads_hold_anything_and_copy():
    x, = variables("x")
    x.tag.a = 1
    assert str(x.tag) == "scratchpad{'a': 1}"
    assert copy.copy(x.tag).a == 1
    x.tag.clear()
    assert not hasattr(x.tag, "a")


# --- atomic variables ---

def test_constants_print_their_data_shortened():
    assert str(constant(3)) == "Constant{3}"
    assert str(constant("abcdefghijklmnopqrstu")) == "Constant{abcdefghij...lmnopqrstu}"
    assert str(constant(3, name="three")) == "three"


def test_a_type_may_say_how_its_constants_read():
    class Spelt(Plain):
        def constant_text(self, data):
            return f"<{data}>"

    assert str(Constant(Spelt(), 4)) == "Constant{<4>}"


def test_constants_have_no_owner_and_are_their_own_clone():
    c = constant(3)
    with pytest.raises(ValueError, match="Constant instances cannot have an owner."):
        c.owner = f(c).owner
    assert c.owner is None and c.clone() is c and c.value == c.data == 3


@pytest.mark.parametrize("a, b, equal", [
    (1.5, 1.5, True), (0.0, -0.0, False), (float("nan"), float("nan"), True), (1, 1.0, False), ("a", "a", True), (None, None, True),
    (np.array([0.0, np.nan]), np.array([0.0, np.nan]), True), (np.array([0.0]), np.array([-0.0]), False),
    (np.zeros(2), np.zeros(2, "float32"), False), (np.zeros((2, 1)), np.zeros((1, 2)), False), (np.float64(1), np.float64(1), True),
    ((1, 0.0), (1, -0.0), False), ((1, 2), (1, 2), True), ((1, 2), (1, 3), False), ((), (1,), False), (slice(1, 2), slice(1, 2), True), (complex(0, -0.0), complex(0, 0.0), False), (True, 1, False),
])
def test_constants_are_equal_bit_for_bit(a, b, equal):
    assert constant(a).equals(constant(b)) is equal


def test_constants_of_unequal_types_differ():
    assert not constant(1).equals(Constant(other, 1))


def test_nominal_variables_are_one_per_type_and_id():
    nominal = NominalVariable(0, plain)
    assert NominalVariable(0, Plain()) is nominal
    assert NominalVariable(1, plain) is not nominal and NominalVariable(0, other) is not nominal
    assert str(nominal) == "*0-<Plain>"
    assert repr(nominal).startswith("NominalVariable(0, ")
    assert nominal.clone() is nominal and copy.deepcopy(nominal) is nominal
    assert isinstance(nominal, AtomicVariable)


def test_nominal_variables_have_the_operators_of_their_types_variables():
    class Counted(Variable):
        def twice(self):
            return f(self, self)

    class CountedType(Plain):
        variable_type = Counted

    nominal = NominalVariable(0, CountedType())
    assert type(nominal).__name__ == "NominalCounted"
    assert isinstance(nominal.twice(), Variable)


# --- nodes ---

def test_a_node_owns_its_outputs():
    x, = variables("x")
    node = Node("two", n_outputs=2).make_node(x)
    assert [(v.owner, v.index) for v in node.outputs] == [(node, 0), (node, 1)]
    assert (node.nin, node.nout, str(node)) == (1, 2, "two(x)")
    assert node.get_parents() == [x] and node.outputs[0].get_parents() == [node]


def test_a_node_names_what_is_wrong_with_its_arguments():
    x, = variables("x")
    y = f(x)
    with pytest.raises(TypeError, match="The inputs of an Apply must be a sequence type"):
        Apply(f, x, [plain()])
    with pytest.raises(TypeError, match="The output of an Apply must be a sequence type"):
        Apply(f, [x], plain())
    with pytest.raises(TypeError, match="The 'inputs' argument to Apply must contain Variable instances, not 3"):
        Apply(f, [3], [plain()])
    with pytest.raises(TypeError, match="The 'outputs' argument to Apply must contain Variable instances with no owner, not 3"):
        Apply(f, [x], [3])
    with pytest.raises(ValueError, match="All output variables passed to Apply must belong to it."):
        Apply(f, [x], [y])
    assert y.owner.outputs == [y]


def test_a_refused_node_adopts_nothing():
    x, out = variables("x out")
    with pytest.raises(TypeError):
        Apply(f, [x], [out, 3])
    assert out.owner is None


@pytest.mark.parametrize("default_output, message", [
    (None, "two.default_output should be an output index."), ("a", "two.default_output should be an int or long"),
    (2, "two.default_output is out of range."), (10**30, "two.default_output is out of range."),
])
def test_a_node_without_a_usable_default_output_says_so(default_output, message):
    op = Node("two", n_outputs=2)
    op.default_output = default_output
    with pytest.raises(ValueError, match=message):
        op.make_node(*variables("x")).default_output()


def test_a_node_is_made_anew_for_inputs_of_other_types_only_when_asked_to():
    class Follow(Op):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

    x, z = variables("x z")
    node = Follow().make_node(x)
    assert node.clone_with_new_inputs([z]).inputs == [z]
    with pytest.raises(TypeError, match="Cannot convert Type Other .of Variable y. into Type Plain. You can try to manually convert y into a Plain."):
        node.clone_with_new_inputs([other("y")])
    assert node.clone_with_new_inputs([other("y")], strict=False).outputs[0].type == other


def test_params_are_passed_to_perform():
    class Scaled(Node):
        def get_params(self, node):
            return 3

        def perform(self, node, inputs, output_storage, params):
            output_storage[0][0] = inputs[0] * params

    x, = variables("x")
    node = Scaled("scaled").make_node(x)
    storage, computed = {x: [2], node.outputs[0]: [None]}, {node.outputs[0]: [False]}
    thunk = node.op.make_thunk(node, storage, computed, [])
    thunk()
    assert storage[node.outputs[0]] == [6] and computed[node.outputs[0]] == [True] and thunk.lazy is False
    assert f.make_node(x).run_params() is NoParams
    with pytest.raises(MethodNotDefined):
        f.get_params(None)


# --- Ops and types ---

def test_props_give_equality_hash_and_text():
    class Scaled(Op):
        __props__ = ("by", "name")

        def __init__(self, by, name):
            self.by, self.name = by, name

    a, b = Scaled(2, "x"), Scaled(2, "x")
    assert a == b and hash(a) == hash(b) and a != Scaled(3, "x")
    assert str(a) == "Scaled{by=2, name='x'}"
    assert a._props() == (2, "x") and a._props_dict() == {"by": 2, "name": "x"}


def test_without_props_an_op_is_equal_to_itself_alone():
    class Bare(Op):
        pass

    a = Bare()
    assert a == a and a != Bare() and str(a) == "Bare" and len({a, Bare()}) == 2
    with pytest.raises(AttributeError):
        a._props()


def test_props_of_a_subclass_win_over_a_parents_methods_but_not_over_its_own():
    class Parent(Op):
        def __str__(self):
            return "parent"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    class Child(Parent):
        __props__ = ("n",)

        def __init__(self, n):
            self.n = n

    class Special(Op):
        __props__ = ()

        def __str__(self):
            return "special"

        def __eq__(self, other):
            return False

    assert str(Child(1)) == "Child{n=1}" and Child(1) != Child(2)
    assert str(Special()) == "special" and Special() != Special() and hash(Special()) == hash(Special())


def test_props_must_be_a_tuple_of_strings():
    with pytest.raises(TypeError, match="__props__ has to be a tuple"):
        type("Wrong", (Op,), {"__props__": ["a"]})
    with pytest.raises(TypeError, match="elements of __props__ have to be strings"):
        type("Wrong", (Op,), {"__props__": (1,)})


def test_itypes_and_otypes_make_a_node():
    class Typed(Op):
        __props__ = ()
        itypes, otypes = [plain, other], [other]

    x, y, z = plain("x"), other("y"), plain("z")
    assert Typed()(x, y).type == other
    with pytest.raises(ValueError, match="We expected 2 inputs but got 1."):
        Typed()(x)
    with pytest.raises(TypeError, match="Invalid input types for Op Typed:\nInput 2/2: Expected Other, got Plain"):
        Typed()(x, z)
    with pytest.raises(NotImplementedError, match="You can either define itypes and otypes, or implement make_node"):
        Op()(x)


def test_a_call_gives_one_variable_or_a_list():
    x, = variables("x")
    two = Node("two", n_outputs=2)
    assert isinstance(f(x), Variable) and len(f(x, return_list=True)) == 1
    assert len(two(x)) == 2
    second = Node("two", n_outputs=2, default_output=1)
    assert second(x).index == 1 and [v.index for v in second(x, return_list=True)] == [1]


def test_a_make_node_that_returns_no_node_is_refused():
    class Wrong(Op):
        def make_node(self):
            return 3

    with pytest.raises(TypeError, match="must return an Apply, not 3"):
        Wrong()()


def test_types_convert_what_is_at_least_as_narrow():
    x = plain("x")
    assert plain.filter_variable(x) is x and plain.filter_variable(3).data == 3
    assert plain.is_super(Plain()) is True and plain.is_super(other) is None
    assert plain.in_same_class(Plain()) and not plain.in_same_class(other)
    with pytest.raises(TypeError, match="Cannot convert Type Other"):
        plain.filter_variable(other("y"))


def test_valid_values_are_those_that_filter_takes():
    class Numbers(Type):
        def filter(self, data, strict=False, allow_downcast=None):
            if not isinstance(data, int):
                raise TypeError("no number")
            return data

    assert Numbers().is_valid_value(3) and not Numbers().is_valid_value("a")
    assert Numbers.values_eq(1, 1) and Numbers.values_eq_approx(1, 1)
    with pytest.raises(NotImplementedError, match="must define filter"):
        Type().filter(3)


def test_an_op_with_inner_outputs_has_an_inner_graph():
    class Inner(Op):
        inner_outputs = ()

    assert isinstance(Inner(), HasInnerGraph) and not isinstance(f, HasInnerGraph)


# --- walks ---

@pytest.fixture
def diamond():
    x, y = variables("x y")
    a = f(x, y)
    b, c = g(a), h(a, y)
    return x, y, a, b, c, f(b, c)


def test_ancestors_come_depth_first(diamond):
    x, y, a, b, c, out = diamond
    assert list(ancestors([out])) == [out, b, a, x, y, c]
    assert list(ancestors([out], blockers=[a])) == [out, b, a, c, y]


def test_leaves_and_orphans_are_found(diamond):
    x, y, a, b, c, out = diamond
    assert list(graph_inputs([out])) == [x, y]
    assert list(orphans_between([x], [out])) == [y]
    assert set(vars_between([x, y], [out])) == {x, y, a, b, c, out}
    assert set(applys_between([a], [out])) == {b.owner, c.owner, out.owner}


def test_nodes_are_sorted_so_that_they_can_run(diamond):
    x, y, a, b, c, out = diamond
    assert io_toposort([x, y], [out]) == [a.owner, c.owner, b.owner, out.owner]
    assert io_toposort([a], [out]) == [c.owner, b.owner, out.owner]
    assert io_toposort([x, y], [out], {c.owner: [b.owner]}) == [a.owner, b.owner, c.owner, out.owner]


def test_a_cycle_is_refused_by_both_sorts(diamond):
    x, y, a, b, c, out = diamond
    with pytest.raises(ValueError, match="graph contains cycles"):
        io_toposort([x, y], [out], {a.owner: [out.owner]})
    a.owner.inputs[0] = out
    with pytest.raises(ValueError, match="graph contains cycles"):
        io_toposort([x, y], [out])


@pytest.mark.parametrize("function", [ancestors, graph_inputs])
@pytest.mark.parametrize("argument", [None, 3, [None], plain("x")])
def test_walks_refuse_what_is_no_sequence_of_variables(function, argument):
    with pytest.raises(TypeError, match="Variable"):
        function(argument)


def test_other_walks(diamond):
    x, y, a, b, c, out = diamond
    assert is_in_ancestors(out.owner, a.owner) and not is_in_ancestors(a.owner, out.owner)
    assert set(list_of_nodes([x, y], [out])) == {a.owner, b.owner, c.owner, out.owner}
    assert get_var_by_name([out], "y") == (y,) and get_var_by_name([out], a.auto_name) == (a,)
    assert list(walk([3], lambda n: range(n))) == [3, 0, 1, 2]
    shown = Node("view", viewed=[(0, 1)])
    assert view_roots(shown(x, shown(y, a))) == [a]


# --- copies ---

def test_clone_copies_leaves_unless_told_otherwise(diamond):
    x, y, a, b, c, out = diamond
    ins, outs = clone([x, y], [out])
    assert ins[0] is not x and str(ins) == "[x, y]" and equal_computations(outs, [out], ins, [x, y])
    ins, outs = clone([x, y], [out], copy_inputs=False)
    assert ins == [x, y] and outs[0] is not out and equal_computations(outs, [out])


def test_equiv_maps_variables_and_nodes_and_honours_a_memo(diamond):
    x, y, a, b, c, out = diamond
    z, = variables("z")
    memo = {a: z}
    equiv = clone_get_equiv([x, y], [out], memo=memo)
    assert equiv is memo and equiv[b].owner.inputs == [z] and equiv[out].owner is equiv[out.owner]


def test_clone_replace_puts_variables_in_others_places(diamond):
    x, y, a, b, c, out = diamond
    replaced = clone_replace(out, {a: f(a, x)})
    assert replaced is not out
    assert equal_computations([replaced], [f(g(f(a, x)), h(f(a, x), y))])
    assert list(graph_inputs([replaced])) == [x, y]
    with pytest.raises(ValueError, match="replace is neither a dictionary, list, tuple or None ! The value provided is 3,of type <class 'int'>"):
        clone_replace(out, 3)
    with pytest.raises(TypeError, match="Cannot convert Type Other"):
        clone_replace(out, {x: other("q")})


def test_equal_computations_looks_at_ops_inputs_and_constants(diamond):
    x, y, a, b, c, out = diamond
    assert equal_computations([f(x, constant(1))], [f(x, constant(1))])
    assert not equal_computations([f(x, constant(1))], [f(x, constant(2))])
    assert not equal_computations([f(x, y)], [f(y, x)]) and equal_computations([f(x, y)], [f(y, x)], [x, y], [y, x])
    assert not equal_computations([f(x)], [x]) and not equal_computations([f(x)], [g(x)])
    with pytest.raises(ValueError, match="must match"):
        equal_computations([x], [])


# --- text ---

def test_a_node_with_several_readers_is_written_once(diamond):
    x, y, a, b, c, out = diamond
    assert as_string([x, y], [out]) == ["f(g(*1 -> f(x, y)), h(*1, y))"]
    assert as_string([a], [out]) == ["f(g(f.0), h(f.0, y))"]
    two = Node("two", n_outputs=2)(x)
    assert as_string([x], [g(two[0], two[1])]) == ["g(*1 -> two(x), *1::1)"]


def test_formatters_shape_the_text(diamond):
    x, y, a, b, c, out = diamond
    text, = as_string([x, y], [b], lambda leaf: f"<{leaf}>", lambda node, texts: f"{node.op}[{'|'.join(texts)}]")
    assert text == "g[f[<x>|<y>]]"


# --- memory ---

def test_graphs_that_nobody_holds_are_collected():
    x, = variables("x")
    variable = chain(50, x)
    gone = [weakref.ref(v) for v in ancestors([variable])] + [weakref.ref(n) for n in applys_between([x], [variable])]
    variable.tag.itself = variable
    del x, variable
    gc.collect()
    assert not [ref for ref in gone if ref() is not None]


def test_a_collected_op_class_and_its_instances_leave_nothing_behind():
    class Passing(Node):
        pass

    op = Passing("passing")
    gone = [weakref.ref(Passing), weakref.ref(op), weakref.ref(op(plain("x")).owner)]
    del Passing, op
    gc.collect()
    assert not [ref for ref in gone if ref() is not None]


def test_other_is_not_plain():
    assert Other() != Plain() and Plain() == plain


def test_test_values_are_those_of_constants_shared_variables_and_tags():
    x = at.dvector("x")
    with pytest.raises(pyscan.errors.TestValueError, match="^x has no test value$"):
        get_test_value(x)
    x.tag.test_value = np.arange(2.0)
    assert get_test_value(x) is x.tag.test_value
    assert get_test_value(at.constant(3)) == get_test_value(3) == 3 and get_test_value(pyscan.shared(2.5)) == 2.5

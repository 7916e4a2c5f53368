"""The table of Aesara's names: everything in it can be imported, what is absent refuses when it is used, and nothing else passes."""
import importlib
import pickle
import re
import sys
import types

import pytest

import pyscan
from pyscan import names
from pyscan.names_table import ABSENT, MODULES


@pytest.fixture
def stand_in():
    """A root name of its own, taken out of the process again."""
    pyscan.install_as("aesara_stand_in")
    yield "aesara_stand_in"
    names.uninstall("aesara_stand_in")


def test_every_module_is_a_real_module(stand_in):
    for path in names._module_paths():
        full = f"{stand_in}.{path}" if path else stand_in
        module = importlib.import_module(full)
        assert isinstance(module, types.ModuleType) and sys.modules[full] is module and module.__name__ == module.__spec__.name == full


def test_every_row_of_the_table_names_something_that_is_there():
    missing = []
    for path in MODULES:
        for module, own, here in names._sources(path):
            source = importlib.import_module(module)
            if own is not None and not hasattr(source, own):
                missing.append(f"{path}: {module}:{own}")
    assert missing == []


def test_nothing_is_both_present_and_absent():
    assert [f"{path}.{name}" for path, rows in names._ABSENT.items() for name in rows if names._present(path, name) is not names._MISSING] == []


def test_every_absent_row_says_what_it_is_and_what_comes_nearest():
    assert all(what and nearest.endswith(".") for what, nearest, _ in ABSENT)


@pytest.mark.parametrize("statement, value", [
    ("from {0} import function as got", lambda: pyscan.function),
    ("from {0}.tensor.random.utils import RandomStream as got", lambda: pyscan.tensor.random.RandomStream),
    ("from {0}.graph.fg import FunctionGraph as got", lambda: pyscan.FunctionGraph),
    ("from {0}.graph.basic import Apply as got", lambda: pyscan.Apply),
    ("from {0}.graph.op import Op as got", lambda: pyscan.Op),
    ("from {0}.graph.type import Type as got", lambda: pyscan.Type),
    ("from {0}.graph.utils import MissingInputError as got", lambda: pyscan.graph.MissingInputError),
    ("from {0}.graph.features import ReplaceValidate as got", lambda: pyscan.features.ReplaceValidate),
    ("from {0}.graph.destroyhandler import DestroyHandler as got", lambda: pyscan.features.DestroyHandler),
    ("from {0}.compile.function.types import Supervisor as got", lambda: pyscan.features.Supervisor),
    ("from {0}.compile.function.types import UnusedInputError as got", lambda: pyscan.errors.UnusedInputError),
    ("from {0}.compile.io import In as got", lambda: pyscan.In),
    ("from {0}.compile import Out as got", lambda: pyscan.Out),
    ("from {0}.compile.mode import get_default_mode as got", lambda: pyscan.get_default_mode),
    ("from {0}.compile.sharedvalue import SharedVariable as got", lambda: pyscan.SharedVariable),
    ("from {0}.configdefaults import config as got", lambda: pyscan.config),
    ("from {0}.link.basic import Container as got", lambda: pyscan.sharedvalue.Container),
    ("from {0}.scan import scan as got", lambda: pyscan.scan),
    ("from {0}.scan import until as got", lambda: pyscan.until),
    ("from {0}.scan.utils import until as got", lambda: pyscan.until),
    ("from {0}.scan.basic import scan as got", lambda: pyscan.scan),
    ("from {0}.scan.op import Scan as got", lambda: sys.modules["pyscan.scan_op"].Scan),
    ("from {0}.scan.op import ScanInfo as got", lambda: sys.modules["pyscan.scan_op"].ScanInfo),
    ("from {0}.updates import OrderedUpdates as got", lambda: pyscan.OrderedUpdates),
    ("from {0}.ifelse import ifelse as got", lambda: pyscan.ifelse.ifelse),
    ("from {0}.printing import Print as got", lambda: pyscan.printing.Print),
    ("from {0}.tensor.type import TensorType as got", lambda: pyscan.tensor.TensorType),
    ("from {0}.tensor.shape import unbroadcast as got", lambda: sys.modules["pyscan.tensor.shape"].unbroadcast),
    ("from {0}.tensor.random.type import random_generator_type as got", lambda: pyscan.tensor.random.random_generator_type),
    ("import {0}.tensor; got = {0}.tensor.Op", lambda: pyscan.graph.Op),
    ("import {0}; got = {0}.scan", lambda: pyscan.scan),
    ("import {0}; got = {0}.tensor.exp", lambda: pyscan.tensor.exp),
    ("import {0}; got = {0}.ifelse.ifelse", lambda: pyscan.ifelse.ifelse),
    ("import {0}.tensor as at; got = at.random.RandomStream", lambda: pyscan.tensor.random.RandomStream),
])
def test_dotted_names_give_pyscans_objects(stand_in, statement, value):
    scope = {}
    exec(statement.format(stand_in), scope)
    assert scope["got"] is value()


@pytest.mark.parametrize("module, some, without", [
    ("graph.basic", "Apply Constant NominalVariable Variable ancestors clone_replace graph_inputs io_toposort", "Any annotations sum"),
    ("graph.features", "Feature History NodeFinder PreserveVariableAttributes ReplaceValidate", "annotations"),
    ("graph.fg", "FunctionGraph", "Any"),
    ("tensor.math", "exp dot sum max abs any log gammaln", "annotations"),
    ("tensor.basic", "arange as_tensor eye stack zeros", "sum max abs any round"),
    ("tensor.type", "TensorType dvector fmatrix iscalar", "annotations"),
    ("tensor.random.utils", "RandomStream", "Any"),
    ("compile", "In Out Mode function shared", "annotations"),
    ("gradient", "grad jacobian", "sum"),
    ("scan", "scan map foldl reduce until", "sum"),
    ("", "function shared In Out Mode scan config tensor compile clone_replace", "sum"),
    ("tensor", "random", "sum exp"),
])
def test_a_star_import_gives_the_names_of_the_module(stand_in, module, some, without):
    scope = {}
    exec(f"from {stand_in}{'.' + module if module else ''} import *", scope)
    assert set(some.split()) - scope.keys() == set() and set(without.split()) & scope.keys() == set()


def test_the_scan_module_does_not_hide_the_function(stand_in):
    root = importlib.import_module(stand_in)
    assert importlib.import_module(f"{stand_in}.scan.utils").until is pyscan.until
    assert root.scan is pyscan.scan and isinstance(sys.modules[f"{stand_in}.scan"], types.ModuleType)


def test_absent_names_import_and_refuse_when_used(stand_in):
    scope = {}
    exec(f"from {stand_in} import grad\nfrom {stand_in}.gradient import grad_undefined\nimport {stand_in}.sparse as sparse\n"
         f"from {stand_in}.compile.debugmode import DebugMode\nimport {stand_in}.tensor.nnet", scope)
    for use in (lambda: scope["grad"](1), lambda: scope["DebugMode"].something, lambda: scope["sparse"].csr_matrix("x"),
                lambda: types.new_class("Own", (scope["DebugMode"],))):
        with pytest.raises(NotImplementedError, match="is not part of pyscan"):
            use()
    with pytest.raises(NotImplementedError, match="aesara.grad is not part of pyscan"):
        scope["grad"]()
    assert not isinstance(3, scope["DebugMode"]) and not hasattr(scope["grad"], "anything")
    assert pickle.loads(pickle.dumps(scope["grad"])).__name__ == "grad"


def test_absent_exceptions_can_stand_in_an_except_clause(stand_in):
    from_gradient = importlib.import_module(f"{stand_in}.gradient").NullTypeGradError
    try:
        raise ValueError("mine")
    except from_gradient:
        raise AssertionError("caught by an exception that is never raised")
    except ValueError:
        pass


@pytest.mark.parametrize("statement, kind, text", [
    ("from {0}.tensor import floorr", ImportError, "cannot import name 'floorr' from '{0}.tensor' (pyscan in the place of aesara); the closest name there is 'floor'"),
    ("from {0} import fonction", ImportError, "cannot import name 'fonction' from '{0}' (pyscan in the place of aesara); the closest name there is 'function'"),
    ("import {0}.tensr", ModuleNotFoundError, "No module named '{0}.tensr'; the closest name there is 'tensor'"),
    ("import {0}; {0}.tensor.floorr", AttributeError, "module '{0}.tensor' has no attribute 'floorr'; the closest name there is 'floor'"),
    ("import {0}; {0}.zzz", AttributeError, "module '{0}' has no attribute 'zzz'"),
])
def test_unknown_names_fail_with_the_closest_one(stand_in, statement, kind, text):
    with pytest.raises(kind, match=re.escape(text.format(stand_in))) as caught:
        exec(statement.format(stand_in), {})
    assert type(caught.value) is kind


def test_a_call_of_import_leaves_out_names_that_are_not_there(stand_in):
    assert __import__(f"{stand_in}.graph.basic", fromlist=["nothing"]) is importlib.import_module(f"{stand_in}.graph.basic")


def test_looking_for_a_module_that_is_not_there_finds_nothing(stand_in):
    importlib.import_module(stand_in)
    assert importlib.util.find_spec(f"{stand_in}.nothing") is None
    assert importlib.util.find_spec(f"{stand_in}.tensor") is not None


def test_dir_lists_what_can_be_taken(stand_in):
    module = importlib.import_module(f"{stand_in}.tensor")
    assert {"exp", "random", "dvector", "nnet"} <= set(dir(module))


def test_installing_twice_is_once_and_a_loaded_package_is_not_replaced(stand_in):
    count = len(sys.meta_path)
    pyscan.install_as(stand_in)
    assert len(sys.meta_path) == count
    with pytest.raises(RuntimeError, match="json has been imported from"):
        pyscan.install_as("json")
    with pytest.raises(ValueError):
        pyscan.install_as("a.b")


def test_pyscan_itself_answers_aesaras_top_names():
    import pyscan as aesara
    assert aesara.compile.SharedVariable is pyscan.SharedVariable
    with pytest.raises(NotImplementedError):
        aesara.grad(1, 2)
    with pytest.raises(AttributeError, match="module 'pyscan' has no attribute 'functoin'"):
        aesara.functoin


def test_every_distribution_is_a_name_of_the_random_module():
    for row in pyscan._core.dists():
        assert hasattr(pyscan.tensor.random, row["name"]), row["name"]

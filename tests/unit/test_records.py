"""Records: what they share with dataclasses."""
import copy
import dataclasses
import inspect
import pickle

import pytest

from pyscan.explain import Finding
from pyscan.records import FrozenRecord, Record
from pyscan.scan_op import ScanInfo


class Entry(Record):
    name: str
    count: int = 3
    items: list = list


@dataclasses.dataclass
class Twin:
    name: str
    count: int = 3
    items: list = dataclasses.field(default_factory=list)


@pytest.mark.parametrize("values, named", [(("a",), {}), (("a", 4), {"items": [1]}), ((), {"items": [], "name": "b"})])
def test_records_are_made_and_shown_as_dataclasses_are(values, named):
    entry, twin = Entry(*values, **named), Twin(*values, **named)
    assert vars(entry) == vars(twin) and repr(entry) == repr(twin).replace("Twin", "Entry")
    assert entry == Entry(*values, **named) and entry != twin and entry != Entry("other")
    assert [(f.name, f.default) for f in dataclasses.fields(entry)] == [(f.name, f.default) for f in dataclasses.fields(twin)]
    assert dataclasses.asdict(entry) == dataclasses.asdict(twin)


@pytest.mark.parametrize("values, named", [((), {}), (("a", 1, [], 2), {}), (("a",), {"name": "b"}), (("a",), {"nosuch": 1})])
def test_wrong_fields_are_refused(values, named):
    for cls in (Entry, Twin):
        with pytest.raises(TypeError):
            cls(*values, **named)


def test_defaults_are_new_each_time_and_entries_can_change():
    a, b = Entry("a"), Entry("a")
    a.items.append(1)
    a.count = 5
    assert (a.items, a.count, b.items, b.count) == ([1], 5, [], 3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_frozen_records_are_keys_and_stay():
    info = ScanInfo(1, (), (), [[-2, -1]], ((-1,),), 1, 0, 2, False)
    assert info.mit_sot_in_slices == ((-2, -1),) and {info: 1}[ScanInfo(1, (), (), ((-2, -1),), ((-1,),), 1, 0, 2, False)] == 1
    for change in (lambda: setattr(info, "n_seqs", 2), lambda: delattr(info, "n_seqs")):
        with pytest.raises(AttributeError, match="n_seqs"):
            change()
    for same in (pickle.loads(pickle.dumps(info)), copy.deepcopy(info), dataclasses.replace(info), info.__replace__()):
        assert same == info and type(same) is ScanInfo and hash(same) == hash(info)
    assert dataclasses.replace(info, n_seqs=4) == info.__replace__(n_seqs=4) != info
    assert dataclasses.is_dataclass(info) and issubclass(ScanInfo, FrozenRecord)


def test_signatures_and_fields_belong_to_each_class():
    assert list(inspect.signature(Record).parameters) == list(inspect.signature(FrozenRecord).parameters) == []
    assert str(inspect.signature(Finding)) == (
        "(kind: 'str', what: 'str', where: 'tuple[str, ...]', in_place: 'bool', refusals: 'tuple[str, ...]' = (), note: 'str' = '')"
    )
    assert list(inspect.signature(ScanInfo).parameters) == [field.name for field in dataclasses.fields(ScanInfo)]

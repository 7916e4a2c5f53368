"""pyscan.saving: objects in zip files, whose arrays numpy.load reads."""
import io
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.saving import StripPickler, dump, load


def test_arrays_are_called_as_their_shared_variables_and_come_back_shared():
    file, plain = io.BytesIO(), np.arange(3)
    named = [pyscan.shared(np.full(2, i), name="w") for i in range(2)]
    dump({"named": named, "unnamed": pyscan.shared(np.zeros((2, 2))), "plain": [plain, plain], "objects": np.array([None])}, file)
    file.seek(0)
    arrays = np.load(file)
    assert sorted(arrays) == ["array_0", "array_1", "pkl", "w", "w_2"]
    assert (arrays["w"].tolist(), arrays["w_2"].tolist()) == ([0, 0], [1, 1])
    loaded = load(file)
    assert [w.get_value().tolist() for w in loaded["named"]] == [[0, 0], [1, 1]] and [w.name for w in loaded["named"]] == ["w", "w"]
    assert loaded["plain"][0] is loaded["plain"][1] and loaded["plain"][0].tolist() == [0, 1, 2] and loaded["objects"].tolist() == [None]


def test_a_sampler_goes_on_where_it_was_saved(tmp_path):
    stream, start = at.random.RandomStream(3), pyscan.shared(np.zeros(2), name="start")
    path, updates = pyscan.scan(lambda x: x + stream.normal(size=2), outputs_info=[start], n_steps=3)
    f = pyscan.function([], path, updates={**updates, start: path[-1]})
    f()
    dump((f, start), tmp_path / "sampler.zip")
    g, copied = load(tmp_path / "sampler.zip")
    np.testing.assert_array_equal(np.load(tmp_path / "sampler.zip")["start"], start.get_value())
    np.testing.assert_array_equal(g(), f())
    np.testing.assert_array_equal(copied.get_value(), start.get_value())


def test_pickles_for_which_nothing_is_stripped():
    file = io.BytesIO()
    StripPickler(file, protocol=2, extra_tag_to_remove=["trace"]).dump(at.dvector("x"))
    assert pickle.loads(file.getvalue()).name == "x"
    with pytest.raises((pickle.PicklingError, AttributeError)):
        dump(lambda: None, io.BytesIO())

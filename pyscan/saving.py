"""Saving to a zip file, in which arrays lie beside the pickle under the names of their shared variables.

Relies on: _core (SharedVariable). Relied on by: names.
"""
from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any, BinaryIO

import numpy as np

from pyscan._core import SharedVariable

__all__ = ["StripPickler", "dump", "load"]

_PICKLE = "pkl"


class StripPickler(pickle.Pickler):
    """A pickler under Aesara's name: variables keep nothing here that had to be stripped. `extra_tag_to_remove` is accepted."""

    def __init__(self, file: BinaryIO, protocol: int | None = None, extra_tag_to_remove: Any = None) -> None:
        super().__init__(file, protocol)


class _Pickler(pickle.Pickler):
    """Leaves arrays to the zip file: `names` has one for each array met, by its id, and keeps the array."""

    def __init__(self, file: BinaryIO, protocol: int | None, archive: zipfile.ZipFile) -> None:
        super().__init__(file, protocol)
        self._archive = archive
        self._wanted: dict[int, str] = {}  # of values of shared variables with a name
        self._written: dict[int, tuple[str, Any]] = {}  # the arrays are kept, so that no other gets their id
        self._taken = {_PICKLE}

    def persistent_id(self, obj: Any) -> str | None:
        if isinstance(obj, SharedVariable) and obj.name:
            self._wanted.setdefault(id(obj.container.storage[0]), obj.name)
        if type(obj) is not np.ndarray or obj.dtype.hasobject:
            return None
        if id(obj) not in self._written:
            name = self._free_name(self._wanted.get(id(obj)))
            content = io.BytesIO()
            np.lib.format.write_array(content, obj, allow_pickle=False)
            self._archive.writestr(name, content.getvalue())
            self._written[id(obj)] = name, obj
        return self._written[id(obj)][0]

    def _free_name(self, wanted: str | None) -> str:
        count = 1 if wanted else 0
        name = wanted or "array_0"
        while name in self._taken:
            count += 1
            name = f"{wanted or 'array'}_{count}"
        self._taken.add(name)
        return name


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, archive: zipfile.ZipFile) -> None:
        super().__init__(file)
        self._archive, self._arrays = archive, {}

    def persistent_load(self, pid: Any) -> Any:
        if pid not in self._arrays:
            self._arrays[pid] = np.lib.format.read_array(io.BytesIO(self._archive.read(pid)), allow_pickle=False)
        return self._arrays[pid]


def dump(obj: Any, file_handler: Any, protocol: int | None = None) -> None:
    """Pickle `obj` into a zip file, open for writing or a path: `numpy.load` reads its arrays by the names of shared variables.

    Arrays of shared variables without a name, and others, are called array_0, array_1, ...; of several with one name the later
    are called name_2, name_3, ... What can't be pickled raises what `pickle` raises. After Aesara's function of that name.

    >>> import io, numpy as np, pyscan
    >>> file = io.BytesIO()
    >>> dump([pyscan.shared(np.ones(2), name="w"), np.zeros(1)], file)
    >>> _ = file.seek(0)
    >>> arrays = np.load(file)
    >>> arrays["w"], sorted(arrays)
    (array([1., 1.]), ['array_0', 'pkl', 'w'])
    >>> load(file)[0].get_value()
    array([1., 1.])
    """
    with zipfile.ZipFile(file_handler, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        content = io.BytesIO()
        _Pickler(content, protocol, archive).dump(obj)
        archive.writestr(_PICKLE, content.getvalue())


def load(f: Any) -> Any:
    """What `dump` saved in the file, open for reading or a path. As with every pickle, load only what you trust."""
    with zipfile.ZipFile(f, "r") as archive:
        return _Unpickler(io.BytesIO(archive.read(_PICKLE)), archive).load()

"""Types beside tensors that index expressions need: slices and None.

Relies on `variable`. Relied on by `subtensor` and `shape`.
"""

from __future__ import annotations

from pyscan._core import Apply, Constant, Op, Type, Variable


class SliceType(Type):
    """The type of slice objects."""

    def filter(self, data, strict=False, allow_downcast=None):
        if isinstance(data, slice):
            return data
        raise TypeError(f"Expected a slice, got {data!r}")

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(SliceType)

    def __str__(self):
        return "slice"


slicetype = SliceType()


class NoneTypeT(Type):
    """The type whose only value is None."""

    def filter(self, data, strict=False, allow_downcast=None):
        if data is None:
            return data
        raise TypeError(f"Expected None, got {data!r}")

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(NoneTypeT)

    def __str__(self):
        return "NoneTypeT"


none_type_t = NoneTypeT()
NoneConst = Constant(none_type_t, None, name="NoneConst")


class SliceConstant(Constant):
    """A slice whose parts are known."""

    def __str__(self):
        if self.name is not None:
            return self.name
        return f"SliceConstant{{{self.data.start}, {self.data.stop}, {self.data.step}}}"


SliceType.constant_type = SliceConstant


class MakeSlice(Op):
    """(start, stop, step), each an integer or None -> slice. Indexing reads the parts; the slice itself is made where something else needs it."""

    kind = "make_slice"
    __props__ = ()

    def make_node(self, start, stop=None, step=None):
        from pyscan.tensor.variable import as_tensor_variable

        parts = []
        for part in (start, stop, step):
            if part is None:
                part = NoneConst
            elif not isinstance(part, Variable) or not isinstance(part.type, NoneTypeT):
                part = as_tensor_variable(part)
                if part.type.ndim != 0 or part.type.numpy_dtype.kind not in "iu":
                    raise TypeError("Expected an integer")
            parts.append(part)
        return Apply(self, parts, [slicetype()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = slice(*(None if part is None else int(part) for part in inputs))


def make_slice(a):
    """The variable of slice type for a Python slice, whose parts may be symbolic."""
    return _make_slice(a.start, a.stop, a.step)


_make_slice = MakeSlice()

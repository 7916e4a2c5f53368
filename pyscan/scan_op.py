"""The Scan Op: a loop as one node, with the graph of one step inside; and ScanInfo, which says what its lists hold.

Order of the lists (states of earlier steps are "mit-mot", "mit-sot" and "sit-sot" by the number of their taps, paths that
are not fed back "nit-sot", carried generators "shared"):

    inner inputs    sequences, mit-mot taps, mit-sot taps, sit-sot, shared, non-sequences
    inner outputs   mit-mot, mit-sot, sit-sot, nit-sot, shared, the condition if there is one
    outer inputs    number of steps, sequences, mit-mot, mit-sot, sit-sot, shared, nit-sot lengths, non-sequences
    outer outputs   mit-mot, mit-sot, sit-sot, nit-sot, shared

Relies on: _core, tensor types. Relied on by: scan, function, printing, and the scan passes of the core (`info`, `fgraph`,
`compiled_fgraph`, `destroy_map`, `rebuild`, `with_destroy_map`).
"""
from __future__ import annotations

from types import SimpleNamespace

from pyscan._core import (
    Apply,
    Constant,
    FunctionGraph,
    InconsistencyError,
    MissingInputError,
    NominalVariable,
    NoOutputFromInplace,
    Op,
    PreserveVariableAttributes,
    SharedVariable,
    Supervisor,
    Variable,
)
from pyscan.graph import clone_replace, equal_computations, graph_inputs
from pyscan.records import FrozenRecord
from pyscan.tensor.basic import as_tensor_variable, cast
from pyscan.tensor.random import RandomType
from pyscan.tensor.type import TensorType

__all__ = ["Scan", "ScanInfo"]


# What the lists hold


class ScanInfo(FrozenRecord):
    """How many of each kind of input and output a loop has, and the taps of its states (Aesara's class of that name).

    >>> info = ScanInfo(1, (), (), ((-2, -1),), ((-1,),), 1, 0, 2, False)
    >>> info.n_inner_inputs, info.n_inner_outputs, info.n_outer_inputs, info.n_outer_outputs
    (6, 3, 7, 3)
    """

    n_seqs: int
    mit_mot_in_slices: tuple
    mit_mot_out_slices: tuple
    mit_sot_in_slices: tuple
    sit_sot_in_slices: tuple
    n_nit_sot: int
    n_shared_outs: int
    n_non_seqs: int
    as_while: bool

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        for name, value in self.__dict__.items():
            if name.endswith("_slices"):
                self.__dict__[name] = tuple(tuple(int(tap) for tap in taps) for taps in value)

    @property
    def n_mit_mot(self) -> int:
        return len(self.mit_mot_in_slices)

    @property
    def n_mit_mot_outs(self) -> int:
        return sum(map(len, self.mit_mot_out_slices))

    @property
    def n_mit_sot(self) -> int:
        return len(self.mit_sot_in_slices)

    @property
    def n_sit_sot(self) -> int:
        return len(self.sit_sot_in_slices)

    @property
    def n_recurrent(self) -> int:
        """The outputs that are tensors with a state: mit-mot, mit-sot and sit-sot."""
        return self.n_mit_mot + self.n_mit_sot + self.n_sit_sot

    @property
    def tap_array(self) -> tuple:
        """The taps of every recurrent output, in order."""
        return self.mit_mot_in_slices + self.mit_sot_in_slices + self.sit_sot_in_slices

    # The lists as (section, length), in order.

    @property
    def inner_input_sections(self):
        return (
            ("seqs", self.n_seqs),
            ("mitmot", sum(map(len, self.mit_mot_in_slices))),
            ("mitsot", sum(map(len, self.mit_sot_in_slices))),
            ("sitsot", self.n_sit_sot),
            ("shared", self.n_shared_outs),
            ("non_seqs", self.n_non_seqs),
        )

    @property
    def inner_output_sections(self):
        return (
            ("mitmot", self.n_mit_mot_outs),
            ("mitsot", self.n_mit_sot),
            ("sitsot", self.n_sit_sot),
            ("nitsot", self.n_nit_sot),
            ("shared", self.n_shared_outs),
            ("while", int(self.as_while)),
        )

    @property
    def outer_input_sections(self):
        return (
            ("n_steps", 1),
            ("seqs", self.n_seqs),
            ("mitmot", self.n_mit_mot),
            ("mitsot", self.n_mit_sot),
            ("sitsot", self.n_sit_sot),
            ("shared", self.n_shared_outs),
            ("nitsot", self.n_nit_sot),
            ("non_seqs", self.n_non_seqs),
        )

    @property
    def outer_output_sections(self):
        return (
            ("mitmot", self.n_mit_mot),
            ("mitsot", self.n_mit_sot),
            ("sitsot", self.n_sit_sot),
            ("nitsot", self.n_nit_sot),
            ("shared", self.n_shared_outs),
        )

    @property
    def n_inner_inputs(self) -> int:
        return _total(self.inner_input_sections)

    @property
    def n_inner_outputs(self) -> int:
        return _total(self.inner_output_sections)

    @property
    def n_outer_inputs(self) -> int:
        return _total(self.outer_input_sections)

    @property
    def n_outer_outputs(self) -> int:
        return _total(self.outer_output_sections)


def _total(sections) -> int:
    return sum(length for _, length in sections)


def section_range(sections, name) -> range:
    """The positions that one section of a list takes."""
    start = 0
    for section, length in sections:
        if section == name:
            return range(start, start + length)
        start += length
    raise KeyError(name)


# Messages about states


_COMPILING = "When compiling the inner function of scan "
_EACH_ITERATION = "(the function called by scan in each of its iterations) "
_ENCOUNTERED = "the following error has been encountered: "


def check_state_result(outer, number, result, whose=""):
    """ValueError when what the step returns has another dtype or rank than a row of the state's buffer `outer`.

    `number` counts outer inputs after the number of steps; `whose` is added to the message: the user's name for the state.
    """
    state = f"The initial state (`outputs_info` in scan nomenclature) of variable {outer} (argument number {number}) has "
    if result.type.dtype != outer.type.dtype:
        raise ValueError(
            f"{_COMPILING}{_ENCOUNTERED}{state}dtype {outer.type.dtype}, while the result of the inner function (`fn`) has "
            f"dtype {result.type.dtype}. This can happen if the inner function of scan results in an upcast or downcast.{whose}"
        )
    if result.type.ndim != outer.type.ndim - 1:
        raise ValueError(
            f"{_COMPILING}{_EACH_ITERATION}{_ENCOUNTERED}{state}{outer.type.ndim} dimension(s), while the corresponding variable "
            f"in the result of the inner function of scan (`fn`) has {result.type.ndim} dimension(s) (it should be one less "
            "than the initial state). For example, when `fn` returns a vector, what it starts from is a matrix here, with one "
            f"row for each past step that `fn` reads.{whose}"
        )


def _check_state_input(outer, number, inner):
    """ValueError when the inner variable does not have the dtype and rank of a row of the state's buffer."""
    if inner.type.dtype == outer.type.dtype and inner.type.ndim == outer.type.ndim - 1:
        return
    raise ValueError(
        f"{_COMPILING}{_EACH_ITERATION}{_ENCOUNTERED}The initial state (outputs_info in scan nomenclature)  {outer} (argument "
        f"number {number}) has dtype {outer.type.dtype} and {outer.type.ndim} dimension(s). The corresponding variable in the "
        f"inner function of scan {inner} however has dtype {inner.type.dtype} and {inner.type.ndim} dimension(s). It should "
        "have one dimension less than the state, which holds one row for each past step."
    )


def _check_sequence(outer, inner):
    """TypeError when an axis is of static length 1 in the sequence and not in its slice, or the other way round."""
    if not isinstance(outer.type, TensorType):
        return
    for axis, (length, sliced) in enumerate(zip(outer.type.shape[1:], inner.type.shape)):
        if (length == 1) != (sliced == 1):
            raise TypeError(
                f"The broadcast pattern of the output of scan ({outer.type}) is inconsistent with the one provided in "
                f"`output_info` ({inner.type}). The output on axis {axis + 1} is `{length == 1}`, but it is `{sliced == 1}` on "
                f"axis {axis} in `output_info`. This can happen if one of the dimension is fixed to 1 in the input, while it is "
                "still variable in the output, or vice-verca. You have to make them consistent, e.g. using "
                "aesara.tensor.{unbroadcast, specify_broadcastable}."
            )


def _fit(outer, inner):
    """The outer variable, cast and checked so that its rows (or it itself, at equal rank) go into the inner variable."""
    if not isinstance(inner.type, TensorType):
        return outer
    if outer.type.dtype != inner.type.dtype:
        outer = cast(outer, inner.type.dtype)
    if outer.type.ndim == inner.type.ndim:
        return inner.type.filter_variable(outer)
    return TensorType(inner.type.dtype, (*outer.type.shape[:1], *inner.type.shape)).filter_variable(outer)


# The inner graph


def nominal_graph(inputs, outputs) -> FunctionGraph:
    """The graph of a step with nominal variables, numbered by position, for its inputs.

    MissingInputError when the outputs need another variable; TypeError when an input is a constant or shared.
    """
    for variable in inputs:
        if not isinstance(variable, Variable) or isinstance(variable, (Constant, SharedVariable)):
            raise TypeError(f"Inputs and outputs must be non-Constant/shared Variable instances; got {variable}")
    known = set(inputs)
    free = [v for v in graph_inputs(outputs, inputs) if v not in known and not isinstance(v, Constant)]
    shared = [v for v in free if isinstance(v, SharedVariable)]
    if shared:
        raise MissingInputError(f"Scan is missing inputs: {shared}")
    if free:
        raise MissingInputError(f"OpFromGraph is missing an input: {free[0]}")
    nominals = [NominalVariable(i, variable.type) for i, variable in enumerate(inputs)]
    return FunctionGraph(nominals, clone_replace(outputs, replace=dict(zip(inputs, nominals))), clone=False)


def _refuse_destroyers(graph):
    for node in graph.apply_nodes:
        if node.op.destroy_map:
            raise InconsistencyError("Inner-graphs must not contain in-place operations.")


def _structural_hash(graph) -> int:
    """Equal for graphs that do the same; cheap: one visit of each node, constants by their types alone."""
    numbers = {variable: hash((i, variable.type)) for i, variable in enumerate(graph.inputs)}

    def number(variable):
        return numbers[variable] if variable in numbers else hash(variable.type)

    for node in graph.toposort():
        node_hash = hash((node.op, *map(number, node.inputs)))
        numbers.update((output, hash((node_hash, i))) for i, output in enumerate(node.outputs))
    return hash(tuple(map(number, graph.outputs)))


def _places(graph) -> tuple:
    """Where each node of the graph was written and what its outputs are called: what an error in a step tells of it."""
    return tuple(
        (node.origin, *(output.name for output in node.outputs), node.op.places() if isinstance(node.op, Scan) else None)
        for node in graph.toposort()
    )


# The Op


def _section(list_name, section, doc):
    """A method that cuts one section out of a list of variables (of a node's: give the node; default: the inner graph's)."""
    is_inner, is_input = list_name.startswith("inner"), list_name.endswith("input")

    def cut(self, variables=None):
        if variables is None and is_inner:
            variables = self.inner_inputs if is_input else self.inner_outputs
        elif isinstance(variables, Apply):
            variables = variables.inputs if is_input else variables.outputs
        positions = section_range(getattr(self.info, f"{list_name}_sections"), section)
        return variables[positions.start : positions.stop]

    cut.__doc__ = doc
    return cut


class Scan(Op):
    """A loop. Made by `pyscan.scan`; its node's lists are described at the top of this module (Aesara's Op of that name).

    `inputs` and `outputs` are the inner graph's; in-place Ops in it are an InconsistencyError. Attributes: `info`, `fgraph`
    (the graph of a step, with nominal inputs), `compiled_fgraph` (None, or the rewritten graph that a function runs),
    `destroy_map` {outer output: [outer input]}: states made in place, and carried generators.
    """

    kind = "scan"

    def __init__(
        self, inputs, outputs, info, mode=None, typeConstructor=None, truncate_gradient=-1, name=None, profile=False,
        allow_gc=True, strict=True,
    ):  # fmt: skip
        super().__init__()
        self.info = info
        self.mode = mode
        self.truncate_gradient = truncate_gradient
        self.name = name or "scan_fn"
        self.profile = profile
        self.allow_gc = allow_gc
        self.strict = strict
        self.destroy_map = {}
        self.view_map = {}
        self.fgraph = nominal_graph(list(inputs), list(outputs))
        _refuse_destroyers(self.fgraph)
        self.compiled_fgraph = None
        self.traced = None  # what scan_guard found of the step's generators
        self._compiled = {}
        self._hash = self._places = self._equals = None

    # The inner graph

    @property
    def inner_inputs(self):
        return self.fgraph.inputs

    @property
    def inner_outputs(self):
        return self.fgraph.outputs

    @property
    def n_outs(self) -> int:
        """The number of recurrent outputs."""
        return self.info.n_recurrent

    def rebuild(self, info=None, inner_inputs=None, inner_outputs=None):
        """A new Scan with the same options over another inner graph, whose inputs may be this one's nominal variables."""
        return type(self)(
            self.inner_inputs if inner_inputs is None else inner_inputs,
            self.inner_outputs if inner_outputs is None else inner_outputs,
            self.info if info is None else info,
            mode=self.mode,
            truncate_gradient=self.truncate_gradient,
            name=self.name,
            profile=self.profile,
            allow_gc=self.allow_gc,
            strict=self.strict,
        )

    def _with(self, **changes):
        """A new Scan over the same inner graph (shared, not cloned) with some attributes changed."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__, _hash=None, _equals=None, **changes)
        return new

    def clone(self):
        """A new Scan over a copy of the inner graph, not compiled yet."""
        return self._with(fgraph=self.fgraph.clone(), compiled_fgraph=None, traced=None, _compiled={}, _places=None)

    def with_destroy_map(self, destroy_map):
        """A new Scan that shares the inner graph and has this destroy map."""
        return self._with(destroy_map={out: list(inputs) for out, inputs in destroy_map.items()})

    def compile_with(self, others):
        """Let equal bodies, written at the same places, be compiled once: `others` is a dict of the loops met so far."""
        self._compiled = others.setdefault((self, self.places()), self)._compiled

    def places(self) -> int:
        """Equal for steps whose errors name the same lines and names."""
        if self._places is None:
            self._places = hash(_places(self.fgraph))
        return self._places

    def compiled(self, mode):
        """A new Scan that shares the inner graph and has a `compiled_fgraph`: a copy, rewritten by the passes of the mode (of the
        one that `scan` was given, if any). Rewritten once for each list of passes and rewriters.

        The carried generators are not protected there: the loop works on a generator that is its own, or on one that the outer
        graph lets it destroy; either way a step may move it. What a step stores is not made by overwriting something, since it
        is written straight into the loop's buffers.
        """
        from pyscan.maker import rewrite
        from pyscan.mode import get_mode

        mode = mode if self.mode is None else get_mode(self.mode)
        done_to_it = tuple(mode.passes), mode.rewriters
        if done_to_it not in self._compiled:
            graph = self.fgraph.clone()
            carried = {v for v in self.inner_shared(graph.inputs) if isinstance(v.type, RandomType)}
            graph.attach_feature(Supervisor([v for v in graph.inputs if v not in carried]))
            graph.attach_feature(PreserveVariableAttributes())
            graph.attach_feature(NoOutputFromInplace(range(section_range(self.info.inner_output_sections, "shared").start)))
            rewrite(graph, mode)
            self._compiled[done_to_it] = graph
        return self._with(compiled_fgraph=self._compiled[done_to_it])

    @property
    def fn(self):
        """What programs look into: ``op.fn.maker.fgraph``, the compiled graph of a step, and the containers of its inputs and outputs,
        which are empty, since values of a step are kept nowhere."""
        from pyscan.mode import get_mode
        from pyscan.sharedvalue import Container

        graph = self.compiled_fgraph if self.compiled_fgraph is not None else self.compiled(get_mode(None)).compiled_fgraph
        cells = ([Container(variable, [None]) for variable in variables] for variables in (graph.inputs, graph.outputs))
        return SimpleNamespace(maker=SimpleNamespace(fgraph=graph), input_storage=next(cells), output_storage=next(cells))

    # Nodes

    def make_node(self, *inputs):
        """The node of a loop; the order of inputs is at the top of this module.

        TypeError for what is not a Variable; ValueError when numbers, dtypes or ranks do not fit the inner graph.
        """
        if not all(isinstance(variable, Variable) for variable in inputs):
            raise TypeError("Inputs must be `Variable` instances")
        if len(inputs) != self.info.n_outer_inputs:
            raise ValueError("The number of inputs given to the inner function of scan does not match the number of inputs given to scan.")
        inputs = list(inputs)
        fitted = [
            as_tensor_variable(inputs[0]),
            *self._fit_sequences(inputs),
            *self._fit_states(inputs),
            *self._fit_shared(inputs),
            *self._fit_lengths(inputs),
            *self._fit_non_sequences(inputs),
        ]
        return Apply(self, fitted, [output_type() for output_type in self._output_types()])

    def _fit_sequences(self, inputs):
        for outer, inner in zip(self.outer_seqs(inputs), self.inner_seqs()):
            _check_sequence(outer, inner)
            yield _fit(outer, inner)

    def _fit_states(self, inputs):
        first = section_range(self.info.outer_input_sections, "mitmot").start
        stop = section_range(self.info.outer_input_sections, "sitsot").stop
        inner_inputs = iter([*self.inner_mitmot(), *self.inner_mitsot(), *self.inner_sitsot()])
        inner_outputs = iter(self.inner_outputs)
        n_results = [*map(len, self.info.mit_mot_out_slices), *[1] * (stop - first - self.info.n_mit_mot)]
        for position, taps, n_out in zip(range(first, stop), self.info.tap_array, n_results):
            past = [next(inner_inputs) for _ in taps]
            outer = _fit(inputs[position], past[0])
            for inner in past:
                _check_state_input(outer, position - 1, inner)
            for _ in range(n_out):
                check_state_result(outer, position - 1, next(inner_outputs))
            yield outer

    def _fit_shared(self, inputs):
        for outer, inner in zip(self.outer_shared(inputs), self.inner_shared()):
            yield _fit(outer, inner)

    def _fit_lengths(self, inputs):
        for length in self.outer_nitsot(inputs):
            length = as_tensor_variable(length)
            if length.type.ndim != 0 or not length.type.dtype.startswith(("int", "uint")):
                raise ValueError(f"A scalar int is required for output {length}")
            yield length

    def _fit_non_sequences(self, inputs):
        for outer, inner in zip(self.outer_non_seqs(inputs), self.inner_non_seqs()):
            outer = _fit(outer, inner)
            if type(outer.type) is not type(inner.type) or not inner.type.is_super(outer.type):
                raise ValueError(
                    f"Argument {outer} given to the scan node is not compatible with its corresponding loop function variable {inner}"
                )
            yield outer

    def _output_types(self):
        """The types of the outer outputs: those of the step's, with one more axis for the tensors."""
        first_of = 0
        for n_out in map(len, self.info.mit_mot_out_slices):
            yield _path_type(self.inner_outputs[first_of].type)
            first_of += n_out
        for output in (*self.inner_mitsot_outs(), *self.inner_sitsot_outs(), *self.inner_nitsot_outs()):
            yield _path_type(output.type)
        for output in self.inner_shared_outs():
            yield output.type

    # Sections of the lists

    inner_seqs = _section("inner_input", "seqs", "The slices of the sequences.")
    inner_mitmot = _section("inner_input", "mitmot", "The taps of the mit-mot states.")
    inner_mitsot = _section("inner_input", "mitsot", "The taps of the mit-sot states.")
    inner_sitsot = _section("inner_input", "sitsot", "The last values of the sit-sot states.")
    inner_shared = _section("inner_input", "shared", "The carried generators.")
    inner_non_seqs = _section("inner_input", "non_seqs", "The non-sequences.")
    inner_mitmot_outs = _section("inner_output", "mitmot", "What the step writes to the mit-mot states.")
    inner_mitsot_outs = _section("inner_output", "mitsot", "The new values of the mit-sot states.")
    inner_sitsot_outs = _section("inner_output", "sitsot", "The new values of the sit-sot states.")
    inner_nitsot_outs = _section("inner_output", "nitsot", "The values that are not fed back.")
    inner_shared_outs = _section("inner_output", "shared", "The new states of the carried generators.")
    outer_seqs = _section("outer_input", "seqs", "The sequences.")
    outer_mitmot = _section("outer_input", "mitmot", "The buffers of the mit-mot states.")
    outer_mitsot = _section("outer_input", "mitsot", "The buffers of the mit-sot states.")
    outer_sitsot = _section("outer_input", "sitsot", "The buffers of the sit-sot states.")
    outer_shared = _section("outer_input", "shared", "The generators at the start.")
    outer_nitsot = _section("outer_input", "nitsot", "The numbers of rows that are kept of the paths.")
    outer_non_seqs = _section("outer_input", "non_seqs", "The non-sequences.")
    outer_mitmot_outs = _section("outer_output", "mitmot", "The mit-mot paths.")
    outer_mitsot_outs = _section("outer_output", "mitsot", "The mit-sot paths, initial rows included.")
    outer_sitsot_outs = _section("outer_output", "sitsot", "The sit-sot paths, initial row included.")
    outer_nitsot_outs = _section("outer_output", "nitsot", "The paths of what is not fed back.")
    outer_shared_outs = _section("outer_output", "shared", "The generators at the end.")

    def get_oinp_iinp_iout_oout_mappings(self):
        """Which positions belong together: a dict of dicts ``<to>_from_<from>``, each of outer_inp, inner_inp, inner_out, outer_out.

        An outer position is an int (-1: none), inner ones are lists.
        """
        slots = [(0, [], [], -1), *self._slots()]
        names = ("outer_inp", "inner_inp", "inner_out", "outer_out")
        mappings = {}
        for target, target_name in enumerate(names):
            for source, source_name in enumerate(names):
                if target != source:
                    mappings[f"{target_name}_from_{source_name}"] = {
                        position: slot[target]
                        for slot in slots
                        for position in (slot[source] if isinstance(slot[source], list) else [slot[source]])
                        if position != -1
                    }
        return mappings

    def _slots(self):
        """One (outer input, inner inputs, inner outputs, outer output) for each thing that a loop reads or makes."""
        info = self.info
        inner_inputs, inner_outputs = iter(range(info.n_inner_inputs)), iter(range(info.n_inner_outputs))
        outer_outputs = iter(range(info.n_outer_outputs))

        def take(iterator, count):
            return [next(iterator) for _ in range(count)]

        def outer(section):
            return section_range(info.outer_input_sections, section)

        for position in outer("seqs"):
            yield position, take(inner_inputs, 1), [], -1
        states = range(outer("mitmot").start, outer("sitsot").stop)
        n_results = [*map(len, info.mit_mot_out_slices), *[1] * (len(states) - info.n_mit_mot)]
        for position, taps, n_out in zip(states, info.tap_array, n_results):
            yield position, take(inner_inputs, len(taps)), take(inner_outputs, n_out), next(outer_outputs)
        for position in outer("nitsot"):
            yield position, [], take(inner_outputs, 1), next(outer_outputs)
        for position in outer("shared"):
            yield position, take(inner_inputs, 1), take(inner_outputs, 1), next(outer_outputs)
        for position in outer("non_seqs"):
            yield position, take(inner_inputs, 1), [], -1

    # Text, equality, pickling

    def __str__(self):
        loop = "do_while" if self.info.as_while else "for"
        in_place = sorted(out for out in self.destroy_map if out < self.info.n_recurrent)
        if not in_place:
            return f"{loop}{{cpu,{self.name}}}"
        if len(in_place) == self.info.n_recurrent:
            return f"{loop}all_inplace,cpu,{self.name}}}"
        return f"{loop}{{inplace{{{''.join(f'{out},' for out in in_place)}}},cpu,{self.name}}}"

    __repr__ = __str__

    def _options(self):
        destroyed = tuple(sorted((out, tuple(inputs)) for out, inputs in self.destroy_map.items()))
        return self.info, self.profile, self.truncate_gradient, self.name, self.allow_gc, destroyed

    def __hash__(self):
        if self._hash is None:
            self._hash = hash((type(self), self._options(), _structural_hash(self.fgraph)))
        return self._hash

    def __eq__(self, other):
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other) or self._options() != other._options():
            return False
        if self.compiled_fgraph is not other.compiled_fgraph:
            return False
        if self._equals is None:
            self._equals = object()
        if self._equals is other._equals:
            return True
        mine, theirs = self.fgraph, other.fgraph
        if mine is not theirs and not (
            mine.inputs == theirs.inputs and equal_computations(mine.outputs, theirs.outputs, mine.inputs, theirs.inputs)
        ):
            return False
        # Met again at once: a step holds its loop twice (for the path and for the updates), so that without this each level of nested
        # loops would compare the level below twice, and n levels the innermost 2**n times.
        other._equals = self._equals
        return True

    def __getstate__(self):
        # Hashes differ between processes; compiled graphs are made again.
        return {**self.__dict__, "traced": None, "_compiled": {}, "_hash": None, "_places": None, "_equals": None}

    def __setstate__(self, state):
        self.__dict__.update(state)


def _path_type(step_type):
    return TensorType(step_type.dtype, (None, *step_type.shape))

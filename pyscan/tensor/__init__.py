"""Symbolic tensors: `import pyscan.tensor as at`.

`type` has the types and named constructors, `variable` operators and conversion, `elemwise` the elementwise operations, `basic` and
`shape` making, joining and layout, `subtensor` indexing, `math` functions and reductions, `extra_ops`, `sort`, `special`, `nlinalg`,
`slinalg` and `linalg` (both) the rest, `random` the random variables. What few programs need is imported on first use.
"""

from importlib import import_module

from pyscan.tensor.variable import (
    TensorConstant,
    TensorVariable,
    as_tensor,
    as_tensor_variable,
    constant,
)

# isort: split
from pyscan.errors import tell_arguments
from pyscan.tensor import basic, elemwise, math, subtensor, type, type_other
from pyscan.tensor.basic import (
    alloc,
    arange,
    cast,
    concatenate,
    empty,
    empty_like,
    extract_constant,
    fill,
    full,
    full_like,
    get_scalar_constant_value,
    get_vector_length,
    horizontal_stack,
    join,
    ones,
    ones_like,
    scalar_from_tensor,
    second,
    split,
    stack,
    stacklists,
    switch,
    tensor_copy,
    tensor_from_scalar,
    vertical_stack,
    where,
    zeros,
    zeros_like,
)
from pyscan.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pyscan.tensor.math import (
    abs,
    abs_,
    add,
    all,
    allclose,
    and_,
    angle,
    any,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    argmax,
    argmin,
    batched_dot,
    batched_tensordot,
    betainc,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    ceil,
    ceil_intdiv,
    chi2sf,
    clip,
    complex,
    complex_from_polar,
    conj,
    conjugate,
    cos,
    cosh,
    cov,
    deg2rad,
    dense_dot,
    digamma,
    divmod,
    dot,
    eq,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    exp,
    exp2,
    expit,
    expm1,
    floor,
    floor_div,
    floor_divide,
    gamma,
    gammainc,
    gammaincc,
    gammal,
    gammaln,
    gammau,
    ge,
    gt,
    hyp2f1,
    i0,
    i1,
    imag,
    int_div,
    inv,
    invert,
    iround,
    isclose,
    isinf,
    isnan,
    iv,
    j0,
    j1,
    jv,
    largest,
    le,
    log,
    log10,
    log1mexp,
    log1p,
    log1pexp,
    log2,
    logaddexp,
    logsumexp,
    lt,
    matmul,
    matrix_dot,
    max,
    max_and_argmax,
    maximum,
    mean,
    min,
    minimum,
    mod,
    mul,
    neg,
    neq,
    or_,
    outer,
    owens_t,
    pow,
    power,
    prod,
    psi,
    ptp,
    rad2deg,
    real,
    reciprocal,
    round,
    round_half_away_from_zero,
    round_half_to_even,
    sgn,
    sigmoid,
    sin,
    sinh,
    smallest,
    softplus,
    sqr,
    sqrt,
    square,
    std,
    sub,
    sum,
    tan,
    tanh,
    tensordot,
    tri_gamma,
    true_div,
    true_divide,
    trunc,
    var,
    xor,
)
from pyscan.tensor.shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    atleast_Nd,
    expand_dims,
    flatten,
    is_flat,
    moveaxis,
    reshape,
    shape,
    shape_padaxis,
    shape_padleft,
    shape_padright,
    shape_tuple,
    specify_shape,
    squeeze,
    swapaxes,
    transpose,
)
from pyscan.tensor.sharedvar import ScalarSharedVariable, TensorSharedVariable
from pyscan.tensor.sort import argsort, argtopk, sort, topk, topk_and_argtopk
from pyscan.tensor.subtensor import inc_subtensor, set_subtensor, take
from pyscan.tensor.type import TensorType, constructors, tensor
from pyscan.tensor.type_other import NoneConst, make_slice, none_type_t, slicetype

# What is imported or made when it is first asked for: modules, and names in modules.
_LATER = {
    **dict.fromkeys(constructors, "type"),  # scalar, vector, ..., dmatrix, ..., vectors, ...
    **{name: name for name in ("extra_ops", "linalg", "nlinalg", "nnet", "random", "slinalg", "special")},
    "Assert": "raise_op", "CheckAndRaise": "raise_op",
    **dict.fromkeys("""
        bincount broadcast_arrays broadcast_shape broadcast_to choose compress cumprod cumsum diag diagonal
        diff eye fill_diagonal flatnonzero geomspace identity_like inverse_permutation linspace logspace mgrid
        nonzero nonzero_values ogrid ravel_multi_index repeat roll searchsorted take_along_axis tile
        to_one_hot tri tril tril_indices tril_indices_from triu triu_indices triu_indices_from unique
        unravel_index extract_diag
    """.split(), "extra_ops"),
}

# The functions tell the user's arguments when they refuse them, here and in the modules that they are from. Left out are those that
# the package calls in great number, and those whose refusal is an answer.
tell_arguments(globals(), {as_tensor, as_tensor_variable, constant, get_scalar_constant_value, extract_constant})


def __getattr__(name):
    home = _LATER.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"pyscan.{home}" if home == "raise_op" else f"{__name__}.{home}")
    return globals().setdefault(name, module if name == home else getattr(module, name))


def __dir__():
    return sorted({*globals(), *_LATER})


__all__ = [name for name in __dir__() if not name.startswith("_") and name not in ("import_module", "tell_arguments", "constructors")]

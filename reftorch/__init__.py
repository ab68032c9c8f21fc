"""A small, complete, readable re-implementation of eager PyTorch.

The names are PyTorch's: ``import reftorch as torch``.

This file does its work in this order: it loads the extension, whose static objects register the ops; it takes the value
types and the ops from ``_C``; and it imports the Python layers from the bottom up. The import of ``reftorch.autograd``
registers the formulas of autograd.

Mirrors: torch/__init__.py
Leaves out: everything that is not eager mode (jit, compile, export), complex and quantized types.
"""

from __future__ import annotations

import math as _math
from typing import TYPE_CHECKING, Any

from reftorch import _api, _load, _places

_load.load()

from reftorch import _C

# The dtypes that exist as names only: a tensor's dtype can be compared with them.
from reftorch._C import (
    AcceleratorError,
    Event,
    Generator,
    OutOfMemoryError,
    Size,
    Stream,
    Tag,
    bfloat16,
    bit,
    bits1x8,
    bits2x4,
    bits4x2,
    bits8,
    bits16,
    bool,
    can_cast,
    cdouble,
    cfloat,
    chalf,
    channels_last,
    complex32,
    complex64,
    complex128,
    contiguous_format,
    default_generator,
    device,
    double,
    dtype,
    float,
    float4_e2m1fn_x2,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    from_numpy,
    get_default_dtype,
    get_num_threads,
    half,
    int,
    int1,
    int2,
    int3,
    int4,
    int5,
    int6,
    int7,
    int8,
    int16,
    int32,
    int64,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_inference_mode_enabled,
    layout,
    long,
    memory_format,
    preserve_format,
    promote_types,
    qint8,
    qint32,
    quint2x4,
    quint4x2,
    quint8,
    set_anomaly_enabled,
    set_flush_denormal,
    set_num_threads,
    short,
    strided,
    tensor,
    uint1,
    uint2,
    uint3,
    uint4,
    uint5,
    uint6,
    uint7,
    uint8,
    uint16,
    uint32,
    uint64,
)

for _name in dir(_C._VariableFunctions):
    if not _name.startswith(("__", "unique_dim")):  # torch.unique(x, dim=...) calls unique_dim
        globals()[_name] = getattr(_C._VariableFunctions, _name)
del _name
if TYPE_CHECKING:  # the names that the loop defines, from the stubs (.ci/gen_pyi.py)
    from reftorch._C._VariableFunctions import *

from reftorch import (
    __config__,
    _source_paths,  # docstrings need it; a walk over the names, which may ask for them, must find no new name
    _torch_docs,
    accelerator,
    amp,
    autograd,
    backends,
    compiler,
    cpu,
    cuda,
    func,
    linalg,
    multiprocessing,
    nn,
    random,
    return_types,
    serialization,
    special,
    storage,
    types,
    utils,
    version,
)
from reftorch._determinism import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    use_deterministic_algorithms,
)
from reftorch._functorch.vmap import vmap
from reftorch._linalg_utils import eig, lstsq, lu, matrix_rank, solve, symeig
from reftorch._lowrank import pca_lowrank, svd_lowrank
from reftorch._ops import ops
from reftorch._symbolic import SymBool, SymFloat, SymInt
from reftorch._tensor import Tensor
from reftorch._tensor.types import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_default_tensor_type,
)
from reftorch._tensor_str import set_printoptions
from reftorch._torch_function import overridable
from reftorch._type_info import finfo, iinfo
from reftorch._utils import _assert_async, get_device_module, is_warn_always_enabled, set_warn_always, typename
from reftorch.amp import GradScaler
from reftorch.amp._deprecated import (
    get_autocast_cpu_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cpu_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_gpu_dtype,
)
from reftorch.amp.autocast_mode import (
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from reftorch.autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from reftorch.compiler import compile
from reftorch.functional import (
    as_tensor,
    asarray,
    from_file,
    frombuffer,
    imag,
    is_complex,
    is_conj,
    is_inference,
    is_neg,
    is_same_size,
    is_signed,
    is_storage,
    is_tensor,
    nonzero,
    norm,
    range,
    result_type,
    set_default_dtype,
    unique,
    unique_consecutive,
)
from reftorch.functional.gradients import gradient, unravel_index
from reftorch.functional.histograms import histogram, histogramdd
from reftorch.functional.norms import cdist, frobenius_norm, nuclear_norm
from reftorch.functional.products import chain_matmul, einsum, tensordot
from reftorch.functional.segments import segment_reduce
from reftorch.functional.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    meshgrid,
    split,
)
from reftorch.futures import _Future as Future
from reftorch.random import (
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from reftorch.serialization import load, save
from reftorch.serialization.archive import PyTorchFileReader
from reftorch.storage import _LEGACY_CLASSES, TypedStorage, UntypedStorage
from reftorch.utils._device import get_default_device, set_default_device
from reftorch.utils.dlpack import from_dlpack, to_dlpack
from reftorch.version import __version__

globals().update(_LEGACY_CLASSES)  # FloatStorage and others

# The names that PyTorch's file or its extension defines, and that other files define here: errors, graphs and pickles
# write torch.nonzero, and not the name of that file. PyTorch defines few of those in ``functional`` there.
_OWN = ("_C", "_determinism", "_symbolic", "_tensor", "_type_info", "_utils", "amp._deprecated", "amp.autocast_mode",
        "functional", "utils._device")  # fmt: skip
_OF_FUNCTIONAL = ("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
                  "cartesian_prod", "cdist", "chain_matmul", "einsum", "meshgrid", "norm", "split", "tensordot",
                  "unique", "unique_consecutive", "unravel_index")  # fmt: skip
_NOT_OWN = {"Generator", "autocast", *_OF_FUNCTIONAL}
_places.adopt(
    __name__,
    [
        name
        for name, value in globals().items()
        if (getattr(value, "__module__", None) or "").removeprefix("reftorch.") in _OWN and name not in _NOT_OWN
    ],
    globals(),
)
_places.adopt(__name__, ["lu"], globals())


inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None

has_lapack = True
has_mkl = backends.mkl.is_available()
has_openmp = backends.openmp.is_available()


def _check_tensor(function: str, input: Any) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")


@overridable
def _assert(condition: Any, message: str) -> None:
    """Raise an AssertionError with ``message`` if ``condition`` is false. ``torch.fx`` can trace this function.

    Example:
        >>> torch._assert(torch.ones(2).sum() == 2, "the sum is wrong")

    Mirrors torch/__init__.py, ``_assert``.
    """
    assert condition, message


@overridable
def get_device(input: Tensor) -> Any:
    """Return the index of the GPU that holds ``input``, or -1 if ``input`` is not on a GPU.

    Example:
        >>> torch.get_device(torch.ones(2))
        -1

    Mirrors aten/src/ATen/native/TensorProperties.cpp.
    """
    _check_tensor("get_device", input)
    return input.get_device()


@overridable
def is_floating_point(input: Tensor) -> Any:
    """Return whether the elements of ``input`` are floating-point numbers.

    Example:
        >>> torch.is_floating_point(torch.ones(2)), torch.is_floating_point(torch.arange(2))
        (True, False)

    Mirrors aten/src/ATen/native/TypeProperties.cpp.
    """
    _check_tensor("is_floating_point", input)
    return input.is_floating_point()


@overridable
def numel(input: Tensor) -> Any:
    """Return the number of elements of ``input``.

    Example:
        >>> torch.numel(torch.ones(2, 3))
        6

    Mirrors aten/src/ATen/native/TensorProperties.cpp.
    """
    _check_tensor("numel", input)
    return input.numel()


_api.install()

# Modules that no other module of the library needs are imported at their first use. The private ones are not offered.
_LAZY_MODULES = ("debug", "distributed", "distributions", "fft", "futures", "fx", "hub", "jit", "library", "mps",
                 "mtia", "optim", "overrides", "profiler", "signal", "testing", "torch_version", "xpu")  # fmt: skip
_PRIVATE_MODULES = ("__future__", "_dynamo", "_jit_internal", "_library")

if TYPE_CHECKING:
    from reftorch import (
        __future__,
        _dynamo,
        _jit_internal,
        _library,
        debug,
        distributed,
        distributions,
        fft,
        futures,
        fx,
        hub,
        jit,
        library,
        mps,
        mtia,
        optim,
        overrides,
        profiler,
        signal,
        testing,
        torch_version,
        xpu,
    )
else:  # type checkers would accept any name if they saw this function
    _names_of_lazy = _api.getattr_of("reftorch", (*_LAZY_MODULES, *_PRIVATE_MODULES))

    def __getattr__(name: str) -> Any:
        return _names_of_lazy("jit")._ScriptModule if name == "ScriptModule" else _names_of_lazy(name)


def __dir__() -> list[str]:
    """Return the names for completion.

    The list lacks the helpers of this file, the ops that only formulas and kernels use, and the in-place ops: those are
    offered as methods only, although ``torch.add_(x, y)`` works.
    """
    hidden = {
        "Any",
        "annotations",
        "overridable",
        "reftorch",
        "alias",
        "lift_fresh",
        "index",
        "slice",
        "nonzero_numpy",
    }
    return [  # an op special_NAME is reftorch.special.NAME
        name
        for name in {*globals(), *_LAZY_MODULES}
        if name not in hidden
        and not name.startswith("special_")
        and (not name.endswith(("_backward", "_")) or name.endswith("__"))
    ]

"""The parts of the page of ``torch``, which has too many names for one page: which name is in which part.

Mirrors: docs/source/torch.rst (the headings)
Leaves out: the second level of headings.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import reftorch
from reftorch import _torch_docs  # noqa: F401  the docs of ops say which family an op belongs to

# The families of ops, which are the names of files in `native/`, by part; the first part that fits is taken.
PARTS = {
    "Creation": ("TensorFactories", "RangeFactories", "WindowFactories", "TensorConversions", "Fill"),
    "Random sampling": ("RandomFactories", "Distributions", "DistributionsMore", "Multinomial", "Dropout"),
    "Indexing, joining, shapes": (
        "TensorShape", "TensorJoin", "TensorStack", "TensorSplit", "TensorSlicing", "TensorAdvancedIndexing",
        "ScatterGatherOps", "IndexAlongDim", "IndexFactories", "TensorTransformations", "Repeat", "Unfold", "Resize",
        "ShapeComposites",
        "ViewCopies", "ViewScatter", "MaskedOps", "Copy", "Itertools", "TriangularOps", "PixelShuffle",
    ),
    "Pointwise ops": (
        "UnaryOps", "BinaryOps", "BinaryMathOps", "BinaryLogicOps", "PointwiseOps", "Pow", "UnarySpecialOps",
        "BinarySpecialOps", "BesselOps", "PolynomialOps", "Activation", "ForeachOpsKernels",
    ),
    "Reductions and scans": (
        "ReduceOps", "ReduceExtremaOps", "CumulativeOps", "Quantile", "SummaryOps", "Integration",
        "Correlation",
    ),
    "Comparison, sorting, sets": (
        "TensorCompare", "Sorting", "Onehot", "Unique", "Bucketization",
    ),
    "Linear algebra": (
        "LinearAlgebra", "LinearAlgebraNorms", "BatchLinearAlgebra", "MatrixFactors", "MatrixChain", "Blas", "Matmul",
        "Einsum", "Tensordot", "HouseholderProducts", "Distance",
    ),
    "Neural network ops": (),  # the other families
}  # fmt: skip


def section_of(name: str, value: Any) -> str:
    """The part of the page of ``torch`` in which a name is."""
    if isinstance(value, reftorch.dtype) or name in ("finfo", "iinfo", "dtype", "layout", "memory_format", "device"):
        return "Types of data"
    if isinstance(value, reftorch.layout | reftorch.memory_format):
        return "Types of data"
    if inspect.isclass(value):
        return "Classes"
    family = _families().get(name)
    if family is None:
        return "Settings and utilities"
    return next((part for part, families in PARTS.items() if family in families), "Neural network ops")


@functools.cache
def _families() -> dict[str, str]:
    """The name of the file in `native/` that registers an op, by the op's name."""
    families: dict[str, str] = {}
    for op in reftorch._C._get_all_op_schemas():
        name = op["name"].removeprefix("aten::").split(".")[0]
        families.setdefault(name, op["file"].rsplit("/", 1)[-1].removesuffix(".cpp"))
    return families

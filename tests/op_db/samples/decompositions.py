"""Samples of matrices for factorizations, solvers and norms.

The signs of eigenvectors and singular vectors are LAPACK's choice. The two libraries make different choices, so the
rows compare functions of the vectors that do not depend on the signs.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, Apart, Input, Inputs, Library, OpInfo, Sample


def not_finite(sample: Sample) -> bool:
    return not all(np.isfinite(leaf.values).all() for leaf in sample.args if isinstance(leaf, Input))


NOT_FINITE = Apart("what LAPACK makes of a matrix with infinities or NaN is no answer", when=not_finite)


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    # A float32 matrix that is nearly singular loses digits by nature.
    return OpInfo(
        ops, samples, dtypes=DTYPES, rtol=2e-3, **{**options, "apart": (NOT_FINITE, *options.get("apart", ()))}
    )


def linalg(lib: Library) -> Any:
    return lib._C._linalg


def positive(lib: Library, a: Any) -> Any:
    """A symmetric positive-definite matrix from any matrix."""
    return a @ a.mT + lib.eye(a.shape[-2], dtype=a.dtype)


def on_positive(name: str) -> Callable[..., Any]:
    def call(lib: Library, a: Any, *args: Any, **kwargs: Any) -> Any:
        space = lib if hasattr(lib, name) else linalg(lib)
        return getattr(space, name)(positive(lib, a), *args, **kwargs)

    return call


def dominant(name: str) -> Callable[..., Any]:
    """The op on a matrix that is far from singular: one with a large diagonal."""

    def call(lib: Library, a: Any, *args: Any, **kwargs: Any) -> Any:
        space = linalg(lib) if hasattr(linalg(lib), name) else lib
        return getattr(space, name)(a + 7 * lib.eye(a.shape[-1], dtype=a.dtype), *args, **kwargs)

    return call


def call_with(*shapes: tuple[int, ...], **kwargs: Any) -> Callable[[Inputs], list[Sample]]:
    return lambda make: [Sample(tuple(make(*shape) for shape in shapes), kwargs)]


def calls(*samples: Callable[[Inputs], list[Sample]]) -> Callable[[Inputs], list[Sample]]:
    return lambda make: [sample for each in samples for sample in each(make)]


def apart(values: np.ndarray) -> bool:
    """Whether no two of these, in order, are nearly the same."""
    if values.size == 0:
        return True
    gaps = np.abs(np.diff(values, axis=-1))
    return bool((gaps > 1e-3 * np.abs(values).max()).all())


def repeated_values(sample: Sample) -> bool:
    """Whether a matrix has equal or zero singular values, or its sum with its transpose equal eigenvalues."""
    for leaf in sample.args:
        if isinstance(leaf, Input) and leaf.is_float and leaf.values.ndim > 1 and np.isfinite(leaf.values).all():
            values = leaf.values
            dims = sample.kwargs.get("dim")
            if isinstance(dims, tuple) and len({d % values.ndim for d in dims}) == 2:
                values = np.moveaxis(values, dims, (-2, -1))
            singular = np.linalg.svd(values, compute_uv=False)
            if not apart(np.concatenate([singular, np.zeros_like(singular[..., :1])], axis=-1)):
                return True
            square = values.shape[-1] == values.shape[-2]
            if square and not apart(np.linalg.eigvalsh(values + values.swapaxes(-1, -2))):
                return True
    return False


NOT_UNIQUE = Apart("no slope where singular values or eigenvalues repeat", says="gradient of", when=repeated_values)

NO_FULL_RANK = Apart("the factors of a matrix that has not full rank are not unique", when=repeated_values)

SINGULAR = Apart("the inverse of a matrix that is nearly singular is rounding", when=repeated_values)

SQUARE = ((3, 3),)

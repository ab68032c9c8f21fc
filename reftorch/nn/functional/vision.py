"""Functions on images: changes of their size, and reading them at the places of a grid.

Mirrors: torch/nn/functional.py (``interpolate``, ``upsample``, ``grid_sample``, ``affine_grid``)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn
from reftorch.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

# For each mode and number of dimensions of the input, the op; those of smooth modes also take align_corners.
_NEAREST = {
    ("nearest", 3): "upsample_nearest1d",
    ("nearest", 4): "upsample_nearest2d",
    ("nearest", 5): "upsample_nearest3d",
    ("nearest-exact", 3): "_upsample_nearest_exact1d",
    ("nearest-exact", 4): "_upsample_nearest_exact2d",
    ("nearest-exact", 5): "_upsample_nearest_exact3d",
}
_SMOOTH = {
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("trilinear", 5): "upsample_trilinear3d",
    ("bicubic", 4): "upsample_bicubic2d",
}
_ANTIALIASED = {
    ("bilinear", 4): "_upsample_bilinear2d_aa",
    ("bicubic", 4): "_upsample_bicubic2d_aa",
    ("lanczos", 4): "_upsample_lanczos2d_aa",
}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_DIMS_OF_MODE = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _sizes_and_factors(input: Tensor, size: Any, scale_factor: Any) -> tuple[list[int] | None, list[float] | None]:
    """Return sizes or factors, whichever is given, as a list with one number for each dimension of the pixels."""
    dims, pixels = input.dim() - 2, list(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size] * dims, None
        if len(size) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {pixels} and output size of {size}. Please provide input tensor in (N, C, d1, d2, "
                "...,dK) format and output size in (o1, o2, ...,oK) format."
            )
        if not all(isinstance(s, int) for s in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(s) for s in size]}"
            )
        return list(size), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (list, tuple)):
        return None, [scale_factor] * dims
    if len(scale_factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {pixels} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, "
            "d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    return None, list(scale_factor)


@overridable
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Change the size of images.

    Args:
        input: :math:`(N, C, W)`, :math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`.
        size: the sizes of the output, or one for all dimensions.
        scale_factor: the numbers by which the sizes are multiplied, or one for all; the results are rounded down.
        mode: ``"nearest"`` or ``"nearest-exact"`` (which agrees with other libraries) copies a pixel; ``"linear"``,
            ``"bilinear"`` and ``"trilinear"`` draw straight lines, each for its number of dimensions; ``"bicubic"``
            draws cubic curves through images; ``"area"`` averages; ``"lanczos"`` needs ``antialias``.
        align_corners: whether the middles of the outer pixels stay in place, or the borders of the image do; not for
            nearest and area.
        recompute_scale_factor: whether the scale follows from the rounded sizes, and not from ``scale_factor``.
        antialias: whether each pixel of a smaller output reads all pixels that it covers; for bilinear, bicubic and
            lanczos.

    Returns:
        A tensor with the sizes of the output instead of those of the pixels.

    Raises:
        ValueError: options contradict each other.
        NotImplementedError: the mode has no op for the number of dimensions.
        RuntimeError: a size is not positive.

    Example:
        >>> x = torch.tensor([[[0.0, 1.0]]])
        >>> torch.nn.functional.interpolate(x, scale_factor=2)
        tensor([[[0., 0., 1., 1.]]])
        >>> torch.nn.functional.interpolate(x, size=3, mode="linear", align_corners=True)
        tensor([[[0.0000, 0.5000, 1.0000]]])

    Mirrors torch/nn/functional.py, ``interpolate``.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dims = input.dim()
    sizes, factors = _sizes_and_factors(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(pixels * factor) for pixels, factor in zip(input.shape[2:], factors, strict=True)]
        factors = None
    if antialias and (mode, dims) not in _ANTIALIASED:
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if (mode, dims) in _NEAREST:
        return getattr(_C._nn, _NEAREST[mode, dims])(input, sizes, factors)
    if mode == "area" and dims in _AREA:
        return _AREA[dims](input, sizes)
    if (mode, dims) == ("lanczos", 4):
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    ops = _ANTIALIASED if antialias else _SMOOTH
    if (mode, dims) in ops:
        return getattr(_C._nn, ops[mode, dims])(input, sizes, align_corners, factors)
    if mode in _DIMS_OF_MODE and 3 <= dims <= 5:
        raise NotImplementedError(f"Got {dims}D input, but {mode} mode needs {_DIMS_OF_MODE[mode]}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _warn_of_old_name(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Call :func:`interpolate`. PyTorch deprecates this name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.nn.functional.upsample(torch.ones(1, 1, 2), 3).shape
        torch.Size([1, 1, 3])

    Mirrors torch/nn/functional.py, ``upsample``.
    """
    _warn_of_old_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Call :func:`interpolate` with mode ``"nearest"``. PyTorch deprecates this name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.nn.functional.upsample_nearest(torch.ones(1, 1, 2), 3).shape
        torch.Size([1, 1, 3])

    Mirrors torch/nn/functional.py, ``upsample_nearest``.
    """
    _warn_of_old_name("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Call :func:`interpolate` with mode ``"bilinear"`` and ``align_corners=True``. PyTorch deprecates this name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.nn.functional.upsample_bilinear(torch.ones(1, 1, 2, 2), 3).shape
        torch.Size([1, 1, 3, 3])

    Mirrors torch/nn/functional.py, ``upsample_bilinear``.
    """
    _warn_of_old_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


@overridable
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Read images at the places of a grid.

    Args:
        input: :math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`.
        grid: :math:`(N, h, w, 2)` with x and y, or :math:`(N, d, h, w, 3)` with x, y and z; -1 and 1 are the ends.
        mode: ``"bilinear"``, ``"nearest"``, or ``"bicubic"`` for images of two dimensions.
        padding_mode: outside of the input there are ``"zeros"``, the pixels of the ``"border"``, or the input mirrored,
            ``"reflection"``.
        align_corners: whether -1 and 1 are the middles of the outer pixels, or the borders of the image (default).

    Returns:
        :math:`(N, C, h, w)` or :math:`(N, C, d, h, w)`.

    Raises:
        ValueError: a mode is unknown.
        RuntimeError: the shapes or dtypes do not fit.

    Example:
        >>> x, middle = torch.tensor([[[[0.0, 1.0], [2.0, 3.0]]]]), torch.zeros(1, 1, 1, 2)
        >>> torch.nn.functional.grid_sample(x, middle, align_corners=False)
        tensor([[[[1.5000]]]])

    Mirrors torch/nn/functional.py, ``grid_sample``.
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in paddings:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_corners()
    return _VF.grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


def _warn_of_corners() -> None:
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
    )


def _check_affine(theta: Tensor, size: Sequence[int]) -> None:
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )


@overridable
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return the grid of places that affine maps read, for :func:`grid_sample`.

    Args:
        theta: the maps, :math:`(N, 2, 3)` or :math:`(N, 3, 4)`: each place of the output, with a 1 behind it, is
            multiplied by its map.
        size: the shape of the output, :math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`.
        align_corners: whether -1 and 1 are the middles of the outer pixels, or the borders of the image (default).

    Returns:
        :math:`(N, H, W, 2)` or :math:`(N, D, H, W, 3)`.

    Raises:
        ValueError: ``theta`` does not fit ``size``, or a size is not positive.
        NotImplementedError: ``size`` has another length.

    Example:
        >>> mirror = torch.tensor([[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> grid = torch.nn.functional.affine_grid(mirror, (1, 1, 1, 2), align_corners=False)
        >>> torch.nn.functional.grid_sample(torch.tensor([[[[1.0, 2.0]]]]), grid, align_corners=False)
        tensor([[[[2., 1.]]]])

    Mirrors torch/nn/functional.py, ``affine_grid``.
    """
    if align_corners is None:
        _warn_of_corners()
        align_corners = False
    _check_affine(theta, size)
    if align_corners and min(size[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _VF.affine_grid_generator(theta, list(size), align_corners)

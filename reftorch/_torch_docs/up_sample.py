r"""The docs of interpolation.

The public name of all these ops is ``torch.nn.functional.interpolate``.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

_PIXELS = {1: "(W)", 2: "(H, W)", 3: "(D, H, W)"}
_NEAREST = "the nearest pixel, found as in OpenCV"
_EXACT = "the nearest pixel, by the middles of the pixels"
_OPS = {
    "upsample_nearest1d": (_NEAREST, 1),
    "upsample_nearest2d": (_NEAREST, 2),
    "upsample_nearest3d": (_NEAREST, 3),
    "_upsample_nearest_exact1d": (_EXACT, 1),
    "_upsample_nearest_exact2d": (_EXACT, 2),
    "_upsample_nearest_exact3d": (_EXACT, 3),
    "upsample_linear1d": ("a straight line between two pixels", 1),
    "upsample_bilinear2d": ("straight lines between four pixels", 2),
    "upsample_trilinear3d": ("straight lines between eight pixels", 3),
    "upsample_bicubic2d": ("cubic curves through sixteen pixels", 2),
    "_upsample_bilinear2d_aa": ("a triangle as wide as the pixel of the output", 2),
    "_upsample_bicubic2d_aa": ("a cubic filter as wide as the pixel of the output", 2),
    "_upsample_lanczos2d_aa": ("a Lanczos filter as wide as the pixel of the output", 2),
}
_SCALES = {
    1: "    scales: how much larger the output is; None computes this from the sizes.\n",
    2: "    scales_h: how much higher the output is; None computes this from the sizes.\n"
    "    scales_w: how much wider the output is; None computes this from the sizes.\n",
}
_SCALES[3] = "    scales_d: how much deeper the output is; None computes this from the sizes.\n" + _SCALES[2]

for _name, (_words, _dims) in _OPS.items():
    _aligned = "nearest" not in _name
    _corners = (
        "    align_corners: whether the middles of the outer pixels stay in place, or the borders of the image do.\n"
        if _aligned
        else ""
    )
    _flag = ", False" if _aligned else ""
    add_docstr(
        _name,
        rf"""
Change the size of an image: each pixel of the output is {_words}.

There are two forms. The second one, which ``nn.functional.interpolate`` calls, takes either sizes or factors.

Args:
    input: :math:`(N, C, *)` with {_dims} further dimension{"s" if _dims > 1 else ""} {_PIXELS[_dims]}.
    output_size: the sizes of the output, {_dims} int{"s" if _dims > 1 else ""}.
{_corners}{_SCALES[_dims]}    scale_factors: {_dims} number{"s" if _dims > 1 else ""} by which the sizes are multiplied.

Shape: :math:`(N, C, *output\_size)`.

Raises:
    RuntimeError: the number of sizes or dimensions is wrong, or a size is not positive.

Example:
    >>> torch._C._nn.{_name}(torch.ones({", ".join(["1", "1", *["2"] * _dims])}), {[3] * _dims}{_flag}).shape
    torch.Size({[1, 1, *[3] * _dims]})
""",
    )
    add_docstr(
        f"{_name}_backward",
        rf"""
Return the gradient of :func:`{_name}` for its input: the transpose of the interpolation.

Args:
    output_size: the sizes of the output, {_dims} int{"s" if _dims > 1 else ""}.
    input_size: the shape of the input, N and C included.
{_corners}{_SCALES[_dims]}
Shape: ``input_size``.

Raises:
    RuntimeError: the shape of ``grad_output`` is not that of the output.

Example:
    >>> grad, size = torch.ones({", ".join(["1", "1", *["3"] * _dims])}), {[1, 1, *[2] * _dims]}
    >>> torch.ops.aten.{_name}_backward(grad, {[3] * _dims}, size{_flag}).shape
    torch.Size({[1, 1, *[2] * _dims]})
""",
    )

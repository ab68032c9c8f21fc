r"""The docs of reading an image at the places of a grid.

Mirrors: torch/nn/functional.py
Leaves out: cuDNN.
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = """\
    interpolation_mode: 0 reads between pixels by straight lines, 1 the nearest pixel, 2 by cubic curves (2d only).
    padding_mode: outside of the input there are zeros (0), the pixels of the border (1), or the input mirrored (2).
    align_corners: whether -1 and 1 are the middles of the outer pixels, or the borders of the image.
"""
_FORMS = {
    "grid_sampler": ("two or three", ":math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`"),
    "grid_sampler_2d": ("two", ":math:`(N, C, H, W)`"),
    "grid_sampler_3d": ("three", ":math:`(N, C, D, H, W)`"),
}

for _name, (_dims, _input) in _FORMS.items():
    _image = "torch.arange(4.0).reshape(1, 1, 1, 2, 2)" if "3d" in _name else "torch.arange(4.0).reshape(1, 1, 2, 2)"
    _zeros = "torch.zeros(1, 1, 1, 1, 3)" if "3d" in _name else "torch.zeros(1, 1, 1, 2)"
    add_docstr(
        _name,
        rf"""
Read an image of {_dims} dimensions at the places of a grid: the op of ``torch.nn.functional.grid_sample``.

Args:
    input: {_input}.
    grid: the places: x, y (and z) from -1 to 1 in the last dimension.
{_ARGS}
Shape: N, C and the sizes of the grid without its first and last.

Raises:
    RuntimeError: the shapes or dtypes do not fit.

Example:
    >>> torch.{_name}({_image}, {_zeros}, 0, 0, False).item()
    1.5
""",
    )
    if _name != "grid_sampler":
        add_docstr(
            f"{_name}_backward",
            rf"""
Return the gradients of :func:`{_name}` for ``input`` and ``grid``.

Args:
    grid: the places.
{_ARGS}    output_mask: two bools: which of the gradients to compute; that of the grid is always computed.

Shape: the shapes of ``input`` and ``grid``.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x, grid = {_image}, {_zeros}
    >>> grad = torch.ones_like(torch.{_name}(x, grid, 0, 0, False))
    >>> torch.ops.aten.{_name}_backward(grad, x, grid, 0, 0, False, [True, True])[0].flatten()[:2]
    tensor([{"0.2500, 0.2500"}])
""",
        )

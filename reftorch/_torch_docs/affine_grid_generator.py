r"""The docs of the grid of an affine map.

Mirrors: torch/nn/functional.py
Leaves out: cuDNN.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "affine_grid_generator",
    r"""
Return the places that an affine map reads, for :func:`grid_sampler`: the op of ``torch.nn.functional.affine_grid``.

Args:
    theta: the maps, :math:`(N, 2, 3)` or :math:`(N, 3, 4)`.
    size: the shape of the image to be read, :math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`.
    align_corners: whether -1 and 1 are the middles of the outer pixels, or the borders of the image.

Shape: :math:`(N, H, W, 2)` or :math:`(N, D, H, W, 3)`.

Raises:
    RuntimeError: ``size`` has another length, or the sizes do not fit.

Example:
    >>> same = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> torch.affine_grid_generator(same, [1, 1, 1, 2], True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
""",
)

add_docstr(
    "affine_grid_generator_backward",
    r"""
Return the gradient of :func:`affine_grid_generator` for ``theta``.

Args:
    grad: the gradient of the grid.
    size: the argument of the forward call.
    align_corners: the argument of the forward call.

Shape: :math:`(N, 2, 3)` or :math:`(N, 3, 4)`.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> torch.ops.aten.affine_grid_generator_backward(torch.ones(1, 1, 2, 2), [1, 1, 1, 2], True)
    tensor([[[0., 0., 2.],
             [0., 0., 2.]]])
""",
)

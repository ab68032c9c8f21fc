"""The docs of the windows of images.

Their public names are in ``torch.nn.functional``.

Mirrors: torch/nn/functional.py
Leaves out: the pictures.
"""

from reftorch._torch_docs._entries import add_docstr

_WINDOWS = """    kernel_size: the height and the width of a window.
    dilation: the distance between elements of a window.
    padding: the number of zeros around the image.
    stride: the steps by which the window moves."""

add_docstr(
    "im2col",
    f"""
Copy the windows of images into the columns of matrices. Its public name is ``torch.nn.functional.unfold``.

Args:
    input: images (N, C, H, W) or (C, H, W).
{_WINDOWS}

Shape: (N, C kernel_size[0] kernel_size[1], L), where L is the number of windows.

Raises:
    RuntimeError: an argument is negative, or no window fits.

Example:
    >>> torch._C._nn.im2col(torch.arange(9.0).reshape(1, 1, 3, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
""",
)

add_docstr(
    "col2im",
    f"""
Add the columns of matrices up to images, at the places from which ``im2col`` copies them. Its public name is
``torch.nn.functional.fold``.

Args:
    input: columns (N, C kernel_size[0] kernel_size[1], L) or the same without N.
    output_size: the height and the width of the images.
{_WINDOWS}

Shape: (N, C, output_size[0], output_size[1]).

Raises:
    RuntimeError: an argument is negative, or the number of columns is not the number of windows.

Example:
    >>> torch._C._nn.col2im(torch.ones(1, 4, 4), (3, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
""",
)

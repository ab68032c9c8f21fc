"""Ops that torch.nn.functional has under the same name: padding, shuffling channels and pixels, prelu and bilinear.

Mirrors: torch/nn/functional.py (its calls of _add_docstr)
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "constant_pad_nd",
    """
Pad a tensor with one value; ``torch.nn.functional.pad`` has other modes too.

Args:
    pad: the numbers of elements to add before and after: first of the last dimension, then of the dimension before it,
        and so on. A negative number removes elements.
    value: the value of the padding.

Shape: the shape of ``input``, with ``pad[0] + pad[1]`` added to the last size, ``pad[2] + pad[3]`` to the size before
it.

Raises:
    RuntimeError: ``pad`` has an odd length, or more than two numbers for each dimension; or a size would be negative.

Example:
    >>> torch.constant_pad_nd(torch.tensor([[1, 2]]), (1, 0, 0, 1), 9)
    tensor([[9, 1, 2],
            [9, 9, 9]])
""",
)

add_docstr(
    "pixel_shuffle",
    r"""
Rearrange channels into pixels: the image becomes ``upscale_factor`` times as high and wide.

With a factor r, :math:`y_{c,\, h r + i,\, w r + j} = x_{c r^2 + i r + j,\, h,\, w}`.

Shape: (*, C r r, H, W) -> (*, C, H r, W r).

Raises:
    RuntimeError: the number of channels is not a multiple of :math:`r^2`, or ``input`` has fewer than 3 dimensions.

Example:
    >>> torch.pixel_shuffle(torch.arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
""",
)

add_docstr(
    "pixel_unshuffle",
    r"""
Rearrange the pixels of an image into channels: the inverse of :func:`pixel_shuffle`.

Shape: (*, C, H r, W r) -> (*, C r r, H, W), for r = ``downscale_factor``.

Raises:
    RuntimeError: height or width is not a multiple of r, or ``input`` has fewer than 3 dimensions.

Example:
    >>> torch.pixel_unshuffle(torch.tensor([[[0, 1], [2, 3]]]), 2).flatten()
    tensor([0, 1, 2, 3])
""",
)

add_docstr(
    "channel_shuffle",
    """
Mix the channels of groups: the first channel of each group, then the second of each, and so on.

Args:
    groups: the number of groups of equal size into which the channels are divided.

Shape: the shape of ``input``, (N, C, *).

Raises:
    RuntimeError: the number of channels is not a multiple of ``groups``.

Example:
    >>> torch.channel_shuffle(torch.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
""",
)

add_docstr(
    "prelu",
    r"""
Multiply negative elements by a weight that can be learned: :math:`\max(0, x) + w \min(0, x)`.

Args:
    weight: one number for all elements, or one number for each channel. The channels are the second dimension.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the number of weights is neither 1 nor the number of channels, or the dtypes differ.

Example:
    >>> torch.prelu(torch.tensor([-2.0, 3.0]), torch.tensor([0.1]))
    tensor([-0.2000,  3.0000])
""",
)

add_docstr(
    "bilinear",
    r"""
Apply a bilinear map: :math:`y_o = x_1^T W_o x_2 + b_o`.

Args:
    input1, input2: vectors in their last dimension; their other dimensions are equal.
    weight: a matrix for each output.
    bias: a number for each output.

Shape: (*, I), (*, J), (O, I, J), (O,) -> (*, O).

Raises:
    RuntimeError: the sizes do not match.

Example:
    >>> x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    >>> torch.bilinear(x, y, torch.eye(2).reshape(1, 2, 2))
    tensor([11.])
""",
)

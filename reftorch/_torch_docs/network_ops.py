"""What torch.nn.functional shows under the same name: borders, channels and pixels, weights of an op's own.

Mirrors: torch/nn/functional.py (its calls of _add_docstr)
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "constant_pad_nd",
    """
Put a border of one value around a tensor; ``torch.nn.functional.pad`` has other borders too.

Args:
    pad: how many elements to put before and after, first for the last dimension, then for the one before it, and so on;
        a negative number takes elements away.
    value: the value of the border.

Shape: that of ``input``, with ``pad[0] + pad[1]`` added to the last size, ``pad[2] + pad[3]`` to the one before.

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
Make an image of ``upscale_factor`` times the height and width out of its channels.

With a factor r, :math:`y_{c,\, h r + i,\, w r + j} = x_{c r^2 + i r + j,\, h,\, w}`.

Shape: (*, C r r, H, W) -> (*, C, H r, W r).

Raises:
    RuntimeError: the number of channels is no multiple of :math:`r^2`, or ``input`` has fewer than 3 dimensions.

Example:
    >>> torch.pixel_shuffle(torch.arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
""",
)

add_docstr(
    "pixel_unshuffle",
    r"""
Make channels out of an image's pixels: the inverse of :func:`pixel_shuffle`.

Shape: (*, C, H r, W r) -> (*, C r r, H, W), for r = ``downscale_factor``.

Raises:
    RuntimeError: height or width is no multiple of r, or ``input`` has fewer than 3 dimensions.

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
    groups: into how many groups of equal size the channels are divided.

Shape: that of ``input``, (N, C, *).

Raises:
    RuntimeError: the number of channels is no multiple of ``groups``.

Example:
    >>> torch.channel_shuffle(torch.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
""",
)

add_docstr(
    "prelu",
    r"""
Scale negative elements by a weight that can be learned: :math:`\max(0, x) + w \min(0, x)`.

Args:
    weight: one number for all elements, or one for each channel, the second dimension.

Shape: that of ``input``.

Raises:
    RuntimeError: there are neither one weight nor as many as channels, or the dtypes differ.

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
    input1, input2: vectors in their last dimension; the other dimensions are the same.
    weight: a matrix for each output.
    bias: a number for each output.

Shape: (*, I), (*, J), (O, I, J), (O,) -> (*, O).

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    >>> torch.bilinear(x, y, torch.eye(2).reshape(1, 2, 2))
    tensor([11.])
""",
)

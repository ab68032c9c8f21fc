"""The docs of shuffles of pixels and channels.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
    "native_channel_shuffle",
    """
Mix the channels of groups as :func:`channel_shuffle` does, without a gradient: PyTorch's kernel for CPUs.

Args:
    groups: the number of groups of equal size into which the channels are divided.

Shape: the shape of ``input``, (N, C, *).

Raises:
    RuntimeError: the number of channels is not a multiple of ``groups``.

Example:
    >>> torch.native_channel_shuffle(torch.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
""",
)

"""Pictures in the form that TensorBoard takes: rows, columns, channels.

Mirrors: torch/utils/tensorboard/_utils.py
Leaves out: videos.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["convert_to_HWC", "figure_to_image", "make_grid"]


def figure_to_image(figures: Any, close: bool = True) -> np.ndarray:
    """Draw a figure of matplotlib, or several of one size, into arrays of channels, rows, columns (and pictures first).

    Mirrors torch/utils/tensorboard/_utils.py, ``figure_to_image``.
    """
    if isinstance(figures, list):
        return np.stack([figure_to_image(figure, close) for figure in figures])
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figures)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    if close:
        plt.close(figures)
    return np.moveaxis(pixels, 2, 0)


def make_grid(I: np.ndarray, ncols: int = 8) -> np.ndarray:  # noqa: E741 (PyTorch's name)
    """Put pictures side by side, in rows of at most ``ncols``: (N, 1 or 3, H, W) to (3, rows * H, columns * W).

    Raises:
        AssertionError: the pictures do not have one or three channels.

    Mirrors torch/utils/tensorboard/_utils.py, ``make_grid``.
    """
    if I.ndim != 4 or I.shape[1] not in (1, 3):
        raise AssertionError(f"Input should be a 4D numpy array with 1 or 3 channels, got the shape {I.shape}")
    count, _, height, width = I.shape
    ncols = min(count, ncols)
    canvas = np.zeros((3, height * -(-count // ncols), width * ncols), dtype=I.dtype)
    for i, picture in enumerate(I):
        row, column = divmod(i, ncols)
        canvas[:, row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return canvas


def convert_to_HWC(tensor: np.ndarray, input_format: str) -> np.ndarray:
    """Bring the dimensions into the order rows, columns, channels; several pictures become a grid, grey becomes RGB.

    Mirrors torch/utils/tensorboard/_utils.py, ``convert_to_HWC``.
    """
    if len(set(input_format)) != len(input_format):
        raise AssertionError(f"You can not use the same dimension shorthand twice. input_format: {input_format}")
    if tensor.ndim != len(input_format):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {tensor.shape}, "
            f"input_format: {input_format}"
        )
    order = {2: "HW", 3: "HWC", 4: "NCHW"}.get(tensor.ndim, "")
    if set(input_format.upper()) != set(order):
        raise AssertionError(f"dataformats should be letters of NCHW, as NCHW, CHW or HW, got {input_format}")
    tensor = tensor.transpose([input_format.upper().index(letter) for letter in order])
    if tensor.ndim == 4:
        return make_grid(tensor).transpose(1, 2, 0)
    if tensor.ndim == 2:
        tensor = tensor[:, :, np.newaxis]
    return np.repeat(tensor, 3, axis=2) if tensor.shape[2] == 1 else tensor

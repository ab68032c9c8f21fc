"""Attention whose scores a function of the program changes. It exists by its names only.

Mirrors: torch/nn/attention/flex_attention.py
Leaves out: everything but the errors: PyTorch compiles a kernel for each such function, and there is no compiler here.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

__all__ = ["AuxRequest", "BlockMask", "create_block_mask", "flex_attention"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128  # of PyTorch, which libraries import for the sizes of their masks
_WHY = "it needs a compiler, which does not exist here. Hint: scaled_dot_product_attention takes a mask"


class AuxRequest(NamedTuple):
    """Which further results a call of ``flex_attention`` asks for.

    Mirrors torch/nn/attention/flex_attention.py, ``AuxRequest``.
    """

    lse: bool = False
    max_scores: bool = False


class BlockMask:
    """The mask that ``create_block_mask`` makes in PyTorch. Nothing makes one here.

    Mirrors torch/nn/attention/flex_attention.py, ``BlockMask``.
    """


def create_block_mask(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/nn/attention/flex_attention.py, ``create_block_mask``.
    """
    raise NotImplementedError(f"create_block_mask: {_WHY}")


def flex_attention(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/nn/attention/flex_attention.py, ``flex_attention``.
    """
    raise NotImplementedError(f"flex_attention: {_WHY}")

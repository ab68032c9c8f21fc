"""The docs of searches in sorted sequences.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "searchsorted",
    """
Return the indices at which elements can be inserted into a sorted sequence, so that the sequence stays sorted.

Args:
    sorted_sequence: a tensor that is sorted along its last dimension.
    input: the elements, or a number.
    right: insert after equal elements instead of before them; ``side`` = "right" has the same meaning, "left" the
        opposite.
    out_int32: return int32 instead of int64.
    sorter: the indices that sort ``sorted_sequence``, if the sequence is not sorted.

Shape: (*, N), (*, M) -> (*, M), of int64.

Example:
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
""",
)

add_docstr(
    "bucketize",
    """
Return, for each element, the index of its range between ``boundaries``.

Args:
    boundaries: a sorted vector.
    right: if True, an element that equals a boundary belongs to the next range.
    out_int32: return int32 instead of int64.

Shape: any, (N,) -> the shape of ``input``, of int64.

Example:
    >>> torch.bucketize(torch.tensor([[3, 6], [1, 9]]), torch.tensor([1, 3, 5]))
    tensor([[1, 3],
            [0, 3]])
""",
)

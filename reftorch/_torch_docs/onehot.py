"""The docs of classes as unit vectors.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "one_hot",
    """
Return a vector with a single 1 for each class index. Its public name is ``torch.nn.functional.one_hot``.

Args:
    num_classes: the number of classes; -1 means one more than the largest index.

Shape: (*) -> (*, ``num_classes``), of int64.

Example:
    >>> torch._C._nn.one_hot(torch.tensor([1, 0]), 3)
    tensor([[0, 1, 0],
            [1, 0, 0]])
""",
)

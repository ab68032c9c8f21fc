"""The docs of products of several matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "chain_matmul",
    """
Multiply several matrices, in the order that needs the fewest operations. ``torch.chain_matmul`` calls this op.

Shape: (N0, N1), (N1, N2), ... -> (N0, Nk).

Example:
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1, 2)])
    tensor([[3., 3.],
            [3., 3.]])
""",
)

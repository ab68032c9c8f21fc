"""The docs of products of Householder reflections.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "geqrf",
    """
Return the QR factors in LAPACK's format: R above, the vectors of the reflections below, and their factors tau.

Shape: (*, M, N) -> (*, M, N), (*, K) with K = min(M, N).

Example:
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> a, tau
    (tensor([[-5.0000],
            [ 0.5000]]), tensor([1.6000]))
""",
)

add_docstr(
    "orgqr",
    r"""
Return the first columns of a product of reflections, :math:`H_1 H_2 \cdots H_K`: Q from the results of :func:`geqrf`.

Args:
    input2: the factors tau.

Shape: (*, M, N), (*, K) -> (*, M, N) with M >= N >= K.

Example:
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.orgqr(a, tau)
    tensor([[-0.6000],
            [-0.8000]])
""",
)

add_docstr(
    "ormqr",
    """
Multiply a matrix by all columns of Q, without computing Q. The results of :func:`geqrf` describe Q.

Args:
    input2: the factors tau.
    input3: the matrix.
    left: multiply by Q from the left; if False, from the right.
    transpose: multiply by the transpose of Q.

Shape: (*, M, N), (*, K), (*, M, L) -> (*, M, L); the matrix is (*, L, M) if ``left`` is False.

Example:
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.ormqr(a, tau, torch.eye(2))[:, 0]
    tensor([-0.6000, -0.8000])
""",
)

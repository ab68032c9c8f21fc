r"""The docs of noise that sets elements, or whole channels, to zero.

Mirrors: torch/nn/functional.py (``dropout``, ``alpha_dropout``, ...)
Leaves out: the references to papers.
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = """
    p: the probability, from 0 to 1.
    train: without training, the function returns its input."""

add_docstr(
    "dropout",
    rf"""
In training, set elements to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

Args:{_ARGS}

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not between 0 and 1.

Example:
    >>> sorted(set(torch.dropout(torch.ones(100), 0.75, True).tolist()))
    [0.0, 4.0]
""",
)
add_docstr(
    "feature_dropout",
    rf"""
In training, set whole channels to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

Args:
    input: :math:`(N, C, *)`.{_ARGS}

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not between 0 and 1, or ``input`` has fewer than two dimensions.

Example:
    >>> x = torch.feature_dropout(torch.ones(3, 2, 5), 0.5, True)
    >>> (x == x[..., :1]).all().item()
    True
""",
)
add_docstr(
    "alpha_dropout",
    rf"""
In training, drop elements and keep mean 0 and variance 1: the dropout for networks with ``selu``.

With probability :math:`p` an element becomes :math:`-\alpha', \alpha' \approx 1.758`; then every element is mapped to
:math:`a x + a \alpha' p` with :math:`a = ((1 - p)(1 + p \alpha'^2))^{{-1/2}}`.

Args:{_ARGS}

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not between 0 and 1.

Example:
    >>> torch.alpha_dropout(torch.zeros(100), 0.5, True).unique()
    tensor([-0.7792,  0.7792])
""",
)
add_docstr(
    "feature_alpha_dropout",
    rf"""
In training, drop whole channels as :func:`alpha_dropout` drops elements.

Args:
    input: :math:`(N, C, *)`.{_ARGS}

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not between 0 and 1, or ``input`` has fewer than two dimensions.

Example:
    >>> x = torch.feature_alpha_dropout(torch.zeros(3, 2, 5), 0.5, True)
    >>> (x == x[..., :1]).all().item()
    True
""",
)
add_docstr(
    "native_dropout",
    r"""
Drop elements as :func:`dropout` does, and return the mask too.

Args:
    p: the probability, from 0 to 1.
    train: without training, nothing is dropped; None counts as training.

Shape: the result and the mask, which is True where an element was kept, have the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not between 0 and 1.

Example:
    >>> x = torch.ones(100)
    >>> y, mask = torch.native_dropout(x, 0.5, True)
    >>> y.equal(2 * mask)
    True
""",
)
add_docstr(
    "native_dropout_backward",
    r"""
Return the gradient of :func:`native_dropout` for ``input``: ``grad_output * mask * scale``.

Args:
    grad_output: the gradient of the result.
    mask: the mask of the forward call.
    scale: the factor of the elements that were kept.

Shape: the shape of ``grad_output``.

Example:
    >>> torch.ops.aten.native_dropout_backward(torch.ones(2), torch.tensor([True, False]), 4.0)
    tensor([4., 0.])
""",
)

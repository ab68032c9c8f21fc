r"""The docs of scaled dot-product attention.

Mirrors: torch/nn/functional.py (``scaled_dot_product_attention``)
Leaves out: the notes on kernels for GPUs.
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = r"""    query: :math:`Q`, :math:`(*, L, E)`.
    key: :math:`K`, :math:`(*, S, E)`.
    value: :math:`V`, :math:`(*, S, D)`.
    attn_mask: :math:`M`, of a shape that broadcasts to :math:`(*, L, S)`; in a boolean mask, True keeps a key.
    dropout_p: the probability with which weights are dropped; it must be 0 when not training.
    is_causal: whether query :math:`i` can use only the keys up to :math:`i`."""
_SCALE = r"    scale: :math:`s`, by default :math:`1 / \sqrt{E}`."
_GQA = """    enable_gqa: whether several query heads share a head of keys and values; the heads are the third dimension
        from the end."""

add_docstr(
    "scaled_dot_product_attention",
    rf"""
Give each query a mean of the values, weighted by how well their keys match the query.

The result is :math:`\mathrm{{softmax}}(s\, Q K^T + M)\, V`; the softmax runs along the keys. If all keys of a query are
masked, the query gets zeros. A kernel that never stores the whole matrix of weights computes tensors of four dimensions
without dropout whose rows are dense and whose mask needs no gradient.

Args:
{_ARGS}
{_SCALE}
{_GQA}

Shape: :math:`(*, L, D)`.

Raises:
    RuntimeError: shapes or dtypes do not match, or ``attn_mask`` is given together with ``is_causal`` where the kernel
        does not serve.

Example:
    >>> x = torch.eye(2).unsqueeze(0)
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.3302, 0.6698]]])
""",
)
add_docstr(
    "_scaled_dot_product_attention_math",
    rf"""
Compute :func:`scaled_dot_product_attention` in small operations, with all weights in memory.

Args:
{_ARGS}
    dropout_mask: which weights to keep, instead of a random choice.
{_SCALE}
{_GQA}

Shape: the result, :math:`(*, L, D)`, and the weights, :math:`(*, L, S)`.

Raises:
    RuntimeError: shapes do not match, or ``attn_mask`` is given together with ``is_causal``.

Example:
    >>> x = torch.eye(2)
    >>> torch._scaled_dot_product_attention_math(x, x, x, is_causal=True)[1]
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
""",
)
add_docstr(
    "_fused_sdp_choice",
    rf"""
Return the number of the way in which :func:`scaled_dot_product_attention` computes: 0 for small operations, 1 for the
kernel that never stores the whole matrix of weights.

Args:
{_ARGS}
{_SCALE}
{_GQA}

Shape: a number, not a tensor.

Example:
    >>> x = torch.ones(1, 1, 2, 2)
    >>> torch._fused_sdp_choice(x, x, x), torch._fused_sdp_choice(x, x, x, dropout_p=0.5)
    (1, 0)
""",
)
add_docstr(
    "_safe_softmax",
    """
Return the softmax along a dimension, and zeros where all elements are ``-inf``: the plain softmax makes NaN of them.

Args:
    dim: the dimension along which the results add up to 1.
    dtype: the dtype to which the elements are converted first.

Shape: the shape of ``input``.

Example:
    >>> torch._safe_softmax(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]), -1)
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000]])
""",
)
add_docstr(
    "_scaled_dot_product_flash_attention_for_cpu",
    rf"""
Compute :func:`scaled_dot_product_attention` by tiles, and never store the whole matrix of weights.

Args:
    query: :math:`Q`, :math:`(B, H, L, E)`.
    key: :math:`K`, :math:`(B, G, S, E)`, where :math:`G` divides :math:`H`: so many heads of queries share a head.
    value: :math:`V`, of the shape of ``key``.
    dropout_p: must be 0.
    is_causal: whether query :math:`i` can use only the keys up to :math:`i`.
    attn_mask: :math:`M`, of a shape of two or four dimensions that broadcasts to :math:`(B, H, L, S)`, not boolean.
{_SCALE}

Shape: ``output`` has the shape of ``query``. ``logsumexp``, the logarithm of the sum of the exponentials of each
query's scores, is :math:`(B, H, L)`.

Raises:
    RuntimeError: shapes or dtypes do not match, or ``dropout_p`` is not 0.

Example:
    >>> x = torch.zeros(1, 1, 2, 2)
    >>> torch._scaled_dot_product_flash_attention_for_cpu(x, x, x, is_causal=True).logsumexp.flatten()
    tensor([0.0000, 0.6931])
""",
)
add_docstr(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    """
Return the gradients of :func:`_scaled_dot_product_flash_attention_for_cpu` for query, key and value.

Args:
    grad_out: the gradient of ``output``.
    query: the argument of the forward call.
    key: the argument of the forward call.
    value: the argument of the forward call.
    out: the output of the forward call.
    logsumexp: the second result of the forward call.
    dropout_p: must be 0.
    is_causal: the argument of the forward call.
    attn_mask: the argument of the forward call.
    scale: the argument of the forward call.

Shape: the shapes of ``query``, ``key`` and ``value``.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x = torch.ones(1, 1, 2, 1)
    >>> y, logsumexp = torch._scaled_dot_product_flash_attention_for_cpu(x, x, x)
    >>> op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    >>> op(x, x, x, x, y, logsumexp, 0.0, False)[2].flatten()
    tensor([1., 1.])
""",
)

"""The docs of cross entropy.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cross_entropy_loss",
    """
Return the cross entropy of class scores. Its public name is ``torch.nn.functional.cross_entropy``.

Args:
    target: class indices, or probabilities of the shape of ``input``.
    weight: the weight of each class.
    reduction: 0 does not reduce, 1 takes the mean, 2 takes the sum.
    ignore_index: targets of this value are ignored.
    label_smoothing: the fraction of the target that is spread over all classes.

Shape: (N, C), (N,) -> (), or (N,) without a reduction.

Example:
    >>> torch._C._nn.cross_entropy_loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), None, 1)
    tensor(0.6931)
""",
)

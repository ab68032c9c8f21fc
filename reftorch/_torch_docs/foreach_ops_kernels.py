"""Functions of lists of tensors, ``_foreach_add`` and the like.

Mirrors: torch/_torch_docs.py
Leaves out: the notes on devices.

Each function does for every tensor of a list what the function of its name does for one tensor, so most of these texts
are made of one form.
"""

from reftorch._torch_docs._entries import add_docstr

RAISES = "RuntimeError: the list is empty"
LISTS = "RuntimeError: the list is empty, or the lists have different lengths"


def _foreach(name: str, meaning: str, call: str, result: str, raises: str = LISTS, args: str = "") -> None:
    """Add the text of ``_foreach_<name>``, with one example."""
    args = f"\nArgs:\n{args}" if args else ""
    add_docstr(
        f"_foreach_{name}",
        f"""
{meaning}

One call does the work of a loop over the tensors. The form that ends in ``_`` changes the tensors of the first list in
place and returns this list.
{args}
Shape: a tuple with one tensor for each tensor of the list, with the shape of the result for this tensor.

Raises:
    {raises}.

Example:
    >>> torch._foreach_{name}({call})
    {result}
""",
    )


_foreach("abs", "Return the absolute values of the tensors in a list.", "[torch.tensor([-1.0, 2.0])]",
         "(tensor([1., 2.]),)", RAISES)  # fmt: skip
_foreach("exp", "Return :math:`e^x` of the tensors in a list.", "[torch.zeros(2)]", "(tensor([1., 1.]),)", RAISES)
_foreach("neg", "Return the negatives of the tensors in a list.", "[torch.ones(2)]", "(tensor([-1., -1.]),)", RAISES)
_foreach("reciprocal", "Return :math:`1/x` of the tensors in a list.", "[torch.tensor([4.0])]", "(tensor([0.2500]),)",
         RAISES)  # fmt: skip
_foreach("rsqrt", r"Return :math:`1/\sqrt x` of the tensors in a list.", "[torch.tensor([4.0])]",
         "(tensor([0.5000]),)", RAISES)  # fmt: skip
_foreach("sign", "Return the signs of the tensors in a list.", "[torch.tensor([-3.0, 2.0])]", "(tensor([-1.,  1.]),)",
         RAISES)  # fmt: skip
_foreach("sqrt", "Return the square roots of the tensors in a list.", "[torch.tensor([4.0])]", "(tensor([2.]),)",
         RAISES)  # fmt: skip
_foreach(
    "norm",
    "Return the norms of the tensors in a list.",
    "[torch.tensor([3.0, 4.0])]",
    "(tensor(5.),)",
    RAISES,
    "    ord: the order of the norm, as in :func:`torch.linalg.vector_norm`.\n    dtype: the dtype of the result.\n",
)
SECOND = "    other: a list of as many tensors or numbers, a number, or a tensor that holds one number.\n"
BOUND = "    other: a list of as many tensors or numbers, or a number.\n"
_foreach("add", "Return the sums of the tensors in a list and others.", "[torch.ones(2)], 2.0", "(tensor([3., 3.]),)",
         args=SECOND + "    alpha: the factor of ``other``.\n")  # fmt: skip
_foreach("sub", "Return the differences of the tensors in a list and others.", "[torch.ones(2)], 2.0",
         "(tensor([-1., -1.]),)", args=BOUND + "    alpha: the factor of ``other``.\n")  # fmt: skip
_foreach("mul", "Return the products of the tensors in a list and others.", "[torch.ones(2)], 2.0",
         "(tensor([2., 2.]),)", args=SECOND)  # fmt: skip
_foreach("div", "Return the quotients of the tensors in a list and others.", "[torch.ones(2)], 2.0",
         "(tensor([0.5000, 0.5000]),)", args=SECOND)  # fmt: skip
for name in ("clamp_min", "maximum"):
    _foreach(name, "Return the larger one of each element of the tensors in a list and of others.",
             "[torch.tensor([1.0, 3.0])], 2.0", "(tensor([2., 3.]),)", args=BOUND)  # fmt: skip
for name in ("clamp_max", "minimum"):
    _foreach(name, "Return the smaller one of each element of the tensors in a list and of others.",
             "[torch.tensor([1.0, 3.0])], 2.0", "(tensor([1., 2.]),)", args=BOUND)  # fmt: skip
_foreach("pow", "Return powers of the tensors in a list, or of one number.", "[torch.tensor([3.0])], 2.0",
         "(tensor([9.]),)", args="    exponent: a list of as many tensors or numbers, or a number.\n")  # fmt: skip
TWO = """\
    tensor1: a list of as many tensors.
    tensor2: a list of as many tensors.
    value: the factor.
    scalars: in place of ``value``, a factor for each tensor: a list of numbers, or a tensor of one dimension on the CPU
        that does not require a gradient.
"""
_foreach("addcmul", "Return ``x + value * tensor1 * tensor2`` of the tensors in lists.",
         "[torch.ones(2)], [torch.ones(2)], [torch.ones(2)], 2.0", "(tensor([3., 3.]),)", args=TWO)  # fmt: skip
_foreach("addcdiv", "Return ``x + value * tensor1 / tensor2`` of the tensors in lists.",
         "[torch.ones(2)], [torch.ones(2)], [torch.ones(2)], 2.0", "(tensor([3., 3.]),)", args=TWO)  # fmt: skip
_foreach(
    "lerp",
    "Return the tensors in a list, moved towards those of a second list.",
    "[torch.zeros(2)], [torch.ones(2)], 0.25",
    "(tensor([0.2500, 0.2500]),)",
    args="    tensors1: the list of the ends.\n"
    "    weight: the part of the way, a number or a list of tensors or numbers.\n",
)

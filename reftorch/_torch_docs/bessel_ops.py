"""The docs of Bessel functions and Airy's function.

These functions are in ``torch.special`` only.

Mirrors: torch/special/__init__.py (airy_ai, bessel_j0, ..., spherical_bessel_j0)
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "special_airy_ai",
    r"""
Return Airy's function :math:`\mathrm{Ai}(x)` of each element, the solution of :math:`y'' = x y` that decays for
large x (``torch.special.airy_ai``). It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.airy_ai(torch.tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])
""",
)

add_docstr(
    "special_bessel_j0",
    r"""
Return the Bessel function of the first kind of order 0, :math:`J_0(x)`, of each element:
``torch.special.bessel_j0``. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.bessel_j0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
""",
)

add_docstr(
    "special_bessel_j1",
    r"""
Return the Bessel function of the first kind of order 1, :math:`J_1(x)`, of each element:
``torch.special.bessel_j1``. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.bessel_j1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])
""",
)

add_docstr(
    "special_bessel_y0",
    r"""
Return the Bessel function of the second kind of order 0, :math:`Y_0(x)`, of each element:
``torch.special.bessel_y0``. The result is -inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.bessel_y0(torch.tensor([1.0, 2.0]))
    tensor([0.0883, 0.5104])
""",
)

add_docstr(
    "special_bessel_y1",
    r"""
Return the Bessel function of the second kind of order 1, :math:`Y_1(x)`, of each element:
``torch.special.bessel_y1``. The result is -inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.bessel_y1(torch.tensor([1.0, 2.0]))
    tensor([-0.7812, -0.1070])
""",
)

add_docstr(
    "special_modified_bessel_i0",
    r"""
Return the modified Bessel function of the first kind of order 0, :math:`I_0(x)`, of each element:
``torch.special.modified_bessel_i0``. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.modified_bessel_i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
""",
)

add_docstr(
    "special_modified_bessel_i1",
    r"""
Return the modified Bessel function of the first kind of order 1, :math:`I_1(x)`, of each element:
``torch.special.modified_bessel_i1``. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.modified_bessel_i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
""",
)

add_docstr(
    "special_modified_bessel_k0",
    r"""
Return the modified Bessel function of the second kind of order 0, :math:`K_0(x)`, of each element:
``torch.special.modified_bessel_k0``. The result is inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.modified_bessel_k0(torch.tensor([1.0, 2.0]))
    tensor([0.4210, 0.1139])
""",
)

add_docstr(
    "special_modified_bessel_k1",
    r"""
Return the modified Bessel function of the second kind of order 1, :math:`K_1(x)`, of each element:
``torch.special.modified_bessel_k1``. The result is inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.modified_bessel_k1(torch.tensor([1.0, 2.0]))
    tensor([0.6019, 0.1399])
""",
)

add_docstr(
    "special_scaled_modified_bessel_k0",
    r"""
Return the scaled modified Bessel function :math:`e^x K_0(x)`, of each element:
``torch.special.scaled_modified_bessel_k0``. The result is inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.scaled_modified_bessel_k0(torch.tensor([1.0, 2.0]))
    tensor([1.1445, 0.8416])
""",
)

add_docstr(
    "special_scaled_modified_bessel_k1",
    r"""
Return the scaled modified Bessel function :math:`e^x K_1(x)`, of each element:
``torch.special.scaled_modified_bessel_k1``. The result is inf at 0 and nan for negative elements. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.scaled_modified_bessel_k1(torch.tensor([1.0, 2.0]))
    tensor([1.6362, 1.0335])
""",
)

add_docstr(
    "special_spherical_bessel_j0",
    r"""
Return the spherical Bessel function of the first kind of order 0, :math:`\sin(x) / x`, of each element:
``torch.special.spherical_bessel_j0``. The result is 1 at 0. It has no derivative.

Shape: the shape of ``input``.

Example:
    >>> torch.special.spherical_bessel_j0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.8415])
""",
)

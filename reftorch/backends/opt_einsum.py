"""The package that orders the products of ``einsum``, which is not used here.

Mirrors: torch/backends/opt_einsum/__init__.py
Leaves out: everything but the questions.
"""

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]


def is_available() -> bool:
    """Return False: ``einsum`` multiplies from left to right here.

    Mirrors torch/backends/opt_einsum/__init__.py, ``is_available``.
    """
    return False


def get_opt_einsum() -> None:
    """Return None: ``einsum`` multiplies from left to right here.

    Mirrors torch/backends/opt_einsum/__init__.py, ``get_opt_einsum``.
    """


enabled = False
strategy = None

"""Switches of how ``module.to()`` changes parameters. They are remembered; a parameter stays the same object here.

Mirrors: torch/__future__.py
Leaves out: new Parameter objects, and the exchange of tensors by ``swap_tensors``.
"""

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Remember whether ``module.to()`` should assign new parameters.

    Mirrors torch/__future__.py, ``set_overwrite_module_params_on_conversion``.
    """
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Return whether ``module.to()`` should assign new parameters.

    Mirrors torch/__future__.py, ``get_overwrite_module_params_on_conversion``.
    """
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Remember whether ``module.to()`` should exchange the contents of parameters by ``swap_tensors``.

    Mirrors torch/__future__.py, ``set_swap_module_params_on_conversion``.
    """
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """Return whether ``module.to()`` should exchange the contents of parameters by ``swap_tensors``.

    Mirrors torch/__future__.py, ``get_swap_module_params_on_conversion``.
    """
    return _swap_module_params_on_conversion

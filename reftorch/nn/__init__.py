"""Networks: modules, parameters, losses and the initialization of parameters.

Mirrors: torch/nn/__init__.py
Leaves out: quantization, and the layers that the table of names (reftorch/_api) lists as missing.
"""

from reftorch.nn import common_types, functional, grad, init, modules, parallel, parameter, utils
from reftorch.nn.modules import *  # noqa: F403
from reftorch.nn.modules import __all__ as _modules
from reftorch.nn.parallel import DataParallel
from reftorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "common_types",
    "factory_kwargs",
    "functional",
    "grad",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
    *_modules,
]


def factory_kwargs(kwargs: dict | None) -> dict:
    """Return the keyword arguments of a module that its constructor passes to factories such as ``torch.empty``.

    Args:
        kwargs: ``device``, ``dtype`` and ``memory_format``; a dict ``factory_kwargs`` may hold them too, for a
            constructor that has another use for one of these names.

    Raises:
        TypeError: there are other names, or one is given twice.

    Example:
        >>> torch.nn.factory_kwargs({"factory_kwargs": {"dtype": torch.float64}})
        {'dtype': torch.float64}

    Mirrors torch/nn/__init__.py, ``factory_kwargs``.
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    if not kwargs.keys() <= names | {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - (names | {'factory_kwargs'})}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in names & kwargs.keys():
        if name in found:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        found[name] = kwargs[name]
    return found

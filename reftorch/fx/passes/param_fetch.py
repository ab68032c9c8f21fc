"""Writing the attributes of layers on the nodes that call them, so that a converter need not look at the modules.

Mirrors: torch/fx/passes/param_fetch.py
Leaves out: nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch._utils import typename
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import _torch_name
from reftorch.nn import Module
from reftorch.nn.modules.activation import ReLU
from reftorch.nn.modules.batchnorm import BatchNorm2d
from reftorch.nn.modules.conv import Conv2d
from reftorch.nn.modules.linear import Linear
from reftorch.nn.modules.pooling import AdaptiveAvgPool2d, MaxPool2d

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


def default_matching(name: str, target_version: int) -> str:
    """Return the name of an attribute in a version of a class: the same name in all versions.

    Mirrors torch/fx/passes/param_fetch.py, ``default_matching``.
    """
    return name


# The newest version of each class for which the list of attributes holds; the attributes; and a function that gives
# an attribute's name in an older version.
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    Linear: (1, ["weight", "bias"], default_matching),
    Conv2d: (
        1,
        ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"],
        default_matching,
    ),
    BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"], default_matching),
    AdaptiveAvgPool2d: (1, [], default_matching),
    MaxPool2d: (
        1,
        ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"],
        default_matching,
    ),
    ReLU: (1, ["inplace"], default_matching),
}


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """Return the name of a layer's class, and those attributes that ``module_fetch_book`` lists for the class.

    Raises:
        RuntimeError: the book does not have the class, or has an older version of it.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.fx.passes.param_fetch import extract_attrs_for_lowering
        >>> extract_attrs_for_lowering(torch.nn.ReLU())
        {'name': 'torch.nn.modules.activation.ReLU', 'inplace': False}

    Mirrors torch/fx/passes/param_fetch.py, ``extract_attrs_for_lowering``.
    """
    name = _torch_name(typename(mod))
    if type(mod) not in module_fetch_book:
        raise RuntimeError(f"{name} is not in the module_fetch_book yet, please add it to the module_fetch_book")
    version, attributes, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {name} version {mod._version}, "
            "please upgrade the module_fetch_book"
        )
    return {"name": name, **{attribute: getattr(mod, matching(attribute, mod._version)) for attribute in attributes}}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Write the attributes of each layer on the node that calls it, in ``node.attrs_for_lowering``.

    The graphs of submodules that are GraphModules are treated in the same way.

    Raises:
        RuntimeError: ``module_fetch_book`` does not have the class of a layer.

    Mirrors torch/fx/passes/param_fetch.py, ``lift_lowering_attrs_to_nodes``.
    """
    for node in fx_module.graph.find_nodes(op="call_module"):
        called = fx_module.get_submodule(str(node.target))
        if isinstance(called, GraphModule):
            lift_lowering_attrs_to_nodes(called)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(called)

"""Lets an editor unfold a tensor, in VARIABLES and under the mouse: first facts about the tensor, then its rows.

Mirrors: nothing in PyTorch: its tensors are shown by their attributes, where `imag` and others are tracebacks.
Left out: JupyterLab's debugger, whose kernel does not have this folder on its path.

debugpy finds this file on PYTHONPATH (the configurations put ``at_startup`` there) and imports it in the program.
"""

import sys
import warnings
from typing import Any

# In a process that a program starts, debugpy finds this file imported already, and would warn about its name.
warnings.filterwarnings("ignore", r"incompatible copy of pydevd already imported:\n .*pydevd_plugin_reftorch\.py$")
MOST_ROWS = 100
# Attributes and calls, as one would write them after the tensor's name; `grad` of a non-leaf tensor would warn.
ALWAYS = (".shape", ".dtype", ".device", ".stride()", ".storage_offset()", ".requires_grad", ".is_leaf", ".grad_fn")


def value_of(tensor: Any, name: str) -> Any:
    """Return the value of one of the names above, or of a row."""
    if name.startswith("["):
        return tensor.detach()[int(name[1:-1])]
    attribute = getattr(tensor, name.strip(".()"))
    return attribute() if name.endswith("()") else attribute


class TensorResolver:
    """The answers to debugpy's questions about a tensor: debugpy's interface TypeResolveProvider."""

    def can_provide(self, type_object: type, type_name: str) -> bool:
        """Return whether this is the type of a tensor."""
        tensor = getattr(sys.modules.get("reftorch"), "Tensor", None)
        return tensor is not None and issubclass(type_object, tensor)

    def get_contents_debug_adapter_protocol(self, tensor: Any, fmt: Any = None) -> list[tuple[str, Any, str]]:
        """Return for each part its name, its value, and the text that gets the value from the tensor's name."""
        names = [*ALWAYS, ".grad"] if tensor.is_leaf or tensor.retains_grad else list(ALWAYS)
        names += [f"[{i}]" for i in range(min(len(tensor), MOST_ROWS))] if tensor.dim() else []
        found = []
        for name in names:
            try:
                found.append((name.lstrip("."), value_of(tensor, name), name))
            except Exception as error:  # a subclass may refuse anything; the rest is shown all the same
                found.append((name.lstrip("."), f"{type(error).__name__}: {error}", name))
        return found

    def get_dictionary(self, tensor: Any) -> dict[str, Any]:
        """Return the names and values as a dict, for debugpy's older way to ask."""
        return {name: value for name, value, _ in self.get_contents_debug_adapter_protocol(tensor)}

    def resolve(self, tensor: Any, name: str) -> Any:
        """Return the value of one name."""
        return value_of(tensor, name)


try:
    from _pydevd_bundle.pydevd_extension_api import TypeResolveProvider
except ImportError:  # no debugger runs, and nobody asks
    pass
else:
    TypeResolveProvider.register(TensorResolver)

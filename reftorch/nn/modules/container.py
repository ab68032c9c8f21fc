"""Modules that hold other modules, or parameters, in order.

Mirrors: torch/nn/modules/container.py

The file is more than 500 lines long, because the containers share helpers.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch._warnings import warn
from reftorch.nn.modules.module import Module, _addindent
from reftorch.nn.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _position(idx: Any, size: int) -> int:
    """Return the index counted from the start."""
    idx = operator.index(idx)
    if not -size <= idx < size:
        raise IndexError(f"index {idx} is out of range")
    return idx % size


def _pairs(name: str, entries: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over the pairs of key and value that ``update`` of a dict was given, and check each of them."""
    for position, pair in enumerate(entries):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{position} should be Iterable; is{type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{position} has length {len(pair)}; 2 is required")
        yield pair


def _describe(value: Any, kind: Any) -> str:
    """Return the text of one value in the repr of a ParameterList or ParameterDict."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    device = f" ({value.device})" if value.device.type == "cuda" else ""
    return f"{name} containing: [{kind} of size {'x'.join(map(str, value.shape))}{device}]"


class Container(Module):
    """The old base class of containers; making one gives a FutureWarning.

    Args:
        kwargs: modules by name.

    Mirrors torch/nn/modules/container.py, ``Container``.
    """

    def __init__(self, **kwargs: Any) -> None:
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _ModuleSequence(Module):
    """The base class of Sequential and ModuleList: submodules in order, named by their positions."""

    def _key(self, idx: int) -> str:
        return list(self._modules)[_position(idx, len(self))]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        modules = list(self._modules.values())
        if not isinstance(idx, slice):
            idx = _position(idx, len(modules))
        del modules[idx]
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Self:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def _insert(self, index: int, module: Module) -> None:
        """Move the modules from a position on by one, and put a module there."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        first = index + size if index < 0 else index
        for i in range(size, first, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(first)] = module

    def pop(self, key: int | slice) -> Module:
        """Remove the module at a position, or the modules in a slice, and return what was removed."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


class Sequential(_ModuleSequence):
    """Modules that run one after another; each takes the output of the previous one.

    Args:
        args: the modules in order, or one ``OrderedDict`` that also names them.

    Example:
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        >>> net
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): ReLU()
        )
        >>> net(torch.zeros(5, 2)).shape, len(net), net[-1]
        (torch.Size([5, 3]), 2, ReLU())

    Mirrors torch/nn/modules/container.py, ``Sequential``.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for position, module in enumerate(args):
                self.add_module(str(position), module)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at a position; returns self.

        Args:
            index: the position, from ``-len(self)`` to ``len(self)``.
            module: the new module.

        Raises:
            AssertionError: ``module`` is not a module.
            IndexError: the position is out of range.
        """
        self._insert(index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end; returns self."""
        for module in list(sequential):
            self.append(module)
        return self

    def _check_is_sequential(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def _check_factor(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def __add__(self, other: Sequential) -> Sequential:
        self._check_is_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        self._check_is_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*(list(self) * other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._check_factor(other)
        return self.extend(list(self) * (other - 1))


class ModuleList(_ModuleSequence):
    """A list of modules that registers their parameters; it has no forward of its own.

    Args:
        modules: iterable of initial modules.

    Example:
        >>> layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
        >>> layers
        ModuleList(
          (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
        )
        >>> len(list(layers.parameters()))
        6

    Mirrors torch/nn/modules/container.py, ``ModuleList``.
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._key(idx)]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at a position; unlike PyTorch, check both arguments as Sequential does."""
        self._insert(index, module)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; returns self.

        Raises:
            TypeError: ``modules`` is not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        blocks: list[list] = []  # runs of modules with equal text: [first, last, text]
        for i, text in enumerate(map(repr, self)):
            if blocks and blocks[-1][2] == text:
                blocks[-1][1] = i
            else:
                blocks.append([i, i, text])
        lines = [
            _addindent(f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}", 2)
            for first, last, text in blocks
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dict of modules that registers their parameters; it has no forward of its own.

    Args:
        modules: mapping from names to modules, or iterable of such pairs, with the initial modules.

    Example:
        >>> acts = torch.nn.ModuleDict({"relu": torch.nn.ReLU()})
        >>> acts["tanh"] = torch.nn.Tanh()
        >>> list(acts.keys()), acts["relu"]
        (['relu', 'tanh'], ReLU())

    Mirrors torch/nn/modules/container.py, ``ModuleDict``.
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module with a name and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names, in order."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Pairs of name and module, in order."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """The modules, in order."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules, and replace those with the same names.

        Args:
            modules: mapping from names to modules, or iterable of such pairs.

        Raises:
            TypeError: ``modules``, or an element of ``modules``, is not iterable.
            ValueError: an element of ``modules`` is not a pair.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        if isinstance(modules, (Mapping, ModuleDict)):
            for name, module in modules.items():
                self[name] = module
        else:
            for name, module in _pairs("ModuleDict", modules):
                self[name] = module


class ParameterList(Module):
    """A list of parameters that the list registers; a plain tensor in it becomes a parameter.

    Args:
        values: iterable of initial values: parameters, tensors or other objects.

    Example:
        >>> weights = torch.nn.ParameterList([torch.zeros(2), torch.zeros(3, 3)])
        >>> weights
        ParameterList(
            (0): Parameter containing: [torch.float32 of size 2]
            (1): Parameter containing: [torch.float32 of size 3x3]
        )

    Mirrors torch/nn/modules/container.py, ``ParameterList``.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(*idx.indices(len(self))))
        return getattr(self, str(_position(idx, len(self))))

    def __setitem__(self, idx: int, param: Any) -> None:
        if isinstance(param, Tensor) and not isinstance(param, Parameter):
            param = Parameter(param)
        setattr(self, str(_position(idx, len(self))), param)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Add a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_describe(value, getattr(value, 'dtype', None))}" for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters that the dict registers; a plain tensor in it becomes a parameter.

    Args:
        parameters: mapping from names to initial values, or iterable of such pairs. A plain ``dict`` is sorted by name;
            an ``OrderedDict`` and pairs keep their order.

    Example:
        >>> weights = torch.nn.ParameterDict({"left": torch.zeros(2), "right": torch.zeros(3)})
        >>> list(weights.keys()), len(list(weights.parameters()))
        (['left', 'right'], 2)

    Mirrors torch/nn/modules/container.py, ``ParameterDict``.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        name = self._key_to_attr(key)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Return another dict with the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; add the key with a default value first, if the key is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all entries."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a key and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last key; return the key and its value.

        Raises:
            KeyError: the dict is empty.
        """
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or a default value if the key is missing."""
        return self[key] if key in self else default  # noqa: SIM401  # this class has no other get

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new dict in which all keys have the same value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The keys, in order."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of key and value, in order."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values, in order."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values, and replace those with the same keys.

        Args:
            parameters: see the constructor.

        Raises:
            TypeError: ``parameters``, or an element of ``parameters``, is not iterable.
            ValueError: an element of ``parameters`` is not a pair.
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(parameters).__name__}"
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            entries: Iterable[Any] = parameters.items()
        elif isinstance(parameters, Mapping):
            entries = sorted(parameters.items())
        else:
            entries = _pairs("ParameterDict", parameters)
        for key, value in entries:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_describe(value, typename(value))}" for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

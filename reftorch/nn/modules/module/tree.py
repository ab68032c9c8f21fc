"""Walks through the tree of a module and its submodules.

Mirrors: torch/nn/modules/module.py, ``children`` to ``named_buffers``, ``get_submodule`` and related methods
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from reftorch.nn.parameter import Parameter

if TYPE_CHECKING:
    from reftorch._tensor import Tensor
    from reftorch.nn.modules.module import Module

__all__ = ["ModuleTree"]


class ModuleTree:
    """The part of ``Module`` that lists and finds parameters, buffers and submodules."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def _lookup(self, name: str) -> Any:
        """Return the attribute with one name of a dotted path."""
        if not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")
        return getattr(self, name)

    def get_submodule(self, target: str) -> Module:
        """Return the submodule at a dotted path; the empty path names the module itself.

        Args:
            target: path such as ``"encoder.0"``.

        Raises:
            AttributeError: nothing has this path, or its value is not a module.

        Example:
            >>> net = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
            >>> net.get_submodule("0.0")
            ReLU()

        Mirrors torch/nn/modules/module.py, ``Module.get_submodule``.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = module._lookup(name)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put ``module`` at a dotted path.

        Args:
            target: path such as ``"encoder.0"``; all but its last part must exist.
            module: the new submodule.
            strict: whether the last part must exist too.

        Raises:
            ValueError: ``target`` is empty or ``module`` is not a module.
            AttributeError: nothing has this path, or its value is not a module.

        Example:
            >>> net = torch.nn.Sequential(torch.nn.ReLU())
            >>> net.set_submodule("0", torch.nn.Tanh())
            >>> net[0]
            Tanh()

        Mirrors torch/nn/modules/module.py, ``Module.set_submodule``.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(parent._lookup(name), ModuleTree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a dotted path.

        Args:
            target: path such as ``"encoder.0.weight"``.

        Raises:
            AttributeError: nothing has this path, or its value is not a parameter.

        Example:
            >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3))
            >>> net.get_parameter("0.weight").shape
            torch.Size([3, 2])

        Mirrors torch/nn/modules/module.py, ``Module.get_parameter``.
        """
        path, _, name = target.rpartition(".")
        param = self.get_submodule(path)._lookup(name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a dotted path.

        Args:
            target: path such as ``"norm.running_mean"``.

        Raises:
            AttributeError: nothing has this path, or its value is not a buffer.

        Example:
            >>> loss = torch.nn.NLLLoss(weight=torch.ones(3))
            >>> loss.get_buffer("weight")
            tensor([1., 1., 1.])

        Mirrors torch/nn/modules/module.py, ``Module.get_buffer``.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = module._lookup(name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _named_members(
        self, get_members_fn: Callable, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        memo = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in memo:
                    continue
                if remove_duplicate:
                    memo.add(member)
                yield module_prefix + ("." if module_prefix else "") + name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once.

        Args:
            recurse: whether to include those of submodules.

        Example:
            >>> [tuple(p.shape) for p in torch.nn.Linear(2, 3).parameters()]
            [(3, 2), (3,)]

        Mirrors torch/nn/modules/module.py, ``Module.parameters``.
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over pairs of dotted name and parameter.

        Args:
            prefix: a string to put before every name.
            recurse: whether to include those of submodules.
            remove_duplicate: whether to yield a parameter once that has several names.

        Example:
            >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3))
            >>> [name for name, _ in net.named_parameters(prefix="net")]
            ['net.0.weight', 'net.0.bias']

        Mirrors torch/nn/modules/module.py, ``Module.named_parameters``.
        """
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once.

        Args:
            recurse: whether to include those of submodules.

        Example:
            >>> list(torch.nn.NLLLoss(weight=torch.ones(2)).buffers())
            [tensor([1., 1.])]

        Mirrors torch/nn/modules/module.py, ``Module.buffers``.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over pairs of dotted name and buffer.

        Args:
            prefix: a string to put before every name.
            recurse: whether to include those of submodules.
            remove_duplicate: whether to yield a buffer once that has several names.

        Example:
            >>> list(torch.nn.NLLLoss(weight=torch.ones(2)).named_buffers())
            [('weight', tensor([1., 1.]))]

        Mirrors torch/nn/modules/module.py, ``Module.named_buffers``.
        """
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """Iterate over the immediate submodules, each once.

        Example:
            >>> list(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).children())
            [ReLU(), Tanh()]

        Mirrors torch/nn/modules/module.py, ``Module.children``.
        """
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over pairs of name and immediate submodule, each submodule once.

        Example:
            >>> list(torch.nn.Sequential(torch.nn.ReLU()).named_children())
            [('0', ReLU())]

        Mirrors torch/nn/modules/module.py, ``Module.named_children``.
        """
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over the module itself and all its submodules, direct and indirect.

        Args:
            remove_duplicate: whether to yield a module once that has several names.

        Example:
            >>> len(list(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).modules()))
            3

        Mirrors torch/nn/modules/module.py, ``Module.modules``.
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over pairs of dotted name and module: the module itself and all its submodules, direct and indirect.

        Args:
            memo: the set of modules to leave out; yielded modules are added to it.
            prefix: a string to put before every name.
            remove_duplicate: whether to yield a module once that has several names.

        Example:
            >>> [name for name, _ in torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU())).named_modules()]
            ['', '0', '0.0']

        Mirrors torch/nn/modules/module.py, ``Module.named_modules``.
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                submodule_prefix = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, submodule_prefix, remove_duplicate)

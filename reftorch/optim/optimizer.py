"""The base class of every optimizer: groups of parameters, their options, and a state for each parameter.

Mirrors: torch/optim/optimizer.py
Leaves out: what only ``torch.compile`` and graph capture need, sparse gradients and complex parameters.

The file is that many lines long because it is one subject, and half of the lines are docstrings.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import enable_grad, set_grad_enabled
from reftorch.autograd.profiler import record_function
from reftorch.utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

# What an optimizer takes for its parameters; programs that define optimizers import the name.
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

_global_optimizer_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable] = OrderedDict()

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """The default of an option that every parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


# --- helpers of the update rules --------------------------------------------------------------------------------------


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``step``: autograd records the update only if the option ``differentiable`` is set."""

    @functools.wraps(step)
    def use_grad(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return use_grad


def _loss_of(closure: Callable[[], Any] | None) -> Any:
    """Return what the closure of a step returns, which computes the loss and the gradients again; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def _get_value(x: Any) -> Any:
    """Return the number that a tensor of one element holds; return a number unchanged."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """Return a tensor of one element without its dimensions; return a number unchanged."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """Return the dtype of the tensors that count steps: float32, or float64 if this is the default dtype."""
    return _C.float64 if _C.get_default_dtype() == _C.float64 and not is_fused else _C.float32


def _scalar_state(value: float, is_fused: bool | None = None, p: Tensor | None = None) -> Tensor:
    """Return the 0-dim tensor with which a state counts steps.

    The tensor is on the CPU, so reading it waits for no device. A fused kernel reads the number itself, so the tensor
    is then on the device of the parameter ``p``.
    """
    device = p.device if is_fused and p is not None else "cpu"
    return _C.tensor(float(value), dtype=_get_scalar_dtype(is_fused), device=device)


def _get_capturable_supported_devices() -> list[str]:
    """Return the devices whose work can be captured as a graph."""
    return ["cuda"]


def _check_capturable(
    capturable: bool, params: list[Tensor], *states: list[Tensor], others: str = "params and state_steps"
) -> None:
    """Refuse the option ``capturable`` unless each parameter and its state are on a device with graphs."""
    devices = _get_capturable_supported_devices()
    for tensors in zip(params, *states, strict=True) if capturable else ():
        kinds = {tensor.device.type for tensor in tensors}
        if len(kinds) > 1 or not kinds <= set(devices):
            raise AssertionError(f"If capturable=True, {others} must be on supported devices: {devices}.")


# In PyTorch, `fused` is never the default. Here it is the default of Adam and AdamW where the kernel gives the very
# numbers of the loop, because the kernel is the quickest form. For 16-bit floats the kernel rounds less often than the
# loop. SGD does not use this function, because without a momentum its kernel is slower than the loop.
def _default_to_fused(
    fused: bool | None, foreach: bool | None, params: list[Tensor], state_steps: list[Tensor], *numbers: Any
) -> bool:
    """Return whether one kernel does a whole update: as the user says, or where its numbers are those of the loop.

    With options that are tensors, where autograd records the update, and under transforms such as ``vmap``, the kernel
    is not the default.
    """
    if fused is not None or foreach is not None:
        return bool(fused)
    if _C.is_grad_enabled() or _C._functorch.maybe_current_level() is not None:
        return False
    if any(isinstance(number, Tensor) for number in numbers):
        return False
    dtypes = (_C.float32, _C.float64)
    return all(p.device.type == "cpu" and p.dtype in dtypes for p in params) and all(
        step.dtype == _C.float32 for step in state_steps
    )


def _check_foreach(differentiable: bool) -> None:
    if differentiable:
        raise AssertionError("_foreach ops don't support autograd")


def _group_by(keys: list[Any], *lists: Sequence[Tensor]) -> Iterable[tuple[Any, list[Sequence[Tensor]]]]:
    """Return each different key with the parts of the lists that belong to it. Empty lists stay empty.

    A number that depends on the key, such as a step size, is then one number for a whole list. Usually all keys are
    equal, because all parameters have made as many steps.
    """
    if len(set(keys)) == 1:
        return [(keys[0], list(lists))]
    groups: list[tuple[Any, list[Sequence[Tensor]]]] = []
    for key in dict.fromkeys(keys):
        members = [i for i, other in enumerate(keys) if other == key]
        groups.append((key, [[tensors[i] for i in members] if tensors else [] for tensors in lists]))
    return groups


def _values(tensors: list[Tensor]) -> list[float]:
    return [t.item() for t in tensors]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Return the devices with kernels that do a whole update at once."""
    return ["cpu", "cuda"]


def _device_dtype_check_for_fused(p: Tensor) -> None:
    """Refuse the option ``fused`` for parameters without such a kernel."""
    devices = _get_fused_kernels_supported_devices()
    if not (p.device.type in devices and p.is_floating_point()):
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of "
            f"supported devices: {devices} but {p.dtype} and {p.device.type}"
        )


def _kernel_groups(params: list[Tensor], *lists: Sequence[Any]) -> list[list[Sequence[Any]]]:
    """Return the lists in parts of one device and one dtype, because a fused kernel takes only such lists."""
    return [parts for _, parts in _group_by([(p.device, p.dtype) for p in params], params, *lists)]


def _moved(number: Any, params: Sequence[Tensor]) -> Any:
    """Return a number that the kernel reads, if it is a tensor, on the device of the parameters."""
    return number.to(params[0].device) if isinstance(number, Tensor) else number


def _check_lr(lr: float | Tensor) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def _check_nonnegative(what: str, value: Any) -> None:
    if not value >= 0.0:
        raise ValueError(f"Invalid {what} value: {value}")


def _check_betas(betas: tuple[Any, Any]) -> None:
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def _check_options_of_adam(lr: float | Tensor, betas: tuple[Any, Any], eps: float, weight_decay: float) -> None:
    """Check the options that Adam, AdamW, Adamax, NAdam and RAdam have in common."""
    _check_lr(lr)
    _check_nonnegative("epsilon", eps)
    _check_betas(betas)
    _check_nonnegative("weight_decay", weight_decay)


def _check_state_steps(state_steps: list[Tensor]) -> None:
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")


def _check_no_grad_scaler(grad_scale: Tensor | None, found_inf: Tensor | None) -> None:
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")


# --- hooks of all optimizers ------------------------------------------------------------------------------------------


def _register(hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before the step of every optimizer.

    Args:
        hook: returns None, or a pair of ``args`` (which includes the optimizer) and ``kwargs`` to use instead.

    Example:
        >>> from reftorch.optim.optimizer import register_optimizer_step_pre_hook
        >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("step")):
        ...     torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]).step()
        step

    Mirrors torch/optim/optimizer.py, ``register_optimizer_step_pre_hook``.
    """
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after the step of every optimizer.

    Example:
        >>> from reftorch.optim.optimizer import register_optimizer_step_post_hook
        >>> with register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("stepped")):
        ...     torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]).step()
        stepped

    Mirrors torch/optim/optimizer.py, ``register_optimizer_step_post_hook``.
    """
    return _register(_global_optimizer_post_hooks, hook)


class Optimizer:
    """Holds parameters in groups and updates them by their gradients; a subclass defines the update in ``step``.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts. Each dict is a group: its parameters
            are under ``"params"``, and its options under their names.
        defaults: dict of the options for groups that do not give their own.

    Raises:
        TypeError: ``params`` is a tensor or a set, or holds something other than tensors.
        ValueError: there are no parameters, one is not a leaf or is in two groups, or an option is missing.

    Example:
        >>> class Descent(torch.optim.Optimizer):
        ...     def step(self):
        ...         with torch.no_grad():
        ...             for group in self.param_groups:
        ...                 for p in group["params"]:
        ...                     p.add_(p.grad, alpha=-group["lr"])
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = Descent([w], {"lr": 0.5})
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.item()
        0.0

    Mirrors torch/optim/optimizer.py, ``Optimizer``.
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Callable]
    _optimizer_step_post_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()

        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        param_groups = list(params)
        if len(param_groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(param_groups[0], dict):
            param_groups = [{"params": param_groups}]
        for param_group in param_groups:
            self.add_param_group(param_group)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def _set_up_fused(self, fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
        """Refuse options that exclude each other; a fused step divides by the scale of a ``GradScaler`` itself."""
        if not fused:
            return
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self._step_supports_amp_scaling = True

    def _complete_groups(self, **options: Any) -> None:
        """Complete groups and states that an older version saved: missing options, and steps counted by a number."""
        for group in self.param_groups:
            for name, value in options.items():
                group.setdefault(name, value)
            for p in group["params"]:
                state = self.state.get(p)
                if state and "step" in state and not isinstance(state["step"], Tensor):
                    state["step"] = _scalar_state(state["step"], group.get("fused"), p)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``step`` so that the hooks run before and after it."""

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            with record_function(f"Optimizer.step#{type(self).__name__}.step"):
                for pre_hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                    result = pre_hook(self, args, kwargs)
                    if result is None:
                        continue
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                        )
                    args, kwargs = result
                out = func(*args, **kwargs)
                for post_hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
                    post_hook(self, args, kwargs)
                return out

        return wrapper

    def _patch_step_function(self) -> None:
        # The class is patched once, so that the hooks run around any ``step`` that a subclass defines.
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)  # type: ignore[method-assign]
            cls.step.hooked = True  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step.

        Args:
            hook: returns None, or a pair of ``args`` (which includes the optimizer) and ``kwargs`` to use instead.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_step_pre_hook``.
        """
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step.

        Example:
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
            >>> handle = optimizer.register_step_post_hook(lambda optimizer, args, kwargs: print("stepped"))
            >>> optimizer.step()
            stepped

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_step_post_hook``.
        """
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before the state is collected.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_state_dict_pre_hook``.
        """
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on the collected state; a return value other than None replaces it.

        Example:
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
            >>> handle = optimizer.register_state_dict_post_hook(lambda optimizer, state: {**state, "epoch": 3})
            >>> optimizer.state_dict()["epoch"]
            3

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_state_dict_post_hook``.
        """
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before the state is loaded; a return value other than None replaces it.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_load_state_dict_pre_hook``.
        """
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a state is loaded.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_load_state_dict_post_hook``.
        """
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options as plain dicts, in which numbers stand for the parameters, in order.

        The tensors in the dicts are the optimizer's own, so a later step changes them too.

        Returns:
            ``{"state": {number: state}, "param_groups": [{"params": [number, ...], option: value, ...}, ...]}``

        Example:
            >>> optimizer = torch.optim.SGD(torch.nn.Linear(2, 3).parameters(), lr=0.1)
            >>> optimizer.state_dict()["param_groups"][0]["params"]
            [0, 1]

        Mirrors torch/optim/optimizer.py, ``Optimizer.state_dict``.
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[int, int] = {}
        packed_groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed_groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        packed_state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}

        state_dict = {"state": packed_state, "param_groups": packed_groups}
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            hook_result = post_hook(self, state_dict)
            if hook_result is not None:
                state_dict = hook_result
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state and the options from a dict that :meth:`state_dict` returned.

        Parameters are matched by their order. Tensors of the state are cast to the dtype and device of their parameter.

        Args:
            state_dict: the dict; it must have as many groups as the optimizer, with as many parameters in each.

        Raises:
            ValueError: the number or the lengths of the groups differ.

        Example:
            >>> w = torch.nn.Parameter(torch.zeros(1))
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> optimizer.load_state_dict(torch.optim.SGD([w], lr=0.5).state_dict())
            >>> optimizer.param_groups[0]["lr"]
            0.5

        Mirrors torch/optim/optimizer.py, ``Optimizer.load_state_dict``.
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            hook_result = pre_hook(self, state_dict)
            if hook_result is not None:
                state_dict = hook_result

        groups = self.param_groups
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(saved["params"]) for group, saved in zip(groups, saved_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )

        params: dict[int, Tensor] = {}
        fused: set[int] = set()
        for group, saved in zip(groups, saved_groups, strict=True):
            params.update(zip(saved["params"], group["params"], strict=True))
            fused.update(saved["params"] if saved.get("fused") else ())
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _cast(params[key], value, key in fused)
            else:
                state[key] = value

        self.__setstate__({"state": state, "param_groups": saved_groups})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: False fills them with zeros instead; ``step`` then still updates a parameter without new
                gradient.

        Example:
            >>> w = torch.nn.Parameter(torch.ones(2))
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> w.sum().backward()
            >>> optimizer.zero_grad()
            >>> w.grad is None
            True

        Mirrors torch/optim/optimizer.py, ``Optimizer.zero_grad``.
        """
        with record_function(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            grads = []
            for group in self.param_groups:
                for p in group["params"]:
                    if set_to_none:
                        p.grad = None
                    elif p.grad is not None:
                        if p.grad.grad_fn is not None:
                            p.grad.detach_()
                        else:
                            p.grad.requires_grad_(False)
                        grads.append(p.grad)
            if grads:
                _VF._foreach_zero_(grads)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once.

        Args:
            closure: computes the loss and its gradients again, and returns the loss.

        Returns:
            The return value of the closure, or None.

        Mirrors torch/optim/optimizer.py, ``Optimizer.step``.
        """
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, such as layers that are trained from now on.

        Args:
            param_group: dict with the parameters under ``"params"``, and options that differ from the defaults.

        Raises:
            TypeError: the group is not a dict, or its parameters are a set or hold something other than tensors.
            ValueError: a parameter is not a leaf or is in another group, or an option is missing.

        Example:
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
            >>> optimizer.add_param_group({"params": torch.nn.Parameter(torch.zeros(2)), "lr": 0.01})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 0.01]

        Mirrors torch/optim/optimizer.py, ``Optimizer.add_param_group``.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if names:
            params = [param for _, param in params]
            param_group["param_names"] = names
        param_group["params"] = params

        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(param)}"
                    + _C._other_library_hint(param)
                )
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)

        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {kind} to the optimizer"
                )
            if not set(group["params"]).isdisjoint(params):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)


def _cast(param: Tensor, value: Any, is_fused: bool, key: str | None = None) -> Any:
    """Cast a loaded value of the state to the dtype and device of its parameter; ``step`` is a count and stays.

    A fused kernel takes the count as float32, on the device of the parameter.
    """
    if isinstance(value, Tensor):
        if key == "step":
            return value.to(device=param.device, dtype=_C.float32) if is_fused else value
        return value.to(device=param.device, dtype=param.dtype if param.is_floating_point() else value.dtype)
    if isinstance(value, dict):
        return {k: _cast(param, v, is_fused, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_cast(param, v, is_fused) for v in value)  # type: ignore[call-arg]
    return value


# --- steps in CUDA graphs ---------------------------------------------------------------------------------------------


def _cuda_graph_capture_health_check(optimizer: Optimizer) -> None:
    """Refuse a step inside of a capture if the step reads its count on the host: each replay would use the same count.

    PyTorch also warns if ``capturable`` is set and the first step is not captured; the step is then only slower.
    """
    from reftorch.cuda import is_current_stream_capturing

    if is_current_stream_capturing() and not all(group["capturable"] for group in optimizer.param_groups):
        raise RuntimeError(
            "Attempting CUDA graph capture of step() for an instance of "
            f"{type(optimizer).__name__} but param_groups' capturable is False."
        )


def _check_capturable_devices(capturable: bool, params: list[Tensor], state_steps: list[Tensor]) -> None:
    """Refuse the option ``capturable`` unless each parameter and its count are on a CUDA device."""
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)

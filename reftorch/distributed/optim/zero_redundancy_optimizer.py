"""``ZeroRedundancyOptimizer``: each rank keeps the optimizer's state of a part of the parameters.

Mirrors: torch/distributed/optim/zero_redundancy_optimizer.py
Leaves out: overlap with DistributedDataParallel, buckets, partitions that the program chooses, uneven inputs.

Note [Sharded state]
Problem: with data parallelism, all ranks keep equal copies of the optimizer's state, which for Adam is twice the size
of the model. Trick: each parameter belongs to one rank. This rank alone has the state and takes the step; then all
ranks receive the new values. Since all ranks have equal gradients, the result is that of one optimizer. The parameters
are dealt out by size: the largest one first, always to the rank that has least. Limits: values travel after each step,
as many bytes as the model has. To save the state, one rank has to collect all parts.
Paper: S. Rajbhandari, J. Rasley, O. Ruwase, Y. He: ZeRO, https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._reducer import _broadcast_coalesced
from reftorch.optim.optimizer import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]

_MESSAGE_BYTES = 250 * 1024 * 1024


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state is divided among the ranks. See Note [Sharded state].

    Args:
        params: parameters or groups of parameters, the same on all ranks.
        optimizer_class: the class of the optimizer that takes the steps, such as ``torch.optim.Adam``.
        process_group: the ranks; the default group if None.
        parameters_as_bucket_view, overlap_with_ddp: only False.
        defaults: the options of ``optimizer_class``.

    Attributes:
        optim: the optimizer of this rank's parameters.

    Raises:
        NotImplementedError: an argument that is left out here.
        ValueError: there is no process group.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.distributed.optim import ZeroRedundancyOptimizer
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     net = torch.nn.Linear(3, 2)
        ...     optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.1)
        ...     return [tuple(p.shape) for group in optimizer.optim.param_groups for p in group["params"]]
        >>> program()
        [[(2, 3)], [(2,)]]

    Mirrors torch/distributed/optim/zero_redundancy_optimizer.py, ``ZeroRedundancyOptimizer``.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        for name, given in (
            ("parameters_as_bucket_view", parameters_as_bucket_view),
            ("overlap_with_ddp", overlap_with_ddp),
        ):
            if given:
                raise NotImplementedError(f"ZeroRedundancyOptimizer: {name} must be False")
        self.process_group = c10d._get_default_group() if process_group is None else process_group
        self.world_size: int = self.process_group.size()
        self.rank: int = self.process_group.rank()
        self._owner: dict[int, int] = {}  # the rank to which a parameter belongs, by the parameter's id
        self._load = [0] * self.world_size  # the number of elements of each rank
        self._all_state_dicts: list[Any] = []
        self.optim: Any = None
        super().__init__(params, defaults)
        self._deal_out([p for group in self.param_groups for p in group["params"]])
        self.optim = optimizer_class([self._own_part(group) for group in self.param_groups], **defaults)
        # The class has completed the options that the program did not give.
        self.defaults = self.optim.defaults
        self._copy_options(self.optim.param_groups, self.param_groups)

    def _deal_out(self, params: list[Any]) -> None:
        """Give each parameter to a rank: the largest one first, to the rank that has the fewest elements."""
        for p in sorted(params, key=lambda p: p.numel(), reverse=True):
            rank = self._load.index(min(self._load))
            self._owner[id(p)] = rank
            self._load[rank] += p.numel()

    def _own_part(self, group: dict[str, Any]) -> dict[str, Any]:
        return {**group, "params": [p for p in group["params"] if self._owner[id(p)] == self.rank]}

    @staticmethod
    def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        for a, b in zip(source, target, strict=True):
            b.update({name: value for name, value in a.items() if name not in ("params", "param_names")})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, the same on all ranks."""
        super().add_param_group(param_group)
        if self.optim is not None:
            group = self.param_groups[-1]
            self._deal_out(group["params"])
            self.optim.add_param_group(self._own_part(group))
            self._copy_options(self.optim.param_groups, self.param_groups)

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Take a step for this rank's parameters, and receive the new values of all others.

        Args:
            closure: computes the loss again, on all ranks.
            kwargs: further arguments for the step of ``optim``.

        Returns:
            What the step of ``optim`` returns.
        """
        self._copy_options(self.param_groups, self.optim.param_groups)  # a scheduler has changed the learning rate
        result = self.optim.step(closure=closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        self._copy_options(self.optim.param_groups, self.param_groups)
        for rank in range(self.world_size):
            params = [p for group in self.param_groups for p in group["params"] if self._owner[id(p)] == rank]
            if params:
                _broadcast_coalesced(self.process_group, [p.detach() for p in params], _MESSAGE_BYTES, rank)
        return result

    # --- the state as a whole

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the parts of the state on one rank. All ranks call this before that rank asks for ``state_dict()``.

        Args:
            to: the rank.
        """
        self._copy_options(self.param_groups, self.optim.param_groups)
        states: list[Any] = [None] * self.world_size
        c10d.all_gather_object(states, self.optim.state_dict(), group=self.process_group)
        self._all_state_dicts = states if self.rank == to else []

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all parameters, as ``optimizer_class`` would have it in one process.

        Raises:
            RuntimeError: the parts are not on this rank: see :meth:`consolidate_state_dict`.
        """
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global "
                "state."
            )
        whole = super().state_dict()
        number_of = {id(p): i for group, packed in self._pairs(whole) for p, i in zip(group, packed, strict=True)}
        for rank, part in enumerate(self._all_state_dicts):
            own = [p for group in self.param_groups for p in group["params"] if self._owner[id(p)] == rank]
            for i, p in enumerate(own):
                if i in part["state"]:
                    whole["state"][number_of[id(p)]] = part["state"][i]
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of all parameters; this rank keeps its own part.

        Args:
            state_dict: from :meth:`state_dict`, or from an optimizer of one process.
        """
        own: dict[int, Any] = {}
        groups = []
        for group, packed in self._pairs(state_dict):
            mine = [i for p, i in zip(group, packed, strict=True) if self._owner[id(p)] == self.rank]
            first = len(own)
            own.update({first + k: state_dict["state"].get(i) for k, i in enumerate(mine)})
            groups.append(list(range(first, first + len(mine))))
        options = [
            {**group, "params": places} for group, places in zip(state_dict["param_groups"], groups, strict=True)
        ]
        state = {i: value for i, value in own.items() if value is not None}
        self.optim.load_state_dict({"state": state, "param_groups": options})
        self._copy_options(self.optim.param_groups, self.param_groups)

    def _pairs(self, state_dict: dict[str, Any]) -> list[tuple[Any, Any]]:
        """Return the parameters of each group and their numbers in a state dict."""
        packed = [group["params"] for group in state_dict["param_groups"]]
        return list(zip((group["params"] for group in self.param_groups), packed, strict=True))

"""The words of the Reducer's errors and of its warning. They name parameters, and say what to change.

Mirrors: torch/csrc/distributed/c10d/reducer.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reftorch._C._distributed_c10d import DebugLevel, get_debug_level
from reftorch._warnings import warn

if TYPE_CHECKING:
    from reftorch.distributed._reducer import Reducer

__all__: list[str] = []


def unfinished(reducer: Reducer, missing: list[int]) -> str:
    """Return the words for a pass whose gradients were not all reduced.

    Args:
        reducer: the reducer.
        missing: the numbers of the parameters without a gradient.
    """
    rank = reducer.process_group.rank()
    message = "Expected to have finished reduction in the prior iteration before starting a new one. "
    if reducer.static_graph:
        message += (
            "This error indicates that your training graph has changed in this iteration, e.g., one parameter is used "
            "in first iteration, but then got unused in the second iteration. this is not compatible with static_graph "
            "set to True."
        )
    else:
        message += "This error indicates that your module has parameters that were not used in producing loss. "
        if reducer.find_unused_parameters:
            message += (
                "Since `find_unused_parameters=True` is enabled, make sure that all `forward` function outputs "
                "participate in calculating loss and are found in its return value (tuples, lists, dicts and "
                "dataclasses are searched)."
            )
        else:
            message += (
                "You can enable unused parameter detection by passing the keyword argument "
                "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making sure all "
                "`forward` function outputs participate in calculating loss."
            )
    message += (
        f"\nParameter indices which did not receive grad for rank {rank}: {' '.join(map(str, missing))}"
        f"\nParameters which did not receive grad for rank {rank}: {', '.join(reducer.names[i] for i in missing)}"
    )
    if get_debug_level() == DebugLevel.OFF:
        message += (
            "\nHint: in PyTorch, set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to see "
            "the names."
        )
    return message


def marked_twice(reducer: Reducer, index: int) -> str:
    """Return the words for a gradient that has arrived twice in one pass."""
    return (
        "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of "
        "a module parameter outside the `forward` function. Please make sure model parameters are not shared across "
        "multiple concurrent forward-backward passes, or try static_graph=True if the module graph does not change "
        "during training. 2) Reused parameters in multiple reentrant backward passes, for example several `checkpoint` "
        "functions that wrap the same part of the model; static_graph=True helps here, too. 3) Incorrect unused "
        "parameter detection: the return value of `forward` is inspected for tensors, and a parameter that none of "
        "them leads to counts as unused. Try `find_unused_parameters=False`.\n"
        f"Parameter at index {index} with name {reducer.names[index]} has been marked as ready twice."
    )


def used_for_the_first_time(reducer: Reducer, index: int) -> str:
    """Return the words for a gradient that a static graph did not have in its first pass."""
    return (
        f"Your training graph has changed in this iteration: the parameter {reducer.names[index]} was unused in the "
        "first iteration, and has a gradient now. This is not compatible with static_graph set to True."
    )


def not_a_view(reducer: Reducer, index: int) -> str:
    """Return the words for a ``.grad`` that somebody has replaced, although it has to be a view of a bucket."""
    return (
        "Detected at least one parameter gradient is not the expected DDP bucket view with "
        f"gradient_as_bucket_view=True: that of {reducer.names[index]}. This may happen if several all-reduce hooks "
        "are registered on one parameter. Hint: a hook should change .grad in place."
    )


_has_warned = False


def warn_that_all_are_used() -> None:
    """Warn, once in a process, that a search for unused parameters has found none."""
    global _has_warned
    if not _has_warned:
        _has_warned = True
        warn(
            "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in "
            "the forward pass. The search costs a walk through the graph in each pass. If your model never has unused "
            "parameters, turn the flag off. If a later pass may take another branch, this warning may be ignored."
        )

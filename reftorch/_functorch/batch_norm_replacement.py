"""Batch norms without running statistics, so that a whole network can be a function of its arguments alone.

Mirrors: torch/_functorch/batch_norm_replacement.py
"""

from __future__ import annotations

from reftorch.nn.modules.batchnorm import _BatchNorm
from reftorch.nn.modules.module import Module

__all__ = ["replace_all_batch_norm_modules_"]


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Take the running statistics away from each batch norm in a module, and return the module.

    In training mode a batch norm changes its running statistics in place. ``vmap`` cannot do this for each element of
    a batch, because the statistics exist only once, and raises an error. Without running statistics, a batch norm uses
    the mean and variance of the current batch, also in evaluation mode.

    Args:
        root: the module, which is changed.

    Returns:
        ``root``.

    Example:
        >>> net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        >>> net = torch.func.replace_all_batch_norm_modules_(net)
        >>> net[1].running_mean is None, net[1].track_running_stats
        (True, False)
        >>> parameters = dict(net.named_parameters())
        >>> torch.func.vmap(lambda x: torch.func.functional_call(net, parameters, x))(torch.ones(5, 4, 3)).shape
        torch.Size([5, 4, 2])

    Mirrors torch/_functorch/batch_norm_replacement.py, ``replace_all_batch_norm_modules_``.
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root

"""Batching rules of borders that repeat elements: the batch dimension joins N.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp (EXISTING_BDIM_ALL_BOXED of reflection_pad and replication_pad)
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_images

for _dims in (1, 2, 3):
    batch_rule(
        f"reflection_pad{_dims}d reflection_pad{_dims}d_backward replication_pad{_dims}d "
        f"replication_pad{_dims}d_backward"
    )(over_images(_dims))

"""Batching rules of the largest elements of windows.

Mirrors: aten/src/ATen/functorch/BatchRulesPooling.cpp
Leaves out: fractional pooling, which runs example by example.
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_images

batch_rule(
    "max_pool2d_with_indices max_pool2d_with_indices_backward adaptive_max_pool2d adaptive_max_pool2d_backward "
    "max_unpool2d"
)(over_images(2))
batch_rule(
    "max_pool3d_with_indices max_pool3d_with_indices_backward adaptive_max_pool3d adaptive_max_pool3d_backward "
    "max_unpool3d"
)(over_images(3))

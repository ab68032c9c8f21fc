"""Batching rules of the means of windows.

Mirrors: aten/src/ATen/functorch/BatchRulesPooling.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_images

batch_rule("avg_pool2d avg_pool2d_backward _adaptive_avg_pool2d _adaptive_avg_pool2d_backward")(over_images(2))
batch_rule("avg_pool3d avg_pool3d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward")(over_images(3))

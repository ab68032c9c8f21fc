"""Batching rules of the windows of images.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp (im2col)
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import over_images

batch_rule("im2col")(over_images(2))
batch_rule("col2im")(over_images(1))  # columns (N, C kernel, L) or (C kernel, L)

"""The fused steps of Adam and AdamW have no derivatives.

Mirrors: tools/autograd/derivatives.yaml, which has no entry for _fused_adam_
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("_fused_adam_", "_fused_adam_.tensor_lr", "_fused_adamw_", "_fused_adamw_.tensor_lr")

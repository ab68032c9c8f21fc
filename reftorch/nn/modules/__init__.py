"""The layers.

Mirrors: torch/nn/modules/__init__.py
Leaves out: the families of layers that do not exist yet. One file holds one family.
"""

from reftorch.nn.modules import activation, batchnorm, conv, instancenorm, loss, padding, pooling, rnn, transformer
from reftorch.nn.modules.activation import *  # noqa: F403
from reftorch.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from reftorch.nn.modules.batchnorm import *  # noqa: F403
from reftorch.nn.modules.channelshuffle import ChannelShuffle
from reftorch.nn.modules.container import (
    Container,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from reftorch.nn.modules.conv import *  # noqa: F403
from reftorch.nn.modules.distance import CosineSimilarity, PairwiseDistance
from reftorch.nn.modules.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from reftorch.nn.modules.flatten import Flatten, Unflatten
from reftorch.nn.modules.fold import Fold, Unfold
from reftorch.nn.modules.instancenorm import *  # noqa: F403
from reftorch.nn.modules.linear import Bilinear, Identity, LazyLinear, Linear
from reftorch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from reftorch.nn.modules.loss import *  # noqa: F403
from reftorch.nn.modules.module import Module
from reftorch.nn.modules.normalization import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from reftorch.nn.modules.padding import *  # noqa: F403
from reftorch.nn.modules.pixelshuffle import PixelShuffle, PixelUnshuffle
from reftorch.nn.modules.pooling import *  # noqa: F403
from reftorch.nn.modules.rnn import *  # noqa: F403
from reftorch.nn.modules.sparse import Embedding, EmbeddingBag
from reftorch.nn.modules.transformer import *  # noqa: F403
from reftorch.nn.modules.upsampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d

__all__ = [
    *activation.__all__,
    *batchnorm.__all__,
    *conv.__all__,
    *instancenorm.__all__,
    *loss.__all__,
    *padding.__all__,
    *pooling.__all__,
    *rnn.__all__,
    *transformer.__all__,
    "AdaptiveLogSoftmaxWithLoss",
    "AlphaDropout",
    "Bilinear",
    "ChannelShuffle",
    "Container",
    "CosineSimilarity",
    "CrossMapLRN2d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "GroupNorm",
    "Identity",
    "LayerNorm",
    "LazyLinear",
    "Linear",
    "LinearCrossEntropyOptions",
    "LocalResponseNorm",
    "Module",
    "ModuleDict",
    "ModuleList",
    "PairwiseDistance",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "RMSNorm",
    "Sequential",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]

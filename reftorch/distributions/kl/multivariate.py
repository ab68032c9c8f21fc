r"""Divergences of normal vectors, whose covariance has a Cholesky factor or a low rank.

All have the form

.. math::
    \frac12 \left(\log \frac{\det \Sigma_q}{\det \Sigma_p} + \operatorname{tr}(\Sigma_q^{-1} \Sigma_p) +
    (\mu_q - \mu_p)^T \Sigma_q^{-1} (\mu_q - \mu_p) - k\right)

and differ in how the determinants, the trace and the distance are computed.

Mirrors: torch/distributions/kl.py
"""

from __future__ import annotations

from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions.kl.registry import register_kl
from reftorch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from reftorch.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis


def _batch_trace_XXT(bmat: Tensor) -> Tensor:
    """Return the trace of X X^T, the sum of the squares of X: (*, n, m) -> (*)."""
    n, m = bmat.size(-1), bmat.size(-2)
    return bmat.reshape(-1, m * n).pow(2).sum(-1).reshape(bmat.shape[:-2])


def _check_event_shapes(p: Any, q: Any, what: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {what} with                          different event shapes cannot be computed"
        )


def _log_det(d: Any) -> Tensor:
    """The logarithm of the determinant of the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * d._half_log_det()


def _distance(p: Any, q: Any) -> Tensor:
    """The squared Mahalanobis distance of the means by the covariance of q."""
    if isinstance(q, LowRankMultivariateNormal):
        return _batch_lowrank_mahalanobis(
            q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc, q._capacitance_tril
        )
    return _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)


def _low_rank_precision_factor(q: Any) -> Tensor:
    """Return A, (*, m, k), for which the inverse of the covariance is D^-1 - A^T A (Woodbury's identity)."""
    Wt_Dinv = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    return torch.linalg.solve_triangular(q._capacitance_tril, Wt_Dinv, upper=False)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariatenormal_multivariatenormal(p: Any, q: Any) -> Tensor:
    _check_event_shapes(p, q, "Multivariate Normals")
    q_L, p_L = q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril
    n = p.event_shape[0]
    batch = torch.broadcast_shapes(q_L.shape[:-2], p_L.shape[:-2])
    ratio = torch.linalg.solve_triangular(q_L.expand((*batch, n, n)), p_L.expand((*batch, n, n)), upper=False)
    return q._half_log_det() - p._half_log_det() + 0.5 * (_batch_trace_XXT(ratio) + _distance(p, q) - n)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrankmultivariatenormal_lowrankmultivariatenormal(p: Any, q: Any) -> Tensor:
    _check_event_shapes(p, q, "Low Rank Multivariate Normals")
    p_W, p_D, q_D = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    A = _low_rank_precision_factor(q)
    # tr((D_q^-1 - A^T A) (W_p W_p^T + D_p)), multiplied out
    trace = (
        (p_D / q_D).sum(-1)
        + _batch_trace_XXT(p_W * q_D.rsqrt().unsqueeze(-1))
        - _batch_trace_XXT(A * p_D.sqrt().unsqueeze(-2))
        - _batch_trace_XXT(A.matmul(p_W))
    )
    return 0.5 * (_log_det(q) - _log_det(p) + trace + _distance(p, q) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_multivariatenormal_lowrankmultivariatenormal(p: Any, q: Any) -> Tensor:
    _check_event_shapes(p, q, "(Low Rank) Multivariate Normals")
    p_L = p._unbroadcasted_scale_tril
    A = _low_rank_precision_factor(q)
    trace = _batch_trace_XXT(p_L * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _batch_trace_XXT(A.matmul(p_L))
    return 0.5 * (_log_det(q) - _log_det(p) + trace + _distance(p, q) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_lowrankmultivariatenormal_multivariatenormal(p: Any, q: Any) -> Tensor:
    _check_event_shapes(p, q, "(Low Rank) Multivariate Normals")
    q_L, p_W, p_D = q._unbroadcasted_scale_tril, p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    n = p.event_shape[0]
    batch = torch.broadcast_shapes(q_L.shape[:-2], p_W.shape[:-2])
    q_L = q_L.expand((*batch, n, n))
    root_D = torch.diag_embed(p_D.sqrt()).expand((*batch, n, n))
    trace = _batch_trace_XXT(
        torch.linalg.solve_triangular(q_L, p_W.expand((*batch, n, p_W.size(-1))), upper=False)
    ) + _batch_trace_XXT(torch.linalg.solve_triangular(q_L, root_D, upper=False))
    return 0.5 * (_log_det(q) - _log_det(p) + trace + _distance(p, q) - n)

"""Covariate shift: other rows, while each row's label is what it would have been.

    P_te(x) ≠ P_tr(x),   P(y | x) unchanged   ⇒   target risk = E_train[w(x) · loss],   w = P_te / P_tr

so *training* rows (and labelled validation rows) are weighted by w. The notes weight the test loss, which
is the wrong side: test rows follow P_te as they are. Two conditions: target rows lie only where training
rows can (overlap), and w has a finite variance.

    discriminator   w from a logistic regression that tells the two sets apart
    ulsif, kliep    w = Σ_j α_j K(x, c_j), by least squares or by the likelihood of the target rows
    gaussian        w in closed form, if both sets are normal

References: Shimodaira, Improving predictive inference under covariate shift, 2000; Kanamori, Hido,
Sugiyama, A least-squares approach to direct importance estimation, 2009; Sugiyama et al., Direct importance
estimation with model selection, 2008 (KLIEP).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..errors import InvalidInput, Unsupported
from ..records import Floats
from .energy import thinned
from .priors import em
from .weights import Weights

__all__ = ["covariate", "discriminator"]

FOLDS = 5
CENTRES = 100
"""Target rows that kernels stand on."""

WIDTHS = (0.25, 0.5, 1.0, 2.0)
"""Widths of kernels to choose from, in medians of the distances."""

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)

LogRatio = Callable[[Any], Floats]


def covariate(
    train: Any,
    target: Any,
    *,
    method: str = "discriminator",
    clip: float | None = 50.0,
    power: float = 1.0,
    C: float = 1.0,
    seed: int = 0,
) -> Weights:
    """Weights of training rows (n, d) that make them stand for target rows (m, d).

    Parameters
    ----------
    train, target : dense, or sparse for the discriminator
    method : "discriminator", "ulsif", "kliep" or "gaussian"
        The discriminator weights each row by a fit that has not seen it.
    clip : float or None
        Weights above this many times their mean are cut down to it.
    power : float in 0 … 1
        Weights are raised to it: 1 has no bias, less has less variance, 0 weights nothing.
    C : float
        Of the discriminator: weight of its loss against its penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import shift
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(0, 1, (1000, 1)), rng.normal(0.7, 1, (1000, 1))
    >>> found = shift.covariate(x, z)
    >>> found.overlap, 400 < found.effective < 800  # of 1000 rows
    (True, True)
    >>> bool(0.55 < np.average(x[:, 0], weights=found.values) < 0.85)  # where the target rows are
    True
    """
    checks.choice("method", method, ("discriminator", "ulsif", "kliep", "gaussian"))
    power = checks.number("power", power, 0.0, 1.0)
    train, target = checks.matrix(train, "train"), checks.matrix(target, "target")
    if train.shape[1] != target.shape[1]:
        raise InvalidInput(
            f"train and target must have the same columns; got {train.shape[1]} and {target.shape[1]}."
        )
    if method == "discriminator":
        raw = np.exp(np.clip(_crossed(train, target, C, seed), -50.0, 50.0))
    elif sp.issparse(train) or sp.issparse(target):
        raise Unsupported(f"method={method!r} needs dense rows. Use method='discriminator'.")
    else:
        rng = np.random.default_rng(seed)
        raw = {"ulsif": _ulsif, "kliep": _kliep, "gaussian": _gaussian}[method](train, target, rng)
    mass, values = float(raw.mean()), np.asarray(raw**power, dtype=float)
    values = np.asarray(values / max(float(values.mean()), 1e-300))
    clipped = 0
    if clip is not None:
        values, clipped = _cut(values, checks.number("clip", clip, 1.0))
    return Weights(values, clipped, method, mass)


def _cut(values: Floats, most: float) -> tuple[Floats, int]:
    """Weights min(c·v, most) of mean 1, and how many are cut.

    To cut and then to scale to mean 1 again would lift weights above ``most``. With the j largest cut,
    c = (n − most·j) / Σ of the others; the first j whose next weight needs no cut is the answer.
    """
    ordered = np.sort(values)[::-1]
    n = len(ordered)
    cut = np.arange(min(int(n / most) + 1, n))
    rest = np.maximum(np.cumsum(ordered[::-1])[::-1][cut], 1e-300)
    scale = (n - most * cut) / rest
    j = int(np.argmax(scale * ordered[cut] <= most))
    return np.asarray(np.minimum(scale[j] * values, most), dtype=float), j


def discriminator(train: Any, target: Any, C: float = 1.0) -> LogRatio:
    """x ↦ log P_te(x) / P_tr(x), by a logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    X = sp.vstack([train, target]).tocsr() if sp.issparse(train) else np.vstack([train, target])
    new = np.arange(X.shape[0]) >= train.shape[0]
    scaler = MaxAbsScaler() if sp.issparse(X) else StandardScaler()
    model = make_pipeline(scaler, LogisticRegression(C=C, max_iter=1000)).fit(X, new)
    odds = np.log(train.shape[0] / target.shape[0])

    def log_ratio(rows: Any) -> Floats:
        return np.asarray(model.decision_function(rows) + odds)

    return log_ratio


def _crossed(train: Any, target: Any, C: float, seed: int) -> Floats:
    """log w of each training row, by a fit on the others."""
    n = train.shape[0]
    fold = np.random.default_rng(seed).permutation(n) % min(FOLDS, n)
    found = np.empty(n)
    for held in range(int(fold.max()) + 1):
        found[fold == held] = discriminator(train[fold != held], target, C)(train[fold == held])
    return found


def _gaussian(train: Any, target: Any, rng: Any) -> Floats:
    """log w is quadratic: the difference of two normal log-densities, with covariances as they are."""
    del rng
    from sklearn.covariance import ledoit_wolf

    parts = []
    for rows, sign in ((target, 1.0), (train, -1.0)):
        rows = np.asarray(rows, dtype=float)
        S, _ = ledoit_wolf(rows)
        apart = np.asarray(train, dtype=float) - rows.mean(axis=0)
        far = np.einsum("ni,ni->n", apart @ np.linalg.inv(S), apart)
        parts.append(-0.5 * sign * (far + np.linalg.slogdet(S)[1]))
    return np.asarray(np.exp(np.clip(parts[0] + parts[1], -50.0, 50.0)))


# Kernels on target rows


def _kernels(train: Any, target: Any, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Kernel values of training rows (n, c) and target rows (m, c), for each width."""
    from scipy.spatial.distance import cdist

    both = np.vstack([train, target]).astype(float)
    spread = both.std(axis=0)
    both /= np.where(spread > 0, spread, 1.0)
    rows, new = both[: len(train)], both[len(train) :]
    centres = new[thinned(len(new), CENTRES, rng)]
    far, there = cdist(rows, centres, "sqeuclidean"), cdist(new, centres, "sqeuclidean")
    middle = float(np.median(far)) or 1.0
    return [
        (np.exp(-far / (2 * width**2 * middle)), np.exp(-there / (2 * width**2 * middle)))
        for width in WIDTHS
    ]


def _ulsif(train: Any, target: Any, rng: np.random.Generator) -> Floats:
    """min ½αᵀHα − hᵀα + λ/2‖α‖²; width and λ by two-fold cross-validation of ½E_tr[w²] − E_te[w]."""
    best, found = np.inf, np.ones(len(train))
    for K, L in _kernels(train, target, rng):
        halves = [(_gram(K[half::2]), L[half::2].mean(axis=0)) for half in (0, 1)]
        for penalty in PENALTIES:
            loss = 0.0
            for (H, h), (other, mean) in (halves, halves[::-1]):
                alpha = _ridge(H, h, penalty)
                loss += 0.5 * float(alpha @ other @ alpha) - float(mean @ alpha)
            if loss < best:
                best, found = loss, K @ _ridge(_gram(K), L.mean(axis=0), penalty)
    return np.maximum(found, 0.0)


def _gram(K: Floats) -> Floats:
    return np.asarray(K.T @ K / len(K))


def _ridge(H: Floats, h: Floats, penalty: float) -> Floats:
    return np.asarray(np.maximum(np.linalg.solve(H + penalty * np.eye(len(h)), h), 0.0))


def _kliep(train: Any, target: Any, rng: np.random.Generator) -> Floats:
    """max Σ_te log w(z) with E_tr[w] = 1: with β_j = α_j E_tr[K_j] it is a mixture, so EM solves it."""
    best, found = -np.inf, np.ones(len(train))
    for K, L in _kernels(train, target, rng):
        b = np.maximum(K.mean(axis=0), 1e-12)
        even = np.full(len(b), 1.0 / len(b))
        halves = np.array([np.arange(len(L)) % 2 == half for half in (0, 1)])
        beta = em(L / b, halves * 1.0, even, 0.0, None, 1e-4)
        held = float(np.log(np.maximum(beta @ (L / b).T, 1e-300))[~halves].mean())
        if held > best:
            best = held
            found = (K / b) @ em(L / b, np.ones((1, len(L))), even, 0.0, None, 1e-6)[0]
    return found

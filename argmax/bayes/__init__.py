"""Bayesian linear models: a prior on the weights in, a posterior and honest error bands out.

conjugate.py         priors that keep their form: coins, counts, means
regression.py        GaussianRegression: posterior, predictive and evidence in closed form
classification.py    BayesianClassifier: Laplace's approximation around softmax regression
audit.py             whether averaging over a posterior pays, on held-out rows
point_estimates.py   one number for θ: the action of the least posterior risk
posteriors.py        what is known of one number: closed form, grid, points or draws
averages.py          the softmax averaged over Gaussian scores
"""

from .audit import Audit
from .averages import average_softmax
from .classification import BayesianClassifier
from .conjugate import BetaBernoulli, Conjugate, DirichletMultinomial, GaussianMean
from .credible import credible_interval
from .gaussian import Ellipsoid, Gaussian, Predictive
from .point_estimates import Asymmetric, Loss, Within, point_estimate, posterior_risk
from .posteriors import Continuous, Discrete, Draws, Grid, Posterior, as_posterior
from .regression import GaussianRegression
from .softmax_posterior import SoftmaxPosterior

__all__ = [
    "Asymmetric",
    "Audit",
    "BayesianClassifier",
    "BetaBernoulli",
    "Conjugate",
    "Continuous",
    "DirichletMultinomial",
    "Discrete",
    "Draws",
    "Ellipsoid",
    "Gaussian",
    "GaussianMean",
    "GaussianRegression",
    "Grid",
    "Loss",
    "Posterior",
    "Predictive",
    "SoftmaxPosterior",
    "Within",
    "as_posterior",
    "average_softmax",
    "credible_interval",
    "point_estimate",
    "posterior_risk",
]

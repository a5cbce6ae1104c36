"""
A line, and what is not known of it
===================================

A prior on intercept and slope, observations one after another, and the lines that are still possible.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from argmax import bayes, plots

rng = np.random.default_rng(4)
truth = (-0.3, 0.5)
x = rng.uniform(-1, 1, 20)
y = truth[0] + truth[1] * x + 0.2 * rng.normal(size=20)

model = bayes.GaussianRegression(
    prior_covariance=0.5, intercept_variance=0.5, noise_variance=0.2**2
)
plots.posterior_lines(model, x, y, counts=(0, 1, 2, 20), truth=truth)
plt.show()

# %%
# On the left the posterior of (intercept, slope), with a cross at the truth; on the right lines drawn from
# it. One observation ties the two together, a second one pins them down, and twenty leave little to doubt.
#
# The prediction has two bands. The inner one is not knowing the line: it widens away from the observations.
# The outer one adds the noise, which no amount of data removes.

model.fit(x[:8, None], y[:8])
plots.predictive_bands(model, x[:8], y[:8])
plt.show()

# %%
# Prior and noise need not be known: those under which the data are most probable are found from the data.

model = bayes.GaussianRegression().fit(x[:, None], y)
print(f"noise {model.noise_variance_**0.5:.3f}, log evidence {model.log_evidence_:.2f}")
low, high = model.posterior_.credible_interval(0.95)
print(f"intercept {low[0]:.2f} to {high[0]:.2f}, slope {low[1]:.2f} to {high[1]:.2f}")

# %%
# The same for classes: decision boundaries drawn from the posterior of a classifier. Where they lie apart,
# the averaged probabilities are in doubt, however sure the single best boundary is.

X, labels = load_iris(return_X_y=True)
classifier = bayes.BayesianClassifier(C=1.0, held_out=None).fit(X[:, 2:], labels)
plots.decision_boundaries(classifier, X[:, 2:], labels)
plt.show()

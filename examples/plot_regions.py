"""
Decision regions
================

A linear classifier cuts the plane into convex regions. The borders are exact lines, not read off a grid.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from argmax import SoftmaxRegression, plots

# %%
# Three scores, f₁ = x + y, f₂ = x + 1 and f₃ = y − 1. Their borders are y = 1, x = −1 and y = x + 2, and all
# three meet at (−1, 1).

weights, intercepts, box = [[1, 1], [1, 0], [0, 1]], [0, 1, -1], (-4, 4, -4, 4)
for border in plots.borders(weights, intercepts, box):
    print(border.classes, border.line)
print(plots.vertices(weights, intercepts))

plots.decision_regions((weights, intercepts), box=box)
plt.show()

# %%
# The same for a fitted model. A dot marks each point where three regions meet.

X, y = load_iris(return_X_y=True)
plots.decision_regions(SoftmaxRegression(C=10.0).fit(X[:, 2:], y), X[:, 2:], y)
plt.show()

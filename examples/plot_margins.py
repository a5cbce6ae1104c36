"""
Losses, margins and mistakes
============================

What a loss charges, what C does to the margin, and how many mistakes a perceptron can make.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from argmax import plots

plots.losses()
plt.show()

# %%
# C weighs the losses against ½‖w‖². A larger C means larger weights and a *narrower* margin 2 / ‖w‖.

X, y = make_blobs(80, centers=[[-1.5, 0], [1.5, 0]], cluster_std=1.2, random_state=3)
plots.margin_sweep(X, y)
plt.show()

# %%
# The multiclass perceptron makes at most 2 (R/γ)² mistakes. Without the 2 the bound is false: these rows
# exceed it.

plots.perceptron_mistakes()
plt.show()

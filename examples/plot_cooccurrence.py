"""
Which labels go together
========================

Several labels a row, joined by the tree of Chow and Liu, and the weights of its pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

from argmax import MultiLabelClassifier

NAMES = ["bus", "car", "street", "tree", "beach", "sea"]
rng = np.random.default_rng(0)
X = rng.normal(size=(800, 6))
noise = rng.logistic(size=(800, 6))
street = X[:, 2] + noise[:, 2] > 0
bus = X[:, 0] + 2.5 * street + noise[:, 0] > 3
car = X[:, 1] + 2.0 * street + 1.5 * bus + noise[:, 1] > 2
tree = X[:, 3] + noise[:, 3] > 0
beach = X[:, 4] - 2.0 * street + noise[:, 4] > 0
sea = X[:, 5] + 3.0 * beach + noise[:, 5] > 2
Y = np.stack([bus, car, street, tree, beach, sea], axis=1).astype(int)

# %%
# The tree against each label for itself, on rows that neither has seen.

held = X[500:], Y[500:]
for pairs in ("none", "tree"):
    model = MultiLabelClassifier(pairs=pairs).fit(X[:500], Y[:500])
    print(
        f"{pairs}: all labels right {model.score(*held):.3f}, "
        f"log-likelihood a row {model.log_likelihood(*held).mean():.3f}"
    )

# %%
# Red edges join labels that make each other likelier, blue ones those that do not get along.

angles = np.linspace(0, 2 * np.pi, len(NAMES), endpoint=False)
places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
figure, axis = plt.subplots(figsize=(5, 4.4), layout="constrained")
for (a, b), weight in zip(model.pairs_, model.pair_weights_, strict=True):
    color = "tab:red" if weight > 0 else "tab:blue"
    axis.plot(*places[[a, b]].T, color=color, linewidth=1 + 2 * abs(weight), zorder=1)
    axis.text(*places[[a, b]].mean(axis=0), f"{weight:+.1f}", fontsize=8)
axis.scatter(*places.T, s=1400, color="white", edgecolor="gray", zorder=2)
for name, (x, y) in zip(NAMES, places, strict=True):
    axis.text(x, y, name, ha="center", va="center", fontsize=9, zorder=3)
axis.set_axis_off()
axis.margins(0.2)
plt.show()

"""
Which labels go together
========================

Several labels a row, joined by the tree of Chow and Liu, and the weights of its pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

from argmax import MultiLabelClassifier, plots

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
    model = MultiLabelClassifier(pairs=pairs, labels=NAMES).fit(X[:500], Y[:500])
    print(
        f"{pairs}: all labels right {model.score(*held):.3f}, "
        f"log-likelihood a row {model.log_likelihood(*held).mean():.3f}"
    )

# %%
# Red lines join labels that make each other likelier, blue ones those that do not get along.

plots.cooccurrence(model)
plt.show()

# %%
# What the joint model knows and one classifier a label cannot: a car that is hard to see is likelier beside a
# bus. The same row, its bus more and more certain.

row = np.zeros((9, 6))
row[:, 0] = np.linspace(-2.0, 6.0, 9)  # evidence for the bus alone
p = model.predict_proba(row)
figure, axis = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
for j in (0, 1, 2):
    axis.plot(row[:, 0], p[:, j], marker=".", label=NAMES[j])
axis.set_xlabel("evidence for a bus")
axis.set_ylabel("probability")
axis.legend(fontsize=8)
plt.show()

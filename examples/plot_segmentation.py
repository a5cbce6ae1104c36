"""
Segmentation: neighbours agree
==============================

A photograph in noise, labelled pixel by pixel and all at once. Weights of nodes and edges are learned from
one half of the picture, and tried on the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from argmax import GraphLabeler, plots
from argmax.data import pictures
from argmax.features import grid_graph
from argmax.records import Scores
from argmax.spaces import Graph

picture = pictures.flower()  # petals are labelled 1
left, right = picture.halves()

# %%
# A node for every pixel, with its three colours; an edge to the right and one below. "potts" learns one
# number for each direction: what it is worth that neighbours agree.

learn, test = grid_graph(left.pixels), grid_graph(right.pixels)
labels, truth = left.labels.ravel(), right.labels.ravel()

no_edges = np.empty((0, 2), int), np.empty((0, 2))
alone = GraphLabeler().fit([(learn[0], *no_edges)], [labels])
together = GraphLabeler("hinge", "potts", C=0.1, tol=0.02).fit([learn], [labels])

print(f"alone    {alone.score([(test[0], *no_edges)], [truth]):.3f} of the pixels")
print(f"together {together.score([test], [truth]):.3f} of the pixels")
print(f"no labelling scores more than that by {together.certificate([test])[0]:.1e}")

# %%
# Before and after.

shape = right.labels.shape
before = alone.predict([(test[0], *no_edges)])[0].reshape(shape)
after = together.predict([test])[0].reshape(shape)
plots.segmentation(right.pixels, before, after, right.labels)
plt.show()

# %%
# How much should neighbours agree? Too little leaves the noise, too much eats the outline. ``spaces.Graph``
# answers for any scores; here those of the model, with its edges multiplied by a factor.

node = test[0] @ together.coef_.T + together.intercept_
tables = np.tensordot(test[2], together.edge_coef_, axes=1)
factors = np.geomspace(0.05, 20.0, 25)
shares = []
for factor in factors:
    scores = Scores(node, factor * tables, np.array([0, len(node)]), test[1])
    shares.append(np.mean(Graph(2).argmax(scores).labels == truth))

figure, axis = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
axis.semilogx(factors, shares, marker=".")
axis.axvline(1.0, color="gray", linestyle=":", label="as learned")
axis.set_xlabel("edges times")
axis.set_ylabel("share of the pixels")
axis.legend(fontsize=8)
plt.show()

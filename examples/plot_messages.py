"""
Messages on a graph
===================

What does a node know of the far end of a graph? What its neighbours tell it. Each arrow is a message: which
label it speaks for (its colour) and how decidedly (its width, and the number beside it).
"""

import matplotlib.pyplot as plt
import numpy as np

from argmax import plots
from argmax.records import Scores
from argmax.spaces import Graph, Tree

# %%
# On a tree two sweeps are enough, and the answers are exact. "a" and "b" prefer blue, "c" red; "end" knows
# nothing, and says so: its message is half and half.

names = ["middle", "a", "b", "c", "end"]
node = np.array([[0.0, 0.2], [1.0, 0.0], [1.0, 0.0], [0.0, 1.5], [0.0, 0.0]])
agree = np.array([[[0.8, 0.0], [0.0, 0.8]]])  # neighbours gain by agreeing
edges = np.array([[0, 1], [0, 2], [0, 3], [3, 4]])
tree = Scores(node, agree, np.array([0, 5]), edges)

places = [[0, 0], [-1, 0.6], [-1, -0.6], [1, 0], [2, 0.4]]
plots.messages(tree, names, places)
plt.show()

print("marginals of label 1:", Tree(2).marginals(tree)[1].node[:, 1].round(3))
print("best labelling:      ", Tree(2).argmax(tree).labels)

# %%
# With a cycle a message comes back to where it started, and is counted again. The fixed point is close where
# neighbours agree weakly, and too sure of itself where they agree strongly. ``Graph`` says which it was.

ring = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axis, strength in zip(axes, (0.5, 2.0), strict=True):
    scores = Scores(node[:4], strength * agree / 0.8, np.array([0, 4]), ring)
    plots.messages(scores, names[:4], ax=axis)
    told = Graph(2, table_limit=0).marginals(scores)  # as if the graph were too wide
    exact = Graph(2).marginals(scores)[1].node
    error = np.abs(told[1].node - exact).max()
    axis.set_title(f"agreeing is worth {strength:g}: off by {error:.3f}", fontsize=10)
    print(f"{strength:g}: exact {told[0].exact}, converged {told[0].converged}, off by {error:.4f}")
plt.show()

"""
Segmentation: neighbours agree
==============================

A photograph in noise, labelled pixel by pixel and all at once. Weights of nodes and edges are learned from
one half of the picture, and tried on the other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from argmax import GraphLabeler
from argmax.features import grid_graph

picture = load_sample_image("flower.jpg")[80:400:10, 120:520:10] / 255.0
truth = (picture[..., 0] > picture[..., 1] + 0.1).astype(int)  # petals are red
noisy = picture + np.random.default_rng(0).normal(scale=0.35, size=picture.shape)
half = picture.shape[1] // 2

# %%
# A node for every pixel, with its three colours; an edge to the right and one below.

left, right = grid_graph(noisy[:, :half]), grid_graph(noisy[:, half:])
labels = truth[:, :half].ravel(), truth[:, half:].ravel()

no_edges = np.empty((0, 2), int), np.empty((0, 2))
alone = GraphLabeler().fit([(left[0], *no_edges)], [labels[0]])
together = GraphLabeler(loss="hinge", edges="potts", C=0.1, tol=0.02).fit([left], [labels[0]])

print(f"alone    {alone.score([(right[0], *no_edges)], [labels[1]]):.3f} of the pixels")
print(f"together {together.score([right], [labels[1]]):.3f} of the pixels")
print(f"no labelling scores more than that by {together.certificate([right])[0]:.1e}")

# %%
# Before and after.

answers = {
    "what it sees": np.clip(noisy[:, half:], 0, 1),
    "each pixel alone": alone.predict([(right[0], *no_edges)])[0].reshape(truth[:, half:].shape),
    "all pixels together": together.predict([right])[0].reshape(truth[:, half:].shape),
    "truth": truth[:, half:],
}
figure, axes = plt.subplots(1, 4, figsize=(9, 3.6), layout="constrained")
for axis, (title, image) in zip(axes, answers.items(), strict=True):
    axis.imshow(image, cmap="gray")
    axis.set_title(title, fontsize=9)
    axis.set_axis_off()
plt.show()

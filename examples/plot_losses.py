"""
What each loss makes of the same points
=======================================

Four classes, one of them small and in the middle of the others. Every loss draws its regions with the same C.
"""

import matplotlib.pyplot as plt

from argmax import LinearClassifier, plots

X, y = plots.four_classes()
names = (
    "log",
    "softmax_margin",
    "hinge",
    "weston_watkins",
    "squared_hinge",
    "squared",
    "ovr_log",
    "perceptron",
)
figure, axes = plt.subplots(2, 4, figsize=(13, 6.4), layout="constrained")
for ax, name in zip(axes.flat, names, strict=True):
    settings = {"max_iter": 20} if name == "perceptron" else {}
    model = LinearClassifier(name, **settings).fit(X, y)
    plots.decision_regions(model, X, y, ax=ax)
    ax.set_title(f"{name}: {model.score(X, y):.1%} right", fontsize=9)
plt.show()

# %%
# Losses that compare classes with each other (log, softmax margin, hinge, Weston–Watkins, perceptron) find
# room for the class in the middle. Those that ask about one class at a time (squared hinge, squared, ovr-log)
# cannot: no line parts it from all the others, so its score is low everywhere. Least squares loses it
# altogether, because points far on the right side count as errors too.

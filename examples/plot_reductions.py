"""
Where one-vs-rest fails
=======================

Four classes, one in the middle of three. Each pair can be separated by a line, and all four by one argmax of
linear scores; but no line separates the middle class from the rest.
"""

import matplotlib.pyplot as plt

from argmax import OneVsRest, plots

plots.reductions_compared()
plt.show()

# %%
# The scores say why. The one-vs-rest model of the middle class has nearly no slope: its score is about the
# log odds of its size, wherever you look.

X, y = plots.four_classes()
model = OneVsRest().fit(X, y)
for label, w, b in zip(model.classes_, model.coef_, model.intercept_, strict=True):
    print(f"class {label}: score = {w[0]:+.2f} x {w[1]:+.2f} y {b:+.2f}")

"""
Handwritten digits
==================

Fit, ask how exact the fit is, and look at the answers that the model itself doubts.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from argmax import SoftmaxRegression

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

model = SoftmaxRegression(C=0.01).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}")

# %%
# The fit carries its own proof: the objective lies at most ``gap`` above the lowest one possible.

solution = model.solution_
print(f"{solution.status}: objective {solution.objective:.4f}, gap {solution.gap:.1e}")

# %%
# The least certain answers. They are the ones worth a second look.

probabilities = model.predict_proba(X_test)
doubtful = probabilities.max(axis=1).argsort()[:8]

figure, axes = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for axis, i in zip(axes.flat, doubtful, strict=True):
    first, second = model.classes_[probabilities[i].argsort()[::-1][:2]]
    axis.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    axis.set_title(f"{first} or {second}? truth {y_test[i]}", fontsize=9)
    axis.set_axis_off()
plt.show()

# %%
# One row of weights a digit: where ink speaks for it (red) and against it (blue).

figure, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
limit = abs(model.coef_).max()
for axis, label, weights in zip(axes.flat, model.classes_, model.coef_, strict=True):
    axis.imshow(weights.reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
    axis.set_title(str(label), fontsize=9)
    axis.set_axis_off()
plt.show()

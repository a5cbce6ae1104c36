"""
Names in sentences
==================

A conditional random field finds the names in sentences that the library writes itself. Which label
follows which is learned with everything else, and each answer comes with the probability that it is right.
"""

import matplotlib.pyplot as plt
import numpy as np

from argmax import CRFTagger, metrics
from argmax.data import corpus

tokens = corpus.sentences(1500)
words, names = tokens.sequences("word"), tokens.sequences("label")
X, y, X_test, y_test = words[:1000], names[:1000], words[1000:], names[1000:]

tagger = CRFTagger(constraints="BIO").fit(X, y)
answers = tagger.predict(X_test)
scores = metrics.tagging(y_test, answers)
print(f"F1 of names {scores.spans.f1}; {tagger.solution_.message}")

# %%
# One sentence, its names, and how sure the tagger is of each. A word like *Chelsea* is a person, a place or
# a club, and the sentence does not always say which.

sentence = ["Chelsea", "Wells", "left", "New", "York", "and", "moved", "to", "Chelsea", "."]
for first, behind, kind, p in tagger.span_confidence([sentence])[0]:
    print(f"{kind} {p:.2f}", *sentence[first:behind])

# %%
# The marginals behind it: the probability of each label at each token.

(p,) = tagger.predict_marginals([sentence])
figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
axis.imshow(p.T, cmap="Oranges", vmin=0, vmax=1, aspect="auto")
axis.set_xticks(range(len(sentence)), sentence, rotation=30)
axis.set_yticks(range(len(tagger.classes_)), tagger.classes_)
plt.show()

# %%
# What the transitions have learned. Pairs that the constraints forbid are left white: no path takes them.

follow = np.array(tagger.transitions_)
labels = tagger.classes_.tolist()
for a, before in enumerate(labels):
    for b, label in enumerate(labels):
        if label[0] == "I" and before[1:] != label[1:]:
            follow[a, b] = np.nan
figure, axis = plt.subplots(figsize=(4.6, 4), layout="constrained")
limit = np.nanmax(np.abs(follow))
shown = axis.imshow(follow, cmap="RdBu_r", vmin=-limit, vmax=limit)
axis.set_xticks(range(len(labels)), labels, rotation=60)
axis.set_yticks(range(len(labels)), labels)
axis.set_xlabel("label")
axis.set_ylabel("the one before")
figure.colorbar(shown)
plt.show()

# %%
# Are the probabilities honest? Spans of which the tagger is sure to 60 % should be right in six cases of ten.

sure, right = [], []
for truth, found in zip(y_test, tagger.span_confidence(X_test), strict=True):
    for first, behind, kind, confidence in found:
        expected = [f"B-{kind}", *[f"I-{kind}"] * (behind - first - 1)]
        ends = behind == len(truth) or truth[behind] != f"I-{kind}"
        sure.append(confidence)
        right.append(truth[first:behind] == expected and ends)
bins = np.digitize(sure, np.linspace(0.3, 0.9, 4))
figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
axis.plot([0, 1], [0, 1], color="0.8")
for group in np.unique(bins):
    of_group = bins == group
    share, mean = np.mean(np.array(right)[of_group]), np.mean(np.array(sure)[of_group])
    axis.scatter(mean, share, s=4 * of_group.sum(), color="tab:orange")
axis.set_xlabel("confidence")
axis.set_ylabel("share that is right")
plt.show()

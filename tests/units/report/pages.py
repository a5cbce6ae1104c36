"""What the tests of the report share: evaluations of every shape, and a page taken apart."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from argmax import SoftmaxRegression, report

WORDS = {
    "billing": "invoice charge refund card payment",
    "delivery": "parcel courier late address tracking",
    "technical": "crash error login screen update",
}


def tickets(n=150, seed=0):
    """Texts of three kinds of words, some of them mixed, and their kinds."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(WORDS), n)
    texts = []
    for kind in kinds:
        source = WORDS[kind] if rng.random() < 0.8 else " ".join(WORDS.values())
        texts.append(" ".join(rng.choice(source.split(), 6)))
    return texts, kinds


def digits():
    X, y = load_digits(return_X_y=True)
    return SoftmaxRegression(C=1e-4).fit(X[:900], y[:900]), X[900:], y[900:]


def text():
    texts, kinds = tickets()
    model = make_pipeline(CountVectorizer(), SoftmaxRegression()).fit(texts[:100], kinds[:100])
    return model, texts[100:], kinds[100:]


def frame():
    data = load_wine(as_frame=True)
    names = data.target_names[data.target].astype(object)
    return SoftmaxRegression(C=1e-3).fit(data.data[::2], names[::2]), data.data[1::2], names[1::2]


def two():
    X, y = load_breast_cancer(return_X_y=True)
    return SoftmaxRegression(C=1e-4).fit(X[::2], y[::2]), X[1::2], y[1::2]


def unseen():
    model, texts, kinds = text()
    return model, texts, np.where(np.arange(len(kinds)) % 9, kinds, "new kind").tolist()


CASES = {"digits": digits, "text": text, "frame": frame, "two": two, "unseen": unseen}


def many(k=150, n=3000, d=400, seed=0):
    """An evaluation of many classes, without a fit."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    scores = rng.gumbel(size=(n, k)) + 7.0 * np.eye(k)[truth]
    table = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    names = np.array([f"class number {i}" for i in range(k)])
    model = report.Model(
        "Some", {"C": 1.0}, None, rng.normal(size=(k, d)), [f"word{j}" for j in range(d)]
    )
    previews = [" ".join(f"word{j}" for j in rng.integers(0, d, 60)) for _ in range(n)]
    return report.Evaluation(
        classes=names,
        truth=names[truth],
        probabilities=table,
        previews=previews,
        model=model,
        features=rng.poisson(0.1, size=(n, d)).astype(float),
    )


class Page(HTMLParser):
    """Tags with their attributes, texts, and the contents of some elements."""

    VOID = frozenset({"meta", "br", "line", "rect", "circle", "polyline"})
    OPEN_END = frozenset({"td", "th", "tr"})  # HTML lets them end where the next begins

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.html = html
        self.tags, self.texts, self.stack, self.wrong, self.inside = [], [], [], [], {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.stack.append(tag)
            self.inside.setdefault(tag, []).append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.stack and self.stack[-1] in self.OPEN_END and self.stack[-1] != tag:
            self.stack.pop()
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()
        elif tag not in self.VOID | self.OPEN_END:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)
        for tag in set(self.stack) & {"script", "style", "code", "samp", "title"}:
            self.inside[tag][-1] += data

    @property
    def text(self):
        """What a reader sees, with single plain spaces."""
        joined = "".join(self.texts).replace("\u202f", " ").replace("\u00a0", " ")
        return " ".join(joined.split())

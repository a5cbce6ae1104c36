"""Graphs: messages on a small one, a segmentation before and after, and labels that go together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Ints, Scores
from .style import COLOURS, INK, colour, figure, light

__all__ = ["cooccurrence", "messages", "segmentation"]

RADIUS = 0.22
"""Of a node."""

MOST = 40
"""Nodes of a graph whose messages can still be read; and labels that are drawn."""


def messages(scores: Scores, names: Any = None, places: Any = None, ax: Any = None) -> Any:
    """Sum-product on a small graph: an arrow for each message, a bar chart for each marginal; gives the axes.

    ``scores`` has nodes (N, K), ``edges`` (E, 2) and tables (1, K, K) or (E, K, K). The message of u to v is
    m(b) ∝ Σ_a exp(s_u(a) + e(a, b)) Π m_w→u(a) over the other neighbours w of u; an arrow is as wide as its
    message is decided, in the colour of the label that it speaks for. On a tree the marginals are exact; on a
    graph with cycles the messages are those after as many rounds as there are nodes.
    ``names`` (N,) of nodes, ``places`` (N, 2) where they are drawn (None: on a circle).

    >>> import numpy as np
    >>> from argmax import plots
    >>> from argmax.records import Scores
    >>> agree = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> node = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.5]])
    >>> ax = plots.messages(Scores(node, agree, np.array([0, 3]), np.array([[0, 1], [1, 2]])))
    >>> len(ax.patches)  # two messages an edge; a circle and two bars a node
    13
    """
    node, edges, tables = _small(scores)
    sent, marginals = _sum_product(node, edges, tables)
    where = _circle(len(node)) if places is None else np.asarray(places, float)
    axis = figure(size=(5.2, 4.4))[1][0] if ax is None else ax
    for (u, v), message in sent.items():
        _arrow(axis, where[u], where[v], message)
    shown = range(len(node)) if names is None else names
    for place, name, p in zip(where, shown, marginals, strict=True):
        _bars(axis, place, str(name), p)
    low, high = where.min(axis=0) - 2 * RADIUS, where.max(axis=0) + 2 * RADIUS
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
    return _bare(axis)


def _small(scores: Scores) -> tuple[Floats, Ints, Floats]:
    if scores.edges is None or scores.edge is None or len(scores.node) > MOST:
        raise InvalidInput(f"messages are drawn on a graph with edges and at most {MOST} nodes.")
    tables = np.broadcast_to(scores.edge, (len(scores.edges), *scores.edge.shape[1:]))
    return scores.node, scores.edges, tables


def _sum_product(
    node: Floats, edges: Ints, tables: Floats
) -> tuple[dict[tuple[int, int], Floats], Floats]:
    """Messages (K,) by their ends, and marginals (N, K)."""
    table = {(u, v): e for (u, v), e in zip(edges.tolist(), tables, strict=True)}
    table |= {(v, u): e.T for (u, v), e in table.items()}
    sent: dict[tuple[int, int], Floats] = {ends: np.zeros(node.shape[1]) for ends in table}
    for _ in range(len(node)):
        sent = {
            (u, v): _normal(_log_sum((_belief(node, sent, u, v) + e.T).T))
            for (u, v), e in table.items()
        }
    beliefs = np.array([_belief(node, sent, u, None) for u in range(len(node))])
    marginals = np.exp(beliefs - _log_sum(beliefs.T)[:, None])
    return {ends: np.exp(message) for ends, message in sent.items()}, marginals


def _belief(
    node: Floats, sent: dict[tuple[int, int], Floats], u: int, left_out: int | None
) -> Floats:
    heard = [m for (w, to), m in sent.items() if to == u and w != left_out]
    return np.asarray(node[u] + sum(heard))


def _log_sum(values: Floats) -> Floats:
    return np.asarray(np.logaddexp.reduce(values, axis=0))


def _normal(message: Floats) -> Floats:
    return np.asarray(message - _log_sum(message))


def _circle(n: int) -> Floats:
    turn = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _arrow(axis: Any, start: Floats, end: Floats, message: Floats) -> None:
    """Beside the line of its edge, so that the two messages of an edge do not cover each other."""
    from matplotlib.patches import FancyArrowPatch

    along = (end - start) / max(float(np.hypot(*(end - start))), 1e-12)
    aside = 0.06 * np.array([-along[1], along[0]])
    decided = float(message.max() - 1.0 / len(message)) / (1.0 - 1.0 / len(message))
    arrow = FancyArrowPatch(
        tuple(start + 1.2 * RADIUS * along + aside),
        tuple(end - 1.2 * RADIUS * along + aside),
        arrowstyle="-|>",
        mutation_scale=10,
        linewidth=0.6 + 4.0 * decided,
        color=colour(int(message.argmax())) if decided > 1e-6 else "#999999",
    )
    axis.add_patch(arrow)
    axis.text(*((start + end) / 2 + 3.2 * aside), f"{message.max():.2f}", fontsize=7, ha="center")


def _bars(axis: Any, place: Floats, name: str, p: Floats) -> None:
    """The marginal of a node, in a circle over its name."""
    from matplotlib.patches import Circle, Rectangle

    axis.add_patch(Circle(tuple(place), RADIUS, facecolor="white", edgecolor="#999999", zorder=2))
    width, height = 1.2 * RADIUS / len(p), 1.1 * RADIUS
    left, low = place[0] - 0.6 * RADIUS, place[1] - 0.5 * RADIUS
    for j, share in enumerate(p.tolist()):
        corner = left + (j + 0.1) * width, low
        axis.add_patch(Rectangle(corner, 0.8 * width, height * share, color=colour(j), zorder=3))
    axis.text(
        place[0], place[1] - 1.35 * RADIUS, name, fontsize=8, ha="center", va="center", color=INK
    )


def _bare(axis: Any) -> Any:
    axis.set_axis_off()
    axis.set_aspect("equal")
    return axis


def segmentation(image: Any, before: Any, after: Any, truth: Any = None) -> Any:
    """What a labeler sees, its answer for each pixel alone and for all together, and the truth; the figure.

    ``image`` (height, width) or (height, width, 3) with values of 0 to 1; the others are labels (height,
    width), 0 … K−1. With the truth, titles say which share of the pixels is right.

    >>> import numpy as np
    >>> from argmax import plots
    >>> truth = np.array([[0, 0], [1, 1]])
    >>> made = plots.segmentation(truth + 0.1, np.array([[0, 1], [1, 1]]), truth, truth)
    >>> [ax.get_title() for ax in made.axes]
    ['what it sees', 'each pixel alone: 75.0 %', 'all together: 100.0 %', 'truth']
    """
    from matplotlib.colors import to_rgb

    picture = np.clip(np.asarray(image, float), 0.0, 1.0)
    panels = {"each pixel alone": before, "all together": after}
    if truth is not None:
        right = {name: float(np.mean(np.asarray(v) == truth)) for name, v in panels.items()}
        panels = {f"{name}: {100 * right[name]:.1f} %": v for name, v in panels.items()}
        panels["truth"] = truth
    made, axes = figure(1 + len(panels), (2.5, 2.9))
    axes[0].imshow(picture, cmap="gray", interpolation="nearest")
    axes[0].set_title("what it sees", fontsize=9)
    palette = np.array([light(0), *(to_rgb(code) for code in COLOURS[1:])])
    for axis, (title, labels) in zip(axes[1:], panels.items(), strict=True):
        axis.imshow(palette[np.asarray(labels, int) % len(palette)], interpolation="nearest")
        axis.set_title(title, fontsize=9)
    for axis in axes:
        axis.set_axis_off()
    return made


def cooccurrence(model: Any, names: Any = None, most: int = MOST, ax: Any = None) -> Any:
    """The labels of a fitted ``MultiLabelClassifier`` and the weights of their pairs; gives the axes.

    Red lines join labels that make each other likelier than x alone would, blue ones those that do not get
    along; wider is stronger. Of more than ``most`` labels, those with the strongest pairs.

    >>> from argmax import MultiLabelClassifier, plots
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> ax = plots.cooccurrence(MultiLabelClassifier().fit(X, Y))
    >>> len(ax.lines), len(ax.texts)  # four pairs and their weights, five labels
    (4, 9)
    """
    shown = [str(name) for name in (model.classes_ if names is None else names)]
    order = np.argsort(-np.abs(model.pair_weights_), kind="stable")
    kept = list(dict.fromkeys(model.pairs_[order].ravel().tolist()))[:most]
    kept += [j for j in range(len(shown)) if j not in set(kept)][: most - len(kept)]
    where = dict(zip(_around(kept, model.pairs_), _circle(len(kept)), strict=True))
    axis = figure(size=(5.2, 4.8))[1][0] if ax is None else ax
    largest = max(float(np.abs(model.pair_weights_).max(initial=0.0)), 1e-12)
    for (a, b), weight in zip(model.pairs_.tolist(), model.pair_weights_.tolist(), strict=True):
        if a in where and b in where:
            ends = np.array([where[a], where[b]])
            tone = COLOURS[1] if weight > 0 else COLOURS[0]
            axis.plot(*ends.T, color=tone, linewidth=0.5 + 5.0 * abs(weight) / largest, zorder=1)
            if len(kept) <= 15:
                _number(axis, ends.mean(axis=0), f"{weight:+.1f}")
    for j, (x, y) in where.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#999999"}
        axis.text(x, y, shown[j], fontsize=8, ha="center", va="center", zorder=3, bbox=box)
    axis.set_xlim(-1.3, 1.3)
    axis.set_ylim(-1.2, 1.2)
    return _bare(axis)


def _number(axis: Any, place: Floats, text: str) -> None:
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    axis.text(*place, text, fontsize=7, color=INK, ha="center", va="center", zorder=2, bbox=box)


def _around(kept: list[int], pairs: Ints) -> list[int]:
    """The labels in an order in which those that are joined tend to be neighbours: depth first."""
    beside: dict[int, list[int]] = {j: [] for j in kept}
    for a, b in pairs.tolist():
        if a in beside and b in beside:
            beside[a].append(b)
            beside[b].append(a)
    order: dict[int, None] = {}
    for root in kept:
        waiting = [root]
        while waiting:
            j = waiting.pop()
            if j not in order:
                order[j] = None
                waiting += beside[j]
    return list(order)

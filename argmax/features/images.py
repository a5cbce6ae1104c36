"""Images as graphs: a node for every pixel or superpixel, edges between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Ints

__all__ = ["grid_graph", "superpixel_graph"]


def grid_graph(
    image: Any, *, diagonal: bool = False, contrast: bool = False
) -> tuple[Floats, Ints, Floats]:
    """A graph for ``GraphLabeler``: features of nodes, edges, and features of edges.

    Given an image (height, width) or (height, width, d), whose values become the features of the nodes
    (height · width, d), row by row. An edge joins each pixel with the one to its right and the one below,
    with ``diagonal`` also with those below to the right and to the left. Its features are one 1 that says
    which of these it is, so that "sky above grass" is not "grass above sky"; ``contrast`` appends
    exp(−‖difference‖²) of its ends, which is small across an outline.

    >>> import numpy as np
    >>> from argmax.features import grid_graph
    >>> nodes, edges, directions = grid_graph(np.array([[0.1, 0.2], [0.3, 0.4]]))
    >>> nodes.ravel(), edges.tolist()
    (array([0.1, 0.2, 0.3, 0.4]), [[0, 1], [2, 3], [0, 2], [1, 3]])
    >>> directions.tolist()  # right, right, below, below
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    values = _pixels(image)
    height, width = values.shape[:2]
    at = np.arange(height * width).reshape(height, width)
    ends = _beside(at)
    if diagonal:
        ends += [(at[:-1, :-1], at[1:, 1:]), (at[:-1, 1:], at[1:, :-1])]
    edges = np.vstack([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    features = np.repeat(np.eye(len(ends)), [a.size for a, _ in ends], axis=0)
    nodes = values.reshape(height * width, -1)
    if contrast:
        apart = ((nodes[edges[:, 0]] - nodes[edges[:, 1]]) ** 2).sum(axis=1)
        features = np.hstack([features, np.exp(-apart)[:, None]])
    return nodes, edges, features


def superpixel_graph(image: Any, superpixels: Any) -> tuple[Floats, Ints, Floats]:
    """A graph of the parts of an image, for ``GraphLabeler``: features of nodes, edges, features of edges.

    Given an image (height, width) or (height, width, d), and for each pixel the number of its part
    (height, width): 0, 1, …, N − 1, as segmentation methods such as scikit-image's ``slic`` find them. A node
    has 2d + 3 features: the mean and the standard deviation of its pixels, the place of its centre, down and
    across from 0 to 1, and its share of the image. Parts that touch are joined, the smaller number first. An
    edge has four: 1, exp(−‖difference of the means‖²), which is small across an outline, and both times the
    length of the common border, in sides of a square that has the mean size of a part.

    >>> import numpy as np
    >>> from argmax.features import superpixel_graph
    >>> image = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    >>> nodes, edges, borders = superpixel_graph(image, [[0, 0, 1], [0, 0, 1]])
    >>> nodes.round(2)
    array([[0.  , 0.  , 0.5 , 0.33, 0.67],
           [1.  , 0.  , 0.5 , 0.83, 0.33]])
    >>> edges, borders.round(2)
    (array([[0, 1]]), array([[1.  , 0.37, 1.15, 0.42]]))
    """
    values, parts = _pixels(image), np.asarray(superpixels)
    sizes = _sizes(parts, values.shape[:2])
    n, owner = len(sizes), parts.ravel()
    rows = values.reshape(len(owner), -1)
    down, across = np.indices(parts.shape).reshape(2, -1)
    places = [(down + 0.5) / parts.shape[0], (across + 0.5) / parts.shape[1]]

    def means(columns: Any) -> Any:
        return np.stack([np.bincount(owner, c, n) for c in columns], axis=1) / sizes[:, None]

    mean = means(rows.T)
    spread = np.sqrt(means(((rows - mean[owner]) ** 2).T))
    nodes = np.hstack([mean, spread, means(places), sizes[:, None] / len(owner)])
    edges, border = _borders(parts, n)
    apart = ((mean[edges[:, 0]] - mean[edges[:, 1]]) ** 2).sum(axis=1)
    kind = np.stack([np.ones(len(edges)), np.exp(-apart)], axis=1)
    side = np.sqrt(len(owner) / n)
    return nodes, edges, np.hstack([kind, kind * (border / side)[:, None]])


def _pixels(image: Any) -> Floats:
    values = np.asarray(image, dtype=float)
    if values.ndim not in (2, 3) or not values.size:
        raise InvalidInput(
            f"image must have shape (height, width) or (height, width, d), none of them 0; got "
            f"{values.shape}."
        )
    return values


def _beside(at: Any) -> list[tuple[Any, Any]]:
    """What stands at the two ends of edges to the right, and of edges down."""
    return [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]


def _sizes(parts: Any, shape: tuple[int, ...]) -> Ints:
    """How many pixels each part has; the parts must be numbered without a gap."""
    if parts.shape != shape or parts.dtype.kind not in "iu":
        raise InvalidInput(
            f"superpixels must have a whole number for each of the {shape[0]} × {shape[1]} pixels; got "
            f"{parts.dtype} of shape {parts.shape}."
        )
    names, sizes = np.unique(parts, return_counts=True)
    if names[0] != 0 or names[-1] != len(names) - 1:
        raise InvalidInput(
            f"superpixels must be numbered 0, 1, … without a gap; got {len(names)} numbers from {names[0]} "
            f"to {names[-1]}. np.unique(superpixels, return_inverse=True)[1] numbers them so."
        )
    return sizes


def _borders(parts: Any, n: int) -> tuple[Ints, Ints]:
    """Pairs (E, 2) of parts that touch, and how many sides of pixels they share (E,)."""
    a, b = (np.concatenate([pair[i].ravel() for pair in _beside(parts)]) for i in (0, 1))
    touching = a != b
    low, high = np.minimum(a, b)[touching], np.maximum(a, b)[touching]
    codes, lengths = np.unique(low.astype(np.int64) * n + high, return_counts=True)
    return np.stack([codes // n, codes % n], axis=1), lengths

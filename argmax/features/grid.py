"""Images as graphs: a node for every pixel, edges between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Ints

__all__ = ["grid_graph"]


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
    values = np.asarray(image, dtype=float)
    if values.ndim not in (2, 3) or not values.size:
        raise InvalidInput(
            f"image must have shape (height, width) or (height, width, d), none of them 0; got "
            f"{values.shape}."
        )
    height, width = values.shape[:2]
    at = np.arange(height * width).reshape(height, width)
    ends = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    if diagonal:
        ends += [(at[:-1, :-1], at[1:, 1:]), (at[:-1, 1:], at[1:, :-1])]
    edges = np.vstack([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    features = np.repeat(np.eye(len(ends)), [a.size for a, _ in ends], axis=0)
    nodes = values.reshape(height * width, -1)
    if contrast:
        apart = ((nodes[edges[:, 0]] - nodes[edges[:, 1]]) ** 2).sum(axis=1)
        features = np.hstack([features, np.exp(-apart)[:, None]])
    return nodes, edges, features

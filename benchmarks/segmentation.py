"""Do structured models beat single nodes? Snakes and superpixels of pets, paired over images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from argmax import GraphLabeler, LinearClassifier
from argmax.features import grid_graph

from .common import Check, Options, Outcome, in_turn, progress, say, table
from .data import folder

DRAWS = 2000
SECONDS, CERTIFIED = 180.0, 1e-3

EXPLANATION = f"""\
The structured model (hinge, block-coordinate Frank–Wolfe) against a linear classifier of the same node
features, which on snakes see the colours of all neighbours; log loss or hinge and C are the most accurate on
every fourth training image, where C of the structured model was chosen too (snakes: the default). Neither
weighs classes. "Tuned" is the classifier that has the best mean IoU on these images, where classes may be
balanced as well: shown, and not promised, since nobody tuned the labeler for it. Node accuracy and mean
intersection over union over the test images; nodes without a class (255) are in no count. The 95 % interval
of the difference is that of {DRAWS} bootstrap draws of test images, the same for both. The certificate is how
far training may be from its minimum, relative to F(0), with the doubt of every argmax."""

FILES = {"snakes": "snakes", "pets": "oxford_pets_superpixels"}
STRENGTH = {"snakes": 1.0, "pets": 0.1}  # C
SINGLE = tuple(
    {"loss": loss, "class_weight": weight, "C": C}
    for loss, Cs in (("log", (0.1, 1.0, 10.0, 100.0)), ("hinge", (0.01, 0.1, 1.0)))
    for weight in (None, "balanced")
    for C in Cs
)
UNKNOWN, RIGHT = 255, 0.99

Graphs = tuple[list[Any], list[Any], list[Any], list[Any]]


def run(options: Options) -> Outcome:
    outcome = Outcome("segmentation")
    say(EXPLANATION)
    rows: list[list[str]] = []
    for name, load in (("snakes", snakes), ("pets", pets)):
        path = folder() / "segmentation" / f"{FILES[name]}.npz"
        if not path.exists():
            say(f"Left out: {name}: no {path.name} (set ARGMAX_DATA).")
            continue
        progress(name)
        data = load(path)
        if options.quick:
            data = (data[0][:12], data[1][:12], data[2][:6], data[3][:6])
        rows += _compared(name, data, outcome, 5.0 if options.quick else SECONDS)
    columns = ["", "measure", "single nodes", "structured", "difference", "95 % interval"]
    table("Segmentation", columns, rows)
    return outcome


def _compared(name: str, data: Graphs, outcome: Outcome, limit: float) -> list[list[str]]:
    X, y, others, truth = data
    model = GraphLabeler(loss="hinge", C=STRENGTH[name], time_limit=limit, tol=CERTIFIED)
    seconds = in_turn({"": lambda: _quietly(model, X, y)}, 1)[""][0]
    say(f"{name}: {seconds:.0f} s; {model.solution_.message}")
    together, held, rows = _counts(truth, model.predict(others)), _held_out(X, y), []
    plain = [i for i, options in enumerate(SINGLE) if options["class_weight"] is None]
    usual = max(plain, key=lambda i: _accuracy(held[i]))
    tuned = max(range(len(SINGLE)), key=lambda i: _overlap(held[i]))
    for measure, of, chosen in (
        ("accuracy", _accuracy, usual),
        ("mean IoU", _overlap, usual),
        ("mean IoU, tuned", _overlap, tuned),
    ):
        alone = _counts(truth, _answers(SINGLE[chosen], X, y, others))
        say(f"{name}, {measure}: single nodes by {SINGLE[chosen]}")
        one, all_ = of(alone.sum(axis=0)), of(together.sum(axis=0))
        low, high = _interval(alone, together, of)
        told, what = f"{low:+.3f} to {high:+.3f}", f"{name}, {measure}"
        rows.append([name, measure, f"{one:.3f}", f"{all_:.3f}", f"{all_ - one:+.3f}", told])
        outcome.checks.append(_verdict(what, told, low, promised=chosen == usual))
        outcome.figures.append({"what": what, "figures": [one, all_], "interval": [low, high]})
    if name == "snakes":
        right = _accuracy(together.sum(axis=0))
        met = "met" if right >= RIGHT else "not met"
        outcome.checks.append(Check(f"{name}, cells right", f"{right:.4f}", f"{RIGHT:g}", met))
    gap = model.solution_.relative_gap
    met = "met" if gap <= CERTIFIED else "not met"
    outcome.checks.append(Check(f"{name}, certificate", f"{gap:.1e}", f"{CERTIFIED:g}", met))
    return rows


def _verdict(what: str, told: str, low: float, promised: bool) -> Check:
    """A promise is made against the classifier that, like the labeler, was not tuned for the measure."""
    if promised:
        return Check(what, told, "above 0", "met" if low > 0.0 else "not met")
    return Check(what, told, "shown", "above" if low > 0.0 else "within chance")


def _quietly(model: GraphLabeler | LinearClassifier, X: Any, y: Any) -> None:
    import warnings

    from argmax.errors import NotConverged

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model.fit(X, y)


def _held_out(X: list[Any], y: list[Any]) -> list[Any]:
    """Counts (K, K) of each choice of ``SINGLE`` on every fourth image: images come sorted by breed."""
    held = np.arange(len(X)) % 4 == 3
    (a, b), (c, d) = (
        ([X[i] for i in np.flatnonzero(some)], [y[i] for i in np.flatnonzero(some)])
        for some in (~held, held)
    )
    return [_counts(d, _answers(options, a, b, c)).sum(axis=0) for options in SINGLE]


def _answers(options: dict[str, Any], X: list[Any], y: list[Any], others: list[Any]) -> list[Any]:
    """What a classifier of single nodes says of other graphs."""
    model = LinearClassifier(**options)
    _quietly(model, np.vstack([graph[0] for graph in X]), np.concatenate(y))
    return [model.predict(graph[0]) for graph in others]


def _counts(truth: list[Any], given: list[Any]) -> Any:
    """Of each image, how often label a was answered b (images, K, K), where there is a label."""
    k = 1 + max(int(np.max(labels[labels != UNKNOWN])) for labels in truth)
    counts = []
    for a, b in zip(truth, given, strict=True):
        known = a != UNKNOWN
        pairs = k * np.asarray(a[known], int) + np.asarray(b[known], int)
        counts.append(np.bincount(pairs, minlength=k * k).reshape(k, k))
    return np.stack(counts)


def _accuracy(counts: Any) -> float:
    return float(np.trace(counts) / counts.sum())


def _overlap(counts: Any) -> float:
    both = np.diag(counts)
    either = counts.sum(axis=0) + counts.sum(axis=1) - both
    return float(np.mean(both[either > 0] / either[either > 0]))


def _interval(single: Any, structured: Any, of: Any) -> tuple[float, float]:
    rng, n = np.random.default_rng(0), len(single)
    found = []
    for _ in range(DRAWS):
        drawn = rng.integers(0, n, n)
        found.append(of(structured[drawn].sum(axis=0)) - of(single[drawn].sum(axis=0)))
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


# Data


def snakes(path: Path) -> Graphs:
    """Colours of a cell and its eight neighbours; of an edge, its direction times the colours of its ends."""
    data, found = np.load(path), []
    for part in ("train", "test"):
        shapes = data[f"shape_{part}"].astype(int)
        starts = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        X, y = [], []
        for (h, w), a, b in zip(shapes, starts, starts[1:], strict=False):
            image = data[f"X_{part}"][a:b].reshape(h, w, 3).astype(float)
            frame = np.pad(image, ((1, 1), (1, 1), (0, 0)))
            near = [frame[i : i + h, j : j + w] for i in range(3) for j in range(3)]
            nodes, edges, direction = grid_graph(np.concatenate(near, axis=2))
            colours = image.reshape(-1, 3)
            ends = np.hstack([np.ones((len(edges), 1)), colours[edges[:, 0]], colours[edges[:, 1]]])
            X.append(
                (nodes, edges, (direction[:, :, None] * ends[:, None]).reshape(len(edges), -1))
            )
            y.append(data[f"y_{part}"][a:b].astype(int))
        found += [X, y]
    return found[0], found[1], found[2], found[3]


def pets(path: Path) -> Graphs:
    """Features of superpixels; of an edge, 1 and two contrasts of its ends, also times the shared border."""
    data = np.load(path)
    nodes, edges = data["node_offsets"], data["edge_offsets"]
    found: dict[int, tuple[list[Any], list[Any]]] = {0: ([], []), 1: ([], [])}
    for i, part in enumerate(data["split"].tolist()):
        x = data["X"][nodes[i] : nodes[i + 1]] / 255.0
        pairs = data["edges"][edges[i] : edges[i + 1]].astype(int)
        apart = x[pairs[:, 0]] - x[pairs[:, 1]]
        colour, all_ = (apart[:, :3] ** 2).sum(axis=1), (apart**2).sum(axis=1)
        contrast = np.stack([np.ones(len(pairs)), np.exp(-20 * colour), np.exp(-all_)], axis=1)
        border = _border(data["superpixels"][i], pairs)[:, None] / 16.0
        graph = (x, pairs, np.hstack([contrast, border * contrast]))
        y = data["y"][nodes[i] : nodes[i + 1]].astype(int)
        if part == 0:
            graph, y = _known(graph, y)
        found[part][0].append(graph)
        found[part][1].append(y)
    return (*found[0], *found[1])


def _border(superpixels: Any, pairs: Any) -> Any:
    """How many pixels of one superpixel lie beside or above pixels of the other (E,)."""
    size = int(superpixels.max()) + 1
    touching = np.zeros((size, size))
    for a, b in ((superpixels[:, :-1], superpixels[:, 1:]), (superpixels[:-1], superpixels[1:])):
        np.add.at(touching, (a, b), 1.0)
    return (touching + touching.T)[pairs[:, 0], pairs[:, 1]]


def _known(graph: tuple[Any, Any, Any], y: Any) -> tuple[Any, Any]:
    """A graph without the nodes whose class nobody knows."""
    x, pairs, border = graph
    known = y != UNKNOWN
    kept, place = known[pairs].all(axis=1), np.cumsum(known) - 1
    return (x[known], place[pairs[kept]], border[kept]), y[known]

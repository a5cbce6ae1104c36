"""Mutants that no test can notice, because they compute the same or because nothing promises otherwise.

Each entry names the file, the line as it stands, the line with the mistake, and the reason. A line that has
changed since makes its entry void, and a test says so.
"""

from __future__ import annotations

__all__ = ["EQUIVALENT"]

SENSITIVITY = "argmax/decisions/sensitivity.py"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "argmax/bounds/margins.py",
        "tried = np.append(ordered[(ordered > 0) & (ordered <= reach)], reach or 1.0)",
        "tried = np.append(ordered[(ordered > 0) & (ordered < reach)], reach or 1.0)",
    ): "The reach itself is appended anyway.",
    (
        "argmax/bounds/linear.py",
        "norm = math.hypot(np.linalg.norm(coef), np.linalg.norm(intercept / bias)) or 1.0",
        "norm = math.hypot(np.linalg.norm(coef), np.linalg.norm(intercept / bias)) or 2.0",
    ): "Weights that are all zero are zero, whatever they are divided by.",
    (
        "argmax/metrics/spans.py",
        "[pairs.tokens(), counts.sum(axis=1), counts.reshape(len(pairs), -1)], axis=1",
        "[pairs.tokens(), counts.sum(axis=1), counts.reshape(len(pairs), -2)], axis=1",
    ): "NumPy takes any negative length for the one that is to be found.",
    (
        SENSITIVITY,
        "given = 1.0 - np.eye(len(names)) if cost is None else cost",
        "given = 2.0 - np.eye(len(names)) if cost is None else cost",
    ): "Costs that are all higher by one change no decision.",
    (
        SENSITIVITY,
        "taken = (table @ costs).argmin(axis=1)",
        'taken = __import__("last_of_equals").argmin(((table @ costs)), axis=1)',
    ): "Where two actions cost the same, the distance to the other is 0, whichever is taken.",
}

"""Examples in a folder of plain array files: as many as the disk holds, a block of them in memory.

    manifest.json                        shapes, classes, digests; written last, so a torn set is none
    rows.npy                             dense rows (n, d), float32 or float64
    indptr.npy indices.npy values.npy    or sparse rows
    labels.npy weights.npy               codes in order of arrival (n,); weights (n,) unless all are 1

Shards are cut by the same rule as in memory, and a block of rows is read from its file when a pass opens it.
So the sums are the same sums, to the bit.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from .. import checks
from ..errors import BadFile, InvalidInput, WrongType
from ..layouts import Layout, as_matrix
from ..records import Csr, Floats, Rows, Structures, Truth
from .examples import Examples
from .files import OnDisk, Scratch, plain_file
from .reading import Reading
from .shards import Shard, cut
from .writing import FORMAT, MANIFEST, Writer, digest_of

__all__ = ["Stored"]

AT_ONCE = 2**28
"""Bytes of a set that are compared with their digests when it is opened."""

READ_BYTES = 2**24
"""What ``Stored.blocks`` reads at once, unless told otherwise."""


@final
class Stored(Examples):
    """Rows, labels and weights in files; made by ``Stored.write``, found again by ``Stored.open``.

    ``LinearClassifier().fit(stored)`` has the same bits as a fit of the same rows in memory.

    >>> import numpy as np, tempfile
    >>> from argmax import LinearClassifier, engines
    >>> X, y = np.random.default_rng(0).normal(size=(60, 3)), np.array(["a", "b", "c"] * 20)
    >>> folder = tempfile.mkdtemp() + "/rows"
    >>> stored = engines.Stored.write(folder, ((X[i : i + 25], y[i : i + 25]) for i in (0, 25, 50)))
    >>> stored
    Stored('...rows', 60 dense rows of 3 float64, 3 classes)
    >>> model = LinearClassifier().fit(stored)
    >>> bool(np.all(model.coef_ == LinearClassifier().fit(X, y).coef_))
    True
    >>> model.predict(stored).shape
    (60,)
    """

    def __init__(
        self, folder: str | Path, scratch: str | Path | None = None, memory: int = 2**28
    ) -> None:
        self.folder, self.scratch, self.memory = Path(folder), scratch, memory
        manifest = _manifest(self.folder)
        self.digest: str = manifest["digest"]
        self.shape = manifest["rows"], manifest["features"]
        self.sparse, self.labelled = manifest["sparse"], manifest["labelled"]
        self.names = None if manifest["names"] is None else tuple(manifest["names"])
        arrived = _classes(manifest["classes"], manifest["classes_dtype"], str(folder))
        order = np.argsort(arrived, kind="stable")
        self.classes, self._totals = arrived[order], np.array(manifest["totals"], float)[order]
        self._digests: dict[str, str] = manifest["digests"]
        if self._digests.keys() != _files(manifest):
            raise BadFile(
                "its digests are not those of its files. Write the set again.", path=str(folder)
            )
        ranks = np.argsort(order) if self.labelled else np.zeros(1)
        origin = str(self.folder.absolute()), self.digest
        self._reading = Reading(ranks=ranks.astype(np.intp), origin=origin)
        self._rows, self._truth = self._arrays(manifest)
        self.entries = len(self._rows.indices) if isinstance(self._rows, Csr) else self._rows.size
        self.dtype = self._rows.dtype
        self._verified = False

    @classmethod
    def write(
        cls,
        folder: str | Path,
        blocks: Iterable[tuple[Any, ...]],
        *,
        names: Iterable[str] | None = None,
        dtype: Any = None,
        overwrite: bool = False,
        scratch: str | Path | None = None,
        memory: int = 2**28,
    ) -> Stored:
        """Store blocks of (rows, labels) or (rows, labels, weights), one after the other.

        Rows are dense or sparse, the same in every block; labels None: a set to predict from. Rows of
        weight zero are left out. Every value is checked on the way, and what is held in memory is one
        block. ``dtype`` None keeps float32 and makes everything else float64.
        """
        if not isinstance(blocks, Iterable):
            raise WrongType(f"blocks must be an iterable of (rows, labels); got {blocks!r}.")
        writer = Writer(Path(checks.file_name(folder, "folder")), names, dtype, overwrite)
        with writer:
            for number, block in enumerate(blocks):
                given: Any = block
                if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
                    raise WrongType(
                        f"blocks: block {number} must be (rows, labels) or (rows, labels, weights); got "
                        f"{type(given).__name__}. Labels may be None."
                    )
                writer.add(*given)
        stored = cls(folder, scratch, memory)
        stored._verified = True
        return stored

    @classmethod
    def open(
        cls, folder: str | Path, *, scratch: str | Path | None = None, memory: int = 2**28
    ) -> Stored:
        """A set written before.

        Between passes a fit keeps scores in up to ``memory`` bytes, and the rest in an unnamed file in the
        folder ``scratch`` (None: the set's own).

        A set of up to 256 MiB is compared with the digests that were noted when it was written: a fifth of a
        second. Of a larger one the first ``fit`` in this process does so.
        """
        stored = cls(folder, scratch, memory)
        if sum((stored.folder / name).stat().st_size for name in stored._digests) <= AT_ONCE:
            stored.verify()
        return stored

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = "sparse" if self.sparse else "dense"
        rows = f"{self.shape[0]} {kind} rows of {self.shape[1]} {self.dtype}"
        return f"Stored({str(self.folder)!r}, {rows}, {len(self.classes)} classes)"

    @property
    def totals(self) -> Floats:
        return self._totals

    def verify(self) -> None:
        """Read everything once and compare with the digests that were noted when it was written."""
        for name, noted in self._digests.items():
            if digest_of(self.folder / name) != noted:
                raise BadFile(
                    "its bytes have changed since it was written. Write the set again.",
                    path=str(self.folder / name),
                )
        self._verified = True

    def check(self) -> None:
        if not self._verified:
            self.verify()

    def blocks(self, rows: int | None = None) -> Iterator[tuple[Any, Any, Floats | None]]:
        """(rows, labels, weights) of consecutive rows, each as arrays; sparse rows as SciPy's CSR.

        >>> import numpy as np, tempfile
        >>> from argmax.engines import Stored
        >>> data = [(np.eye(3), ["x", "y", "x"])]
        >>> stored = Stored.write(tempfile.mkdtemp() + "/rows", data)
        >>> [(X.shape, labels.tolist()) for X, labels, _ in stored.blocks(rows=2)]
        [((2, 3), ['x', 'y']), ((1, 3), ['x'])]
        """
        each = max(self.entries // max(len(self), 1) * self.dtype.itemsize, 1)
        count = max(READ_BYTES // each, 1) if rows is None else rows
        for first in range(0, len(self), count):
            part = slice(first, min(first + count, len(self)))
            truth = self._reading.truth(self._truth.block(part, part))
            labels = self.classes[truth.labels] if self.labelled else None
            yield as_matrix(self._reading.rows(self._rows[part])), labels, truth.weight

    def labels(self) -> Any:
        """The labels of all rows (n,)."""
        self._needs_labels()
        return self.classes[self._reading.truth(replace(self._truth, weight=None)).labels]

    def weights(self) -> Floats | None:
        """The weights of all rows (n,), or None where all are 1."""
        return None if self._truth.weight is None else np.asarray(self._truth.weight)

    def prepared(self, factors: Floats | None = None, scale: Floats | None = None) -> Stored:
        self._needs_labels()
        other = copy.copy(self)
        if factors is not None:
            other._totals = self._totals * factors
            other._reading = replace(other._reading, factors=factors)
        if scale is not None:
            other._reading = replace(other._reading, scale=scale)
        return other

    def cut(self, layout: Layout) -> list[Shard]:
        scratch = Scratch(self.scratch or self.folder, self.memory)
        return cut(Structures(self._rows), self._truth, layout, self._reading, scratch)

    def _needs_labels(self) -> None:
        if not self.labelled:
            raise InvalidInput(
                f"the set in {self.folder} was written without labels. It can be predicted from, "
                "not learned from."
            )

    def _arrays(self, manifest: dict[str, Any]) -> tuple[Rows, Truth]:
        """The files, unread, after a look at their lengths."""
        n, d = self.shape

        def array(name: str, *shape: int) -> Any:
            found = OnDisk.open(self.folder.absolute() / f"{name}.npy")
            if found.shape != shape or found.dtype.str not in ALLOWED[name]:
                raise BadFile(
                    f"it holds {found.shape} {found.dtype}, not {shape}. Write the set again.",
                    path=str(self.folder / f"{name}.npy"),
                )
            return found

        if self.sparse:
            entries = manifest["entries"]
            parts = array("indptr", n + 1), array("indices", entries), array("values", entries)
            rows: Rows = Csr(*parts, d)
        else:
            rows = array("rows", n, d)
        weight = array("weights", n) if manifest["weighted"] else None
        return rows, Truth(array("labels", n), weight)


def _files(manifest: dict[str, Any]) -> set[str]:
    """The names of the array files of a set."""
    parts = ["indptr", "indices", "values"] if manifest["sparse"] else ["rows"]
    parts += ["labels", *(["weights"] if manifest["weighted"] else [])]
    return {f"{part}.npy" for part in parts}


ALLOWED = {
    "rows": ("<f4", "<f8"),
    "indptr": ("<i8",),
    "indices": ("<i4", "<i8"),
    "values": ("<f4", "<f8"),
    "labels": ("<i4",),
    "weights": ("<f8",),
}
"""The dtypes that each file may have."""


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        plain_file(path)
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"there is no {MANIFEST} that can be read: this folder holds no finished set.",
            path=str(folder),
        ) from error
    except ValueError as error:
        raise BadFile(f"not JSON: {error}.", path=str(path)) from error
    wrong = not isinstance(found, dict) or found.get("format") != FORMAT
    if wrong or any(not isinstance(found.get(name), kind) for name, kind in FIELDS.items()):
        raise BadFile(f"not the manifest of a stored set (format {FORMAT!r}).", path=str(path))
    if not len(found["classes"]) == len(found["totals"]) or found["rows"] < 1:
        raise BadFile("its fields contradict each other. Write the set again.", path=str(path))
    return cast("dict[str, Any]", found)


def _classes(labels: list[Any], dtype: str, path: str) -> Any:
    """The labels in order of arrival: all strings, or all numbers of one of the usual kinds."""
    text = all(isinstance(label, str) for label in labels)
    numbers = all(isinstance(label, (bool, int, float)) for label in labels)
    if text and dtype[1:2] in "UO":
        return np.array(labels, dtype=object if dtype[1:2] == "O" else np.str_)
    if not numbers or dtype[1:] not in (
        "b1",
        "i1",
        "i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        "u8",
        "f4",
        "f8",
    ):
        raise BadFile(f"classes of kind {dtype!r} cannot be read. Write the set again.", path=path)
    return np.array(labels, dtype=dtype)


FIELDS: dict[str, Any] = {
    "rows": int,
    "features": int,
    "entries": int,
    "sparse": bool,
    "labelled": bool,
    "weighted": bool,
    "classes": list,
    "classes_dtype": str,
    "totals": list,
    "names": (list, type(None)),
    "digests": dict,
    "digest": str,
}
"""What a manifest must say."""

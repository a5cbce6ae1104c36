"""Writing a stored set: blocks in, array files out, one block in memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..layouts import as_matrix
from ..records import Csr, Floats, Ints, Rows, Strings
from .reading import chosen

__all__ = ["FORMAT", "MANIFEST", "Writer", "digest_of"]

FORMAT, MANIFEST = "argmax rows 1", "manifest.json"

PREFIX = 128
"""Bytes of a header, which NumPy pads so that the number of rows can grow in place."""


@final
class Writer:
    """``add`` blocks inside ``with``; on the way out the manifest makes a set of the files.

    >>> import numpy as np, tempfile
    >>> from argmax.engines.writing import Writer
    >>> with Writer(Path(tempfile.mkdtemp())) as writer:
    ...     writer.add(np.eye(2), [7, 8])
    ...     writer.add(np.eye(2), [8, 8], [0.0, 2.0])
    >>> writer.rows, writer.classes.arrived
    (3, {7: 0, 8: 1})
    """

    def __init__(
        self,
        folder: Path,
        names: Iterable[str] | None = None,
        dtype: Any = None,
        overwrite: bool = False,
    ) -> None:
        self.folder, self.asked = folder, dtype
        self.dtype: np.dtype[Any] = np.dtype(float)
        self.names = None if names is None else [str(name) for name in names]
        self.rows = self.blocks = self.entries = 0
        self.features: int | None = None
        self.sparse = self.labelled = self.weighted = False
        self.classes = _Classes()
        self._files: dict[str, _ArrayFile] = {}
        self._claim(overwrite)

    def _claim(self, overwrite: bool) -> None:
        """Make the folder, and make sure that what lies there is ours to replace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not overwrite and any(self.folder.iterdir()):
            raise InvalidInput(
                f"the folder {self.folder} is not empty. Choose another, or pass overwrite=True."
            )
        (self.folder / MANIFEST).unlink(missing_ok=True)  # from here on there is no finished set

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
                return
        finally:
            for file in self._files.values():
                file.close()
        for file in self._files.values():  # a part of a set is of no use to anybody
            file.path.unlink()

    def add(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Append rows (m, d), their labels (m,) or None, and their weights (m,)."""
        first, self.blocks = self.rows, self.blocks + 1
        try:
            self._add(X, y, sample_weight)
        except InvalidInput as error:
            where = f"block {self.blocks} (from row {first} on)"
            raise InvalidInput(f"{where}: {error}") from error

    def _add(self, X: Any, y: Any, sample_weight: Any) -> None:
        rows = self._checked(X)
        n = len(rows)
        weight = checks.sample_weight(sample_weight, n, all_zero=True)
        codes: Ints = np.zeros(n, np.int32)
        used = weight > 0
        if y is not None:
            y = y.tolist() if isinstance(y, Strings) else y
            codes = self.classes.codes(y, n, weight)
        if self.blocks > 1 and self.labelled != (y is not None):
            raise InvalidInput("labels must be given for every block, or for none.")
        self.labelled = y is not None
        if not used.all():  # a row without weight is a row that is not there
            rows, codes, weight = chosen(rows, used), codes[used], weight[used]
        self.weighted |= bool(np.any(weight != 1.0))
        self._append_rows(rows)
        self._file("labels", np.int32).append(codes)
        self._file("weights", np.float64).append(weight)
        self.rows += len(codes)

    def _checked(self, X: Any) -> Rows:
        """The block as rows, like those before it."""
        rows = checks.block(as_matrix(X) if isinstance(X, Csr) else X, self.asked)
        checks.magnitude(rows, lambda piece, count: [piece(i) for i in range(count)])
        found = isinstance(rows, Csr), int(rows.shape[1])
        if self.features is None:
            (self.sparse, self.features), self.dtype = found, rows.dtype
            checks.lengths(
                **({} if self.names is None else {"X": found[1], "names": len(self.names)})
            )
        if found != (self.sparse, self.features):
            kinds = [_kind(*found), _kind(self.sparse, self.features)]
            raise InvalidInput(f"its rows are {kinds[0]}; those before are {kinds[1]}.")
        if rows.dtype.itemsize > self.dtype.itemsize:
            raise InvalidInput(
                f"its rows are {rows.dtype}; those before are {self.dtype}. Pass dtype='{rows.dtype}' to "
                "keep all digits, or the other to drop some."
            )
        return rows

    def _append_rows(self, rows: Rows) -> None:
        if not isinstance(rows, Csr):
            self._file("rows", self.dtype, int(rows.shape[1])).append(rows)
            self.entries += int(rows.size)
            return
        indptr = self._file("indptr", np.int64)
        if not indptr.rows:
            indptr.append(np.zeros(1, np.int64))
        indptr.append(rows.indptr[1:].astype(np.int64) - int(rows.indptr[0]) + self.entries)
        kind = np.int32 if rows.width < 2**31 else np.int64
        self._file("indices", kind).append(rows.indices)
        values = np.ones(rows.entries, self.dtype) if rows.values is None else rows.values
        self._file("values", self.dtype).append(values)
        self.entries += rows.entries

    def _file(self, name: str, dtype: Any, *tail: int) -> _ArrayFile:
        if name not in self._files:
            self._files[name] = _ArrayFile(self.folder / f"{name}.npy", dtype, tail)
        return self._files[name]

    def _finish(self) -> None:
        if not self.rows:
            raise InvalidInput("there are no rows to store (or none with a positive weight).")
        if not self.weighted:
            self._files.pop("weights").remove()
        digests = {file.path.name: file.finish() for file in self._files.values()}
        content = {
            "format": FORMAT,
            "rows": self.rows,
            "features": self.features,
            "entries": self.entries,
            "sparse": self.sparse,
            "labelled": self.labelled,
            "weighted": self.weighted,
            **self.classes.described(),
            "names": self.names,
            "digests": digests,
        }
        text = json.dumps(content, ensure_ascii=False)
        content["digest"] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        temporary = self.folder / f"{MANIFEST}.part"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.folder / MANIFEST)


def _kind(sparse: bool, columns: int) -> str:
    return f"{'sparse' if sparse else 'dense'} with {columns} columns"


@final
class _Classes:
    """The labels seen so far: a code for each in order of arrival, and the weight it carries."""

    def __init__(self) -> None:
        self.arrived: dict[Any, int] = {}
        self.totals: Floats = np.zeros(0)
        self.dtype: np.dtype[Any] | None = None

    def codes(self, y: Any, n: int, weight: Floats) -> Ints:
        """The codes (n,) of a block; a class all of whose rows have no weight does not count as seen."""
        found, places = checks.labels(None, y, n)
        present = np.unique(places[weight > 0])
        text = found.dtype.kind in "UTO"
        if self.dtype is not None and text != (self.dtype.kind in "UTO"):
            raise InvalidInput("y mixes strings with numbers among the blocks. Use one of them.")
        kinds = [found.dtype] if self.dtype is None else [found.dtype, self.dtype]
        self.dtype = np.dtype(object) if np.dtype(object) in kinds else np.result_type(*kinds)
        of_block = np.zeros(len(found), np.int32)
        for place in present:
            of_block[place] = self.arrived.setdefault(
                found[place : place + 1].tolist()[0], len(self.arrived)
            )
        codes: Ints = of_block[places]
        grown = np.zeros(len(self.arrived))
        grown[: len(self.totals)] = self.totals
        np.add.at(
            grown, codes[weight > 0], weight[weight > 0]
        )  # row by row, as one sum over all would
        self.totals = grown
        return codes

    def described(self) -> dict[str, Any]:
        dtype = "<U1" if self.dtype is None else self.dtype.str
        return {
            "classes": list(self.arrived),
            "classes_dtype": dtype,
            "totals": self.totals.tolist(),
        }


@final
class _ArrayFile:
    """One ``.npy`` file that grows; its header is written again when its length is known."""

    def __init__(self, path: Path, dtype: Any, tail: tuple[int, ...]) -> None:
        self.path, self.dtype, self.tail, self.rows = path, np.dtype(dtype), tail, 0
        self._file = open(path, "wb")  # noqa: SIM115
        self._digest = hashlib.blake2b(digest_size=16)
        self._header()

    def _header(self) -> None:
        self._file.seek(0)
        description = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.rows, *self.tail),
        }
        np.lib.format.write_array_header_1_0(self._file, description)
        assert self._file.tell() == PREFIX

    def append(self, array: Any) -> None:
        array = np.ascontiguousarray(array, dtype=self.dtype)
        if array.size:
            self._digest.update(memoryview(array).cast("B"))
            array.tofile(self._file)
        self.rows += len(array)

    def finish(self) -> str:
        """Put the header right and the bytes on the disk; returns their digest."""
        self._header()
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._digest.hexdigest()

    def close(self) -> None:
        self._file.close()

    def remove(self) -> None:
        self.close()
        self.path.unlink()


def digest_of(path: Path) -> str:
    """The digest of an array file, read in pieces."""
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        file.seek(PREFIX)
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest()

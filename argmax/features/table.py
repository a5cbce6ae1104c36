"""``Table``: the columns of a table as rows of numbers, in one scikit-learn transformer."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import saved
from .encoding import Encoding, Met
from .intake import Sheet, sheet
from .learning import Learner, decided, refused
from .matching import matched, renamed
from .saved import State
from .settings import kinds_given, plain, settings

__all__ = ["Table"]

_counting = threading.Lock()  # a fitted table may be used from many threads


@final
class Table(TransformerMixin, BaseEstimator):
    """Numbers, categories and texts as rows for a linear model.

    Takes data frames, dicts of columns, Batches of a file, 2-D arrays (numbers), or a list of strings (one
    column of text). Gives a dense array if every column is a number, else a CSR matrix. The columns of the
    result are those of numbers, then of categories, then of texts; ``get_feature_names_out`` names them.

    Parameters
    ----------
    kinds : dict, optional
        The kind of a column: "number", "category", "text", or "ignore" ("id" means the same). Columns that
        are not named get theirs from their values (``infer_kind``); 2-D arrays are numbers throughout.
    standardise : bool
        Numbers minus their mean, divided by their standard deviation. Sparse numbers are used as they are.
    missing : "mean" or "refuse"
        Numbers that are missing get the mean, and where training had some, a column that marks them; or an
        error. A missing category is a category of its own; a missing text is empty. All are counted.
    category_min_count : int
        A category that fewer rows have gets no column.
    analyzer : "word", "char" or "char_wb"
        N-grams of words (two letters or more), of characters, or of characters inside words.
    ngrams : (int, int)
        Shortest and longest n-gram.
    lowercase : bool
        Whether text is lower-cased first.
    min_count, max_share : int, float
        N-grams in fewer rows, or in a larger share of them, get no column.
    max_features : int, optional
        Keep the most frequent n-grams only; among equals, those first in the alphabet.
    weight : "tfidf", "counts" or "binary"
        What an n-gram counts for.
    sublinear : bool
        1 + log(count) instead of the count.
    smooth : bool
        idf as if one more document had every n-gram.
    norm : "l2" or None
        Whether the n-grams of a text get Euclidean length 1.
    hash_bits : int, optional
        2^hash_bits columns for the n-grams of each text column, found by hashing instead of a dictionary.
    signed : bool
        Half of the n-grams, chosen by their hash, count negatively, so that collisions cancel on average.
    examples : int
        How many n-grams of each hashed column to remember, to name it by. A model file then holds them.
    dtype : "float64" or "float32"
        Of the values.
    n_threads : int, optional
        Threads for text; all cores if None. Never changes the result.

    Attributes
    ----------
    kinds_ : dict
        The kind of every column.
    missing_ : dict
        How many values of each column were missing in training.
    imputed_, unknown_ : dict
        Since the fit, what ``transform`` met: values missing, and categories that training did not have.
    collisions_, inverse_ : dict
        For each column of hashed text, how many n-grams share a column of the result, and the ``examples``.

    Examples
    --------
    >>> from argmax.features import Table
    >>> table = Table({"note": "text"}, min_count=1)
    >>> rows = {
    ...     "size": [1.0, None, 3.0],
    ...     "city": ["Oslo", "Rome", "Oslo"],
    ...     "note": ["so so", "good", "bad"],
    ... }
    >>> table.fit_transform(rows).shape
    (3, 7)
    >>> list(table.get_feature_names_out())
    ['size', 'size=<missing>', 'city=Oslo', 'city=Rome', 'note: bad', 'note: good', 'note: so']
    >>> table.kinds_, table.missing_
    ({'size': 'number', 'city': 'category', 'note': 'text'}, {'size': 1, 'city': 0, 'note': 0})
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        standardise: bool = True,
        missing: str = "mean",
        category_min_count: int = 1,
        analyzer: str = "word",
        ngrams: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        min_count: int = 2,
        max_share: float = 1.0,
        max_features: int | None = None,
        weight: str = "tfidf",
        sublinear: bool = True,
        smooth: bool = True,
        norm: str | None = "l2",
        hash_bits: int | None = None,
        signed: bool = False,
        examples: int = 0,
        dtype: Any = "float64",
        n_threads: int | None = None,
    ) -> None:
        self.kinds = kinds
        self.standardise = standardise
        self.missing = missing
        self.category_min_count = category_min_count
        self.analyzer = analyzer
        self.ngrams = ngrams
        self.lowercase = lowercase
        self.min_count = min_count
        self.max_share = max_share
        self.max_features = max_features
        self.weight = weight
        self.sublinear = sublinear
        self.smooth = smooth
        self.norm = norm
        self.hash_bits = hash_bits
        self.signed = signed
        self.examples = examples
        self.dtype = dtype
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = [np.dtype(self.dtype).name]
        return tags

    # Learning

    def fit(self, X: Any, y: Any = None) -> Table:
        """Learn from a table; y is not used."""
        self._learn([sheet(X)], keep=False)
        return self

    def fit_batches(self, batches: Iterable[Any]) -> Table:
        """Learn from batches of rows, read once and not kept: the same as ``fit`` on all of them together."""
        self._learn(map(sheet, batches), keep=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit(X)`` and ``transform(X)``, reading texts once."""
        given = sheet(X)
        learner, encoding = self._learn([given], keep=True)
        threads, dtype = learner.settings.threads, learner.settings.dtype
        return encoding.transform(given, threads, dtype, learner.ready(encoding))[0]

    def _learn(self, sheets: Iterable[Sheet], keep: bool) -> tuple[Learner, Encoding]:
        chosen = settings(self.get_params(deep=False))
        columns, sheets = decided(sheets, kinds_given(self.kinds))
        learner = Learner(columns, chosen, keep)
        for one in sheets:
            learner.add(one)
        encoding = learner.encoding()
        learned = columns.kinds, learner.missing, columns.named, encoding, learner.collisions
        # Nothing failed. From here on the table is fitted; until here it was as it had been.
        self._become(State(plain(self.get_params(deep=False)), chosen, *learned))
        return learner, encoding

    def _become(self, state: State) -> None:
        self._state = state
        self.kinds_, self.missing_, self.collisions_ = state.kinds, state.missing, state.collisions
        texts = state.encoding.texts
        self.inverse_ = {name: texts[name].examples for name in state.collisions}
        self.n_features_in_ = len(state.kinds)
        self.__dict__.pop("feature_names_in_", None)
        if state.named:
            self.feature_names_in_: NDArray[Any] = np.array(list(state.kinds), dtype=object)
        self.imputed_, self.unknown_ = (dict.fromkeys(state.kinds, 0) for _ in range(2))

    # Using

    def transform(self, X: Any) -> Any:
        """The rows of a table with the same columns: dense if all are numbers, else CSR.

        Columns are found by name in dicts and Batches, by name and place in frames, and by place in arrays.
        Ignored columns need not be there.
        """
        check_is_fitted(self)
        state = self._state
        given = matched(sheet(X), state.kinds, state.named)
        rows, met = state.encoding.transform(given, self.n_threads, state.settings.dtype)
        self._note(met)
        return rows

    def _note(self, met: Met) -> None:
        if self._state.settings.missing == "refuse":
            for name in self._state.encoding.numbers.names:
                if name in met.missing:
                    raise refused(name, met.missing[name])
        with _counting:
            for counts, found in ((self.imputed_, met.missing), (self.unknown_, met.unknown)):
                for name, count in found.items():
                    counts[name] += count

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """What the columns of the result are: ``size``, ``size=<missing>``, ``city=Oslo``, ``note: good``."""
        check_is_fitted(self)
        called = renamed(input_features, self._state.kinds, self._state.named)
        return np.array(self._state.encoding.names(called), dtype=object)

    def feature_name(self, column: int) -> str:
        """The name of one column of the result, without making all of them.

        >>> from argmax.features import Table
        >>> Table(min_count=1).fit(["red wine", "white wine"]).feature_name(2)
        'text: wine'
        """
        check_is_fitted(self)
        return self._state.encoding.name(int(column), {})

    # Saving

    def options(self) -> dict[str, Any]:
        """All but the arrays, as JSON can hold it; with ``tensors`` it makes the table again.

        >>> import json
        >>> from argmax.features import Table
        >>> table = Table(min_count=1).fit(["red wine", "white wine"])
        >>> again = Table.rebuild(json.loads(json.dumps(table.options())), table.tensors())
        >>> again.transform(["wine, red wine"]).toarray().round(2)
        array([[0.64, 0.  , 0.77]])
        """
        check_is_fitted(self)
        return saved.options(self._state)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays: statistics as numbers, strings as bytes and offsets."""
        check_is_fitted(self)
        return saved.tensors(self._state)

    @classmethod
    def rebuild(cls, options: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Table:
        """The table that gave these options and tensors; everything is checked, nothing is run."""
        state = saved.rebuilt(options, tensors)
        table = cls(**state.parameters)
        table._become(state)
        return table

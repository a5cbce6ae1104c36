"""Files -> tables and sequences: CSV, TSV, JSON lines, Parquet, svmlight, CoNLL, plain or compressed.

open_table(path)         the format from the content, the kinds of the columns from the first rows
Source.batches()         the rows, in bounded memory, as often as you like
split(source)            some rows to learn from, the others to test on
open_conll(path)         sequences of tokens: columns or CoNLL-U, strict or lenient
holds_sequences(path)    which of the two a file is for
samples.tickets()        a table that the library writes itself
corpus.sentences()       tagged sentences that it writes itself
scenes.write_scenes()    a table with several labels a row
pictures.flower()        a noisy picture to segment
"""

from . import corpus, pictures, samples, scenes
from .columns import Column
from .conll import Conll, open_conll
from .limits import Limits
from .sentences import Repairs
from .sniffing import holds_sequences
from .source import Source, open_table
from .splits import Part, split

__all__ = [
    "Column",
    "Conll",
    "Limits",
    "Part",
    "Repairs",
    "Source",
    "corpus",
    "holds_sequences",
    "open_conll",
    "open_table",
    "pictures",
    "samples",
    "scenes",
    "split",
]

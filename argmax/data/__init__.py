"""Files -> tables, in batches: CSV, TSV, JSON lines, Parquet and svmlight, plain or compressed.

open_table(path)         the format from the content, the kinds of the columns from the first rows
Source.batches()         the rows, in bounded memory, as often as you like
split(source)            some rows to learn from, the others to test on
samples.tickets()        a table that the library writes itself
"""

from . import samples
from .columns import Column
from .limits import Limits
from .source import Source, open_table
from .splits import Part, split

__all__ = ["Column", "Limits", "Part", "Source", "open_table", "samples", "split"]

"""Templates over token columns: a small language, and integers all the way down.

language.py      'suffix(lower(word[0]),3)|pos[1]' and its parser
functions.py     what may be done with a string
windows.py       what a set of templates asks for, nothing twice
texts.py         columns with each different string once
cells.py         what is seen from each token, by number
keys.py          attributes: dictionary.py or hashed.py
estimator.py     Templates
crfpp.py         template files of CRF++
"""

from .crfpp import read_crfpp
from .defaults import DEFAULT
from .estimator import Templates

__all__ = ["DEFAULT", "Templates", "read_crfpp"]

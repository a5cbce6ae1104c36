"""Commands on tables with several labels a row, under the same names as those on one label a row.

reading.py    which columns hold the labels, how they stand there, and what they are
survey.py     what is wrong with labels
material.py   rows to learn from and to judge by
fitting.py    C chosen, and a fit on all rows to learn from
scoring.py    rows judged: scores with intervals, for people and for programs
account.py    what ``train`` says when it is done
"""

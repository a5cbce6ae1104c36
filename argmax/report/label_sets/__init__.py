"""The report of a classifier of label sets.

evaluation.py   LabelSets: what the page is about; ``of_sets`` fills one from a fitted classifier
measures.py     every number of the page
sections.py     the numbers as what the template prints
snippets.py     the Python lines that give them again
"""

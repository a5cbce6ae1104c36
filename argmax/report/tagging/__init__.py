"""The report of a tagger.

evaluation.py   Tagging: what the page is about; ``of_tagger`` fills one from a fitted tagger
measures.py     every number of the page
sentences.py    tagged sentences as the template prints them: spans, or a label below each word
sections.py     the numbers as what the template prints
snippets.py     the Python lines that give them again
"""

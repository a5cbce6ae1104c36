"""Commands on files of tagged sequences: CoNLL columns and CoNLL-U.

check train predict evaluate explain     as for tables, under the same names
reading    options about files -> an open file, the columns to read, the labels
parts      some sequences of many
survey     what is wrong with a corpus
fitting    C chosen by how well sequences are tagged that a trial did not learn from
scoring    how good a tagger is, for people and for programs
account    what ``train`` says when it is done
"""

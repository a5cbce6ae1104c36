"""The templates of whoever names none: for plain lists of tokens, in any language that has letters.

Chosen on the development part of UD English EWT (parts of speech, averaged perceptron): 95.1 % there.
Words of the window without lower-casing, affixes of neighbours, and yes-or-no questions about the word
changed nothing or took some hundredths away.
"""

__all__ = ["DEFAULT"]

DEFAULT = (
    "bias",
    "lower(word[-2])", "lower(word[-1])", "word[0]", "lower(word[0])", "lower(word[1])", "lower(word[2])",
    "lower(word[-1])|lower(word[0])", "lower(word[0])|lower(word[1])",
    "prefix(lower(word[0]),1)", "prefix(lower(word[0]),2)", "prefix(lower(word[0]),3)",
    "prefix(lower(word[0]),4)",
    "suffix(lower(word[0]),1)", "suffix(lower(word[0]),2)", "suffix(lower(word[0]),3)",
    "suffix(lower(word[0]),4)",
    "shape(word[0])", "short_shape(word[-1])", "short_shape(word[0])", "short_shape(word[1])",
)  # fmt: skip

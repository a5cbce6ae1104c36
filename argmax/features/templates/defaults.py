"""The templates of whoever names none: for plain lists of tokens, in any language that has letters."""

__all__ = ["DEFAULT"]

DEFAULT = (
    "bias",
    "word[-2]", "word[-1]", "word[0]", "word[1]", "word[2]",
    "word[-1]|word[0]", "word[0]|word[1]",
    "lower(word[0])",
    "prefix(lower(word[0]),1)", "prefix(lower(word[0]),2)", "prefix(lower(word[0]),3)",
    "suffix(lower(word[0]),1)", "suffix(lower(word[0]),2)", "suffix(lower(word[0]),3)",
    "suffix(lower(word[0]),4)",
    "shape(word[0])", "short_shape(word[-1])", "short_shape(word[0])", "short_shape(word[1])",
)  # fmt: skip

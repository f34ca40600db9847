"""From text to the expression tree: tokens, grammar, units, words, other notations."""

"""English words that the lexer would take for products of letters and functions.

Short ones, those without e, i, o, u, and those that are a function's name with letters around it
(`using` is no `u sin g`).
Tables and nothing else, in lower case. What could as well be mathematics is not listed: `cost` and
`sink` stay a cosine and a sine.
"""

from __future__ import annotations

from typing import Final


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


WORDS: Final = _listed(
    "a an am as at be by do go he if in is it me my no of oh ok on so to up us we"
)
"""Short words that are no product of variables."""
WORDS_IN_A: Final = _listed(
    """
    alan always anna ants apart arch array away back bags ball band bank bats black brad calf calm
    cans caps card cards carl cars cash cats chart charts clara clark class clay crazy daddy dark
    data fact facts fall fast flag flags flash flat frank gram grams grand grant graph graphs
    grass gray hall hand hands hank hard harry hash hats jack jars kathy lakh lakhs lamp land
    large larry last many maps march mark mary math maths nancy pack park parks part party past
    path paths patty plan plans plant plants play plays rally randy rats rays sally salty sand
    sandy sarah says scalar scarf shall shark sharp small smart spam stack staff stamp stand
    standard star stars start starts stats stay tall tank tanks task thank thanks that track wall
    walls want watch ways what yara yard yards zach
    """
)
"""Words whose only vowels are a and y; most runs of such letters are products (`abc`, `xyz`)."""
CAPITALISED: Final = _listed(
    """
    All Amy Ana And Ann Ant Any Apr Arc Ava Bad Bag Bat Can Cap Car Cat Dan Day Far Gas Had Ham Has Hat
    Jam Jan Jar Jay Kay MAX Man Map Mar Max May Pat Rat Ray Sam Sat Say Tap Tax Was Way Why Yam
    """
)
"""Words of three letters, which are words with a capital only."""
WORDS_WITH_FUNCTIONS: Final = _listed(
    """
    sine cosine using losing rising posing easing musing busing fusing basin basins resin resins
    rosin casino casinos titan titans satan stand stands stank octane butane tacos scott kiln kilns
    blog blogs clog clogs flog slog
    """
)
"""Words in which a function's name is found with letters around it, and nothing is left over."""
PI_RUNS: Final = {"pir": ("pi", "r"), "pirh": ("pi", "r", "h")}
"""Letters behind pi, as plain text joins them."""

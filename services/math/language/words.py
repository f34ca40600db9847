"""Know what words do to an answer: hedge it, only introduce it, say its number, or what is counted.

What is covered: openings such as "The answer is", which `without_preamble` drops; words that make an
answer less than one, in five sets; the plain nouns that are counted (`apples`, `red balls`, `pages
per hour`); and number words, which `services.math.language.cardinals` reads.

What is not: a hedge is never dropped. A noun is a guess on the safe side, and means something only
behind a number: no capitals (names), no words of one or two letters, and those of three only if they
are listed (`abc` may be a product). Nouns that differ prove nothing: `kids` may be `children`.
"""

from __future__ import annotations

import re
from typing import Final

from services.math.language.cardinals import is_number_word, read_number_words, read_ordinal
from services.math.language.units import unit

__all__ = [
    "ALTERNATIVES",
    "APPROXIMATIONS",
    "BOUNDS",
    "DOUBTS",
    "HEDGES",
    "NEGATIONS",
    "counted",
    "is_hedge",
    "read_number_words",
    "read_ordinal",
    "without_preamble",
]

MAX_CHARS: Final = 200


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


ALTERNATIVES: Final = _listed(
    """
    or either and/or alternatively otherwise 或 或者 或是 还是 또는
    """
)
"""What stands between two answers."""
APPROXIMATIONS: Final = _listed(
    """
    approximately approx about around roughly nearly almost circa some close estimated 大约 约 大概 左右
    差不多 近似 약 約
    """
)
"""What makes a value an estimate."""
NEGATIONS: Final = _listed(
    """
    not no none never neither nor without cannot can't isn't aren't wasn't doesn't don't won't
    except wrong incorrect 不 不是 非 没有
    """
)
"""What takes a value back."""
DOUBTS: Final = _listed(
    """
    maybe perhaps possibly probably likely presumably apparently might may could should would if
    unless guess unsure think seems 可能 也许
    """
)
"""What says that nobody is sure."""
BOUNDS: Final = _listed(
    """
    least most more less fewer over under above below than minimum maximum exceeding 至少 至多 最多 最少 超过
    不到 以上 以下
    """
)
"""What makes a value a limit."""
HEDGES: Final = ALTERNATIVES | APPROXIMATIONS | NEGATIONS | DOUBTS | BOUNDS

_OPENING = re.compile(
    r"""[*\s]*(?:
      (?:so|then|thus|therefore|hence|finally|consequently|in\ conclusion|and\ so)
        (?:\ ?[,:]\s*|\s+(?=[^\sA-Za-z]|(?:the|it|we|our|my|final|answer|[a-z])\b))
    | (?:the|my|our)?\ ?(?:final|correct|right|exact|required)?\ ?(?:answer|result|solution|value)
        [*\s]*(?:(?:is|equals|would\ be|will\ be)\b\ ?:?|[:=\uff1a])[*\s]*
    | (?:final\ )?ans[.:]+\s*
    | (?:it\ is|it's|that\ is|this\ is|which\ is|we\ (?:get|have|find|obtain)|this\ gives)\b\s*:?\s*
    | (?:所以|因此|故|综上)?[,\uff0c]?\ ?(?:最终|最后的?|正确)?答案(?:是|为|[:\uff1a])+\ ?[:\uff1a]?\s*
    | (?:所以|因此|综上)[,\uff0c]?\s*
    | (?:정답|답)은\s* | 答えは\s*
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SYMBOL_IS = re.compile(r"[b-hj-zB-HJ-Z]\s+is\s+(?![^=]*\bis\b)")
_MAX_OPENINGS: Final = 4

_WORDS = re.compile(r"[a-z]{3,20}(?:[ -](?:of|[a-z]{3,20})){0,4}")
_VOWEL = re.compile("[aeiouy]")

_NEVER_LISTED: Final = """
the this that these those its his her our your their them they you she who whom whose which what
and but for nor yet per with from into onto upon off out down left right then thus hence therefore so
because since while when where how why whether though although also too very just only exactly even
odd each every all both any many much few several other another same different such own
are was were been being has have had does did done will shall can must get gets got give gives gave
make makes made take takes need needs work works hold holds follow follows say says mean means know
see let use find show prove solve check note find equal equals become becomes remain remains needed
there here now again still already ever always often together apart away back
total sum difference product quotient ratio remainder average mean median mode answer result value
solution number final correct true false yes yeah okay undefined infinite infinity finite impossible
empty exist exists real complex prime composite positive negative integer rational irrational
squared cubed square cubic plus minus times over divided multiplied raised power root sqrt cube
sine cosine tangent secant sin cos tan sec csc cot log exp lim max min mod gcd lcm arg det dim ker
alpha beta gamma delta epsilon theta lambda sigma omega phi psi rho tau eta zeta kappa
first second third last next previous half quarter double triple twice once thrice
left remaining altogether respectively overall extra bigger smaller larger greater longer shorter
north south east west percentage percentages fold base degree degrees
gross tens score scores crore crores lakh lakhs hundred hundreds thousands millions billions dozens
couple couples trio twos threes fours fives sixes sevens eights nines factorial factorials inverse
inverses modulo binary octal hexadecimal ternary decimal root reciprocal reciprocals complement
conjugate opposite halved doubled tripled unknown invalid nope fake untrue mistaken mistake guess
guesses naught error errors halves thirds fourths quarters fifths sixths tenths hundredths
thousandths exponent multiple factor permille basis
please thanks sorry well good bad new old big small large great long short high low enough
"""
_NEVER: Final = frozenset(_NEVER_LISTED.split()) | HEDGES
_SHORT_LISTED: Final = """
way ways man men cat cats dog dogs egg eggs pie pies box car cars bus cow cows pig pigs hen hens pen
pens cup cups bag bags can cans jar jars hat hats key keys toy toys boy boys kid kids son sons day
bee bees ant ants bat bats cap caps ant fox rat rats row rows set sets job jobs ball pea peas nut nuts
tie ties bed beds tub tubs win wins
"""
_SHORT: Final = frozenset(_SHORT_LISTED.split())
_IRREGULAR_LISTED: Final = """
people person, persons person, children child, men man, women woman, mice mouse, geese goose, teeth
tooth, oxen ox, dice die, leaves leaf, loaves loaf, knives knife, wives wife, lives life, wolves wolf,
shelves shelf, thieves thief, calves calf, scarves scarf, elves elf, cookies cookie, movies movie,
brownies brownie, pies pie, ties tie, zombies zombie, smoothies smoothie, pixies pixie, rookies rookie,
hoodies hoodie, series series, species species, shoes shoe, toes toe, canoes canoe, buses bus, gases
gas, quizzes quiz, vertices vertex, matrices matrix, indices index, axes axis, bases base, radii radius,
lenses lens, menus menu
"""
_IRREGULAR: Final = dict(pair.split() for pair in _IRREGULAR_LISTED.split(","))
_ENDINGS = (
    ("ies", "y"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("sses", "ss"),
    ("oes", "o"),
)


def is_hedge(word: str) -> bool:
    """Whether a word makes what stands beside it less than an answer: `or`, `about`, `not`, `maybe`."""
    return word.lower().rstrip(".,") in HEDGES


def without_preamble(text: str) -> str:
    """Drop openings that only introduce: `Therefore, the answer is:`, `x is`, `答案是`.

    What changes the meaning stays, with all that follows: `not`, `at least`, `approximately`. The
    text stays whole where nothing would be left.
    """
    if len(text) > MAX_CHARS:
        return text
    start = 0
    for _ in range(_MAX_OPENINGS):
        opening = _OPENING.match(text, start)
        if opening is None:
            break
        start = opening.end()
    symbol = _SYMBOL_IS.match(text, start)
    rest = text[symbol.end() if symbol else start :].strip()
    if rest.endswith("**") and rest.count("**") % 2:
        rest = rest[:-2]  # its partner is gone with the opening
    return rest if rest.strip("*. ") and start + bool(symbol) else text


def counted(text: str) -> str | None:
    """Return the noun in the singular if `text` is plainly one that is counted, after a number."""
    if len(text) > MAX_CHARS or not _WORDS.fullmatch(text) or unit(text):
        return None
    over, per, under = text.partition(" per ")
    if not per:
        return _noun(text)
    one, measure = _noun(over), unit(under)
    below = measure.name if measure else _noun(under)
    return f"{one} per {below}" if one and below else None


def _noun(text: str) -> str | None:
    words = text.replace("-", " ").split()
    of = words[1:-1] == ["of"]
    head = 0 if of else len(words) - 1
    plain = all(_is_plain(word) for word in (words[::2] if of else words))
    if len(words) > 3 or not plain or unit(words[head]) or not _is_known(words[head]):
        return None
    words[head] = _singular(words[head])
    return " ".join(words)


def _is_plain(word: str) -> bool:
    verbal = len(word) > 6 and word.endswith(("ing", "ed", "ly"))
    never = verbal or word in _NEVER or word == "of" or is_number_word(word)
    return not never and _VOWEL.search(word) is not None


def _is_known(word: str) -> bool:
    return len(word) > 3 or word in _SHORT


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, single in _ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + single
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word

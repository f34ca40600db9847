"""The names that the lexer knows: functions, constants, Greek letters, relations, LaTeX commands.

Tables and nothing else. What an answer may call a unit, a number word or a choice is in
`services.math.language.units`, `words` and `choices`.
"""

from __future__ import annotations

from typing import Final

_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc")

FUNCTIONS: Final[dict[str, str]] = {
    **{name: name for name in _TRIGONOMETRIC},
    **{f"arc{name}": f"arc{name}" for name in _TRIGONOMETRIC},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan")},
    **{f"{name}h": f"{name}h" for name in _TRIGONOMETRIC},
    **{f"{arc}{name}h": f"ar{name}h" for name in _TRIGONOMETRIC for arc in ("ar", "arc", "a")},
    "cosec": "csc",
    "arctg": "arctan",
    "tg": "tan",
    "ctg": "cot",
    "ln": "ln",
    "log": "log",
    "lg": "lg",
    "exp": "exp",
    "cis": "cis",
    "abs": "abs",
    "sgn": "sign",
    "sign": "sign",
    "floor": "floor",
    "ceil": "ceil",
    "gcd": "gcd",
    "lcm": "lcm",
    "min": "min",
    "max": "max",
    "Re": "re",
    "Im": "im",
}
"""What a function may be called, in plain text and as a LaTeX command, and its name in the tree."""

KNOWN_FUNCTIONS: Final = frozenset(FUNCTIONS.values()) | {
    *("factorial", "binom", "mod", "conj", "degrees", "percent", "pm", "mp"),
    *("sum", "prod", "integral", "limit", "derivative"),
}
"""Functions of the tree that have a value; any other name is an unknown function."""
LONG_FUNCTIONS: Final = frozenset(("sin", "cos", "tan", "cot", "ln", "log"))
"""Functions that a variable may follow without a blank: `sinx`."""

CONSTANTS: Final[dict[str, str]] = {
    "pi": "pi",
    "infty": "infinity",
    "infin": "infinity",
    "infinity": "infinity",
    "inf": "infinity",
    "Infinity": "infinity",
}

GREEK: Final = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    ]
)
VARIANTS: Final = {f"var{name}": name for name in ("epsilon", "theta", "rho", "sigma", "phi")}

GREEK_LETTERS: Final = dict(
    zip(
        "αβγδεζηθικλμνξρσςτυφχψωΓΔΘΛΞΣΥΦΨΩϕϑ",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "rho",
            "sigma",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Sigma",
            "Upsilon",
            "Phi",
            "Psi",
            "Omega",
            "phi",
            "theta",
        ],
        strict=True,
    )
)

RELATIONS: Final = {
    "=": "=",
    "<": "<",
    ">": ">",
    "le": "<=",
    "leq": "<=",
    "leqslant": "<=",
    "ge": ">=",
    "geq": ">=",
    "geqslant": ">=",
    "lt": "<",
    "gt": ">",
    "ne": "!=",
    "neq": "!=",
    "approx": "~",
    "simeq": "~",
    "doteq": "~",
    "in": "in",
    "notin": "notin",
    "equiv": "congruent",
    "subset": "subset",
    "subseteq": "subset",
}

SET_OPERATORS: Final = {
    "cup": "union",
    "cap": "intersection",
    "setminus": "difference",
    "backslash": "difference",
    "smallsetminus": "difference",
}

JOINTS: Final = {
    "or": "or",
    "and": "and",
    "或": "or",
    "或者": "or",
    "且": "and",
    "并且": "and",
    "和": "and",
    "与": "and",
    "及": "and",
    "以及": "and",
    "vee": "or",
    "lor": "or",
    "wedge": "and",
    "land": "and",
}

FRACTIONS: Final = frozenset(("frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "flatfrac"))
WRAPPERS: Final = frozenset(
    [
        "text",
        "textbf",
        "textit",
        "textrm",
        "textsf",
        "texttt",
        "textnormal",
        "mbox",
        "mathrm",
        "mathsf",
        "mathtt",
        "mathit",
        "mathbf",
        "boldsymbol",
        "bm",
        "pmb",
        "operatorname",
        "boxed",
        "fbox",
        "hbox",
        "emph",
        "underline",
        "mathop",
    ]
)
"""Commands whose argument is what counts."""
UPRIGHT: Final = frozenset(
    [
        "text",
        "textbf",
        "textit",
        "textrm",
        "textsf",
        "texttt",
        "textnormal",
        "mbox",
        "mathrm",
        "mathsf",
        "mathtt",
        "operatorname",
        "hbox",
        "emph",
    ]
)
"""Those in whose argument several letters are a word, not a product."""
ACCENTS: Final = frozenset(
    ["overline", "bar", "hat", "vec", "widehat", "tilde", "dot", "ddot", "overrightarrow"]
)
SIZES: Final = frozenset(
    [
        *("tiny", "scriptsize", "footnotesize", "small", "normalsize"),
        *("large", "Large", "LARGE", "huge", "Huge"),
    ]
)
IGNORED: Final = SIZES | frozenset(
    [
        *("left", "right", "middle"),
        *("big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr"),
        *("biggl", "biggr", "Biggl", "Biggr", "bigm", "Bigm", "biggm", "Biggm"),
        *("displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle"),
        *("limits", "nolimits", "bf", "rm", "it", "bfseries", "boldmath"),
    ]
)
BLANKS: Final = frozenset(("quad", "qquad", "enspace", "space"))
FIGURES: Final = {
    "angle": "angle",
    "measuredangle": "angle",
    "sphericalangle": "angle",
    "triangle": "triangle",
}
"""What is called by the letters of its points."""
BIG: Final = frozenset(("sum", "prod", "int", "lim"))
NAMED_SETS: Final = {name: name for name in "RQZNC"} | {
    "emptyset": "empty",
    "varnothing": "empty",
}
"""Sets by their command; the letters only within `mathbb` or `mathbf`."""

SIGNS: Final = {
    "cdot": "*",
    "times": "*",
    "ast": "*",
    "bullet": "*",
    "div": "/",
    "pm": "pm",
    "mp": "mp",
    "mid": "mid",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
    "colon": ":",
    "ldots": "...",
    "dots": "...",
    "cdots": "...",
    "lbrace": "\\{",
    "rbrace": "\\}",
    "lbrack": "[",
    "rbrack": "]",
    "langle": "<<",
    "rangle": ">>",
    "lfloor": "lfloor",
    "rfloor": "rfloor",
    "lceil": "lceil",
    "rceil": "rceil",
    "prime": "'",
    "degree": "degree",
    "to": "to",
    "rightarrow": "to",
    "bmod": "mod",
    "mod": "mod",
    "pmod": "pmod",
    "over": "over",
    "binom": "binom",
    "dbinom": "binom",
    "tbinom": "binom",
    "choose": "choose",
    "sqrt": "sqrt",
    "percent": "%",
}
"""LaTeX commands that are a token of their own kind."""


def _kinds() -> dict[str, tuple[str, str]]:
    kinds: dict[str, tuple[str, str]] = {}
    kinds |= {name: ("letter", name) for name in GREEK}
    kinds |= {name: ("letter", plain) for name, plain in VARIANTS.items()}
    kinds |= {name: ("accent", name) for name in ACCENTS}
    kinds |= {name: ("big", name) for name in BIG}
    kinds |= {name: ("figure", plain) for name, plain in FIGURES.items()}
    kinds |= {name: ("setop", plain) for name, plain in SET_OPERATORS.items()}
    kinds |= {name: ("relation", plain) for name, plain in RELATIONS.items()}
    kinds |= {name: ("function", plain) for name, plain in FUNCTIONS.items()}
    kinds |= {name: ("constant", plain) for name, plain in CONSTANTS.items()}
    kinds |= {name: ("joint", JOINTS[name]) for name in ("vee", "lor", "wedge", "land")}
    kinds |= {name: ("named", NAMED_SETS[name]) for name in ("emptyset", "varnothing")}
    return kinds


COMMAND_KINDS: Final = _kinds()
"""Kind and text of the token that a LaTeX command makes."""

PLAIN_KINDS: Final[dict[str, tuple[str, str]]] = {
    **{name: ("letter", name) for name in GREEK},
    **{name: ("function", plain) for name, plain in FUNCTIONS.items()},
    **{name: ("constant", plain) for name, plain in CONSTANTS.items()},
    **{name: ("joint", plain) for name, plain in JOINTS.items()},
    "sqrt": ("sqrt", "sqrt"),
    "mod": ("mod", "mod"),
    "in": ("word", "in"),
    "union": ("setop", "union"),
}
"""The same for letters in plain text."""

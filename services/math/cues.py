r"""The words by which a completion says that its answer comes next, in nine languages.

What is covered: "the (final) answer is", "Answer:" and arrows in their place, the letter of a choice
("选 B"), and the one number of the sentence that ends a solution in Chinese.
"""

from __future__ import annotations

import re
from typing import Final

CUES: Final = (
    "nswer",
    "NSWER",
    "答案",
    "答え",
    "답",
    "选",
    "ption",
    "твет",
    "espuesta",
    "éponse",
    "ntwort",
    "esposta",
)
STATEMENT = re.compile(
    r"(?:nswer|答案|答え|답|ption|твет|espuesta|éponse|ntwort|esposta)[*_]{0,3}\s{0,9}"
    r"(?:(?:is|es|est|ist|lautet)\b\s{0,9}(?:(?:equal to|therefore|thus|then|simply|just|indeed"
    r"|clearly|exactly)\b)?\s{0,9}:?|are\b|=>|-{1,2}>|[:=\uff1a]|[\u2192\u21d2\u27f9\u3011\]]\s?[:\uff1a]?"
    r"|(?:是|为|は|은|는|é)\s?[:\uff1a]?)[*_`\s]{0,20}|选\s?[:\uff1a]?\s?(?=[(\uff08]?[A-H])",
    re.IGNORECASE,
)
CHEER = re.compile(r"\s*(?:[✅✓✔☑🎉👍😊🙂😀😄🎊💯]\ufe0f?|\s:-?[)D])+\s*\Z")
COPULA = re.compile(r"(?:입니다|이다|です|だ)\s*\Z")
"""What stands behind the answer in languages that put the verb last."""
CONCLUSION = re.compile(
    r"答\s?[:\uff1a]\s?(?!.*(?:不|大于|小于|多于|少于|超过|以上|以下|至|或|约|倍|第|分之|半|负|又"
    r"|[二三四五六七八九十两百千万亿]))[^\d\\A-Za-z$+\-\u2212\u2013.]*"
    r"(-?\d+(?:\.\d+)?(?:/\d+)?[%°]?)(?![,\d./+*^=<>:-])[^\d\\A-Za-z$]*"
)
"""One number among Chinese words, none of which makes a bound, a choice or a part of it."""

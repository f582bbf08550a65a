"""Arithmetic, abbreviations, emoji and stray signs."""

import re

from sayso.server.speech.text.numbers import signed
from sayso.server.speech.text.rule import NUMBER, Rule, rule

EMOJI = (
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u23e9-\u23ff\u231a\u231b\u2190-\u2193\u25a0-\u25ff"
    "\U000e0020-\U000e007f\ufe0f\u200d\u20e3]"
)
"""Pictures, and the invisible characters that join them."""

ARROWS = "\u2192\u21d2\u27f6\u2794\u279c"

GREEK = {
    "\u03b1": "alpha",
    "\u03b2": "beta",
    "\u03b3": "gamma",
    "\u03b4": "delta",
    "\u0394": "delta",
    "\u03b5": "epsilon",
    "\u03b8": "theta",
    "\u03bb": "lambda",
    "\u03bc": "mu",
    "\u03c0": "pi",
    "\u03c3": "sigma",
    "\u03a3": "sigma",
    "\u03c6": "phi",
    "\u03c9": "omega",
    "\u03a9": "omega",
}

LETTER = "[" + "".join(GREEK) + "]"

OPERAND_BEFORE = r"(?<=[\w)\]\u00b2\u00b3%] )"
OPERAND_AFTER = r"(?= ?[\w(\[\u221a\u03c0$€£-])"
DIGIT_BEFORE = r"(?<=[\d)])"
DIGIT_AFTER = r"(?=[\d(])"

POWERS = {"2": "squared", "3": "cubed"}


def _power(text: str) -> str:
    text = re.sub(r"[^\w\s\u2212-]|_", " ", text).strip()
    if text in POWERS:
        return f" {POWERS[text]}"
    number = re.fullmatch(r"[-\u2212]?\d+", text)
    return f" to the power of {signed(text) if number else text}"


FIRST_RULES: list[Rule] = [
    rule(r"\be\.g\.(,)?", "for example,"),
    rule(r"\bi\.e\.(,)?", "that is,"),
    rule(r"\betc\.(?=\s+[a-z,;])", "et cetera"),
    rule(r"\betc\.", "et cetera."),
    rule(r"\bvs\.?(?!\w)", "versus"),
    rule(r"\bapprox\.", "approximately"),
    rule(r"\b[aA]\.?[kK]\.?[aA]\.?(?= )", "also known as"),
    rule(r"\b[Ff]igs?\.(?= ?\d)", "figure"),
    rule(r"\b[Ee]qs?\.(?= ?[\d(])", "equation"),
    rule(r"\b[Cc]h\.(?= ?\d)", "chapter"),
    rule(r"\b[Ss]ec\.(?= ?\d)", "section"),
    rule(r"\b[Vv]ol\.(?= ?\d)", "volume"),
    rule(r"\bpp\.(?= ?\d)", "pages"),
    rule(r"\bp\.(?= ?\d)", "page"),
    rule(r"\u00a7+ ?", "section "),
    rule(r"(?<!\w)[:;]-?[)(DPp](?!\w)|(?<!\w)<3(?!\w)", ""),
    rule(rf"-->|->|=>|[{ARROWS}]", " to "),
    rule(rf"{EMOJI}+", ""),
]
"""Tried before anything else."""

LAST_RULES: list[Rule] = [
    rule(
        r"\^(\{[^}]*\}|\([^)]*\)|[-\u2212]?[a-zA-Z0-9]+)|\*\*(\d+)",
        lambda m: _power(m[1] or m[2]),
    ),
    rule("\u00b2", " squared"),
    rule("\u00b3", " cubed"),
    rule(r"\u221a ?", "the square root of "),
    rule("\u221e", "infinity"),
    rule(r"\u00b1 ?", "plus or minus "),
    rule(r"\u2248|~=", " is about "),
    rule(r"!=|\u2260", " is not equal to "),
    rule(r"<=|\u2264", " is at most "),
    rule(r">=|\u2265", " is at least "),
    rule(rf"{OPERAND_BEFORE}<{OPERAND_AFTER}", "is less than"),
    rule(rf"{OPERAND_BEFORE}>{OPERAND_AFTER}", "is greater than"),
    rule(r"(?<=[a-z]{2} )\u00d7", "by"),
    rule(rf"{OPERAND_BEFORE}[\u00d7*\u22c5\u00b7]{OPERAND_AFTER}", "times"),
    rule(rf"{DIGIT_BEFORE}[\u00d7*\u22c5\u00b7]{DIGIT_AFTER}", " times "),
    rule(rf"{OPERAND_BEFORE}[\u00f7/]{OPERAND_AFTER}", "divided by"),
    rule(rf"{DIGIT_BEFORE}\u00f7{DIGIT_AFTER}", " divided by "),
    rule(rf"{OPERAND_BEFORE}\+{OPERAND_AFTER}", "plus"),
    rule(rf"{DIGIT_BEFORE}\+{DIGIT_AFTER}", " plus "),
    rule(r"(?<=\d)\+(?!\w)", " plus"),
    rule(r"(?:(?<=\d )|(?<=\) )|(?<=\b[a-z] ))[-\u2212\u2013](?= [\d(a-z]\b)", "minus"),
    rule(r"(?<=\d )[-\u2212\u2013](?= [\d(])", "minus"),
    rule(r"(?<!=)={1,3}(?!=)", " equals "),
    rule(r"&", " and "),
    rule(r"(?<!\w)@(?=\w)", "at "),
    rule(r"(?<=\s)@(?=\s)", "at"),
    rule(r"(?<!\w)#(?=[a-zA-Z])", "hashtag "),
    rule(rf"\b({NUMBER})({LETTER})(?!\w)", lambda m: f"{signed(m[1])} {GREEK[m[2]]}"),
    rule(LETTER, lambda m: GREEK[m[0]]),
    rule(r"(?<=\w)\((?=\w)", " "),
    rule(r"\u00b0", " degrees"),
    rule(r"[\u2014\u2015]|(?<=\s)[-\u2013]{1,2}(?=\s)", ", "),
    rule(r"(?<=\d),(?=\d)", ", "),
    rule(r"\u2026|\.{2,}", ","),
    rule(r"\)(?=\s+\w)", ","),
    rule(r"\|", ","),
    rule(r"/", " "),
    rule(
        r"[\"\u201c\u201d\u201e\u00ab\u00bb()\[\]{}<>*#_\\^`~=\u00a9\u00ae\u2122\u2020\u2022\u200b]",
        "",
    ),
    rule(r"(?<!\w)['\u2018\u2019]|['\u2018\u2019](?!\w)", ""),
]
"""Tried where nothing else matches."""

LIGHT_RULES: list[Rule] = [
    rule(rf"{EMOJI}+", ""),
    rule(r"[\u2014\u2015]|(?<=\s)[-\u2013]{1,2}(?=\s)", ", "),
    rule(r"[\"\u201c\u201d\u201e\u00ab\u00bb()\[\]{}<>*#_\\^`~|\u00a9\u00ae\u2122\u200b]", ""),
]
"""For languages other than English: the voice knows better how its numbers are said."""

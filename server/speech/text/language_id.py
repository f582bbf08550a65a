"""What language a piece of a reply is written in. Pure.

Told by its script, or by the small words that every sentence is made of. A name or a quoted word in
another language must not change the voice in mid-sentence, so without clear evidence the answer is
the language that was expected.
"""

import re
from collections import Counter

SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", "[\u3040-\u30ff]"),
    ("ko", "[\uac00-\ud7af]"),
    ("zh", "[\u4e00-\u9fff]"),
    ("uk", "[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]"),
    ("ru", "[\u0400-\u04ff]"),
    ("el", "[\u0370-\u03ff]"),
    ("he", "[\u0590-\u05ff]"),
    ("fa", "[\u067e\u0686\u0698\u06af\u06cc]"),
    ("ar", "[\u0600-\u06ff]"),
    ("hi", "[\u0900-\u097f]"),
    ("ne", "[\u0900-\u097f]"),
    ("ml", "[\u0d00-\u0d7f]"),
    ("te", "[\u0c00-\u0c7f]"),
    ("ka", "[\u10a0-\u10ff]"),
)
"""Letters that tell a language, the more telling first. The expected language, if it is written in
the same script, is meant all the same: Serbian is not Russian."""

CYRILLIC = frozenset({"ru", "uk", "sr", "kk", "bg"})
ARABIC = frozenset({"ar", "fa", "ur"})
INDIC = frozenset({"hi", "ne"})
HAN = frozenset({"zh", "ja"})

SAME_SCRIPT: tuple[frozenset[str], ...] = (CYRILLIC, ARABIC, INDIC, HAN)

SMALL_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a he she him her its me us no yes just now then here where when who also the and"
        " of to in is it you that was for are with this be have from or not what but your"
        " can will there which if do how an they we has more i my so at by on as",
        "de": "er habe gibt dann jetzt etwas alle mehr sehr gut dein deine dir mir uns dass der"
        " die das und ist nicht ein eine ich du zu mit auf für den dem des es sie wir ihr"
        " von im auch sich wie aber nach oder wenn kann haben hat sind war bei aus einen"
        " einem noch nur zum zur über hier bitte ihnen heute wird um uhr",
        "fr": "à heures voici mon ma mes ton ta tes son sa ses leur où quand tout c'est j'ai le"
        " la les et est un une des pas que qui dans pour sur avec ce cette vous nous je il"
        " elle ne sont au aux du en mais ou votre plus y être fait bien très",
        "es": "a te me hay nada aquí todo cuando donde muy el la los las y es un una que de en"
        " no por para con su se lo del al como pero más este esta está usted son también"
        " ser o si mi tu",
        "it": "il lo la gli le e è un una che di non per con del della dei delle sono nel nella"
        " come ma più questo questa si da ho hai ha al alla anche",
        "pt": "o os as e é um uma que de não por para com do da dos das no na se mais como mas"
        " você está são este esta em ao também muito",
        "nl": "de het een en is niet van ik je op dat te met voor zijn er maar ook aan als bij"
        " naar uit om hebben heeft dit die wat kan wordt nog over u",
        "sv": "och att det som en är på av för med den till inte har jag du om ett var kan men"
        " från här också eller vi",
        "da": "og at det som en er på af for med den til ikke har jeg du om et var kan men fra"
        " her også eller vi",
        "no": "og at det som en er på av for med den til ikke har jeg du om et var kan men fra"
        " her også eller vi",
        "fi": "ja on ei se että oli ovat myös mutta kuin tai niin minä sinä hän tämä joka voi"
        " ole kun",
        "pl": "i w na z jest nie to że do się jak ale co o od po za czy być jego przez są ma tak",
        "cs": "a je v na se že to s z do ne jako ale by pro po jsou tak který nebo k",
        "hu": "a az és egy hogy nem van meg ez de is volt ha csak mint vagy lehet már",
        "ro": "și este un o de la nu în cu pe că pentru din sunt mai ce care dar sau",
        "tr": "ve bir bu için de da ile ne var çok ama daha olarak gibi en o ben sen",
        "vi": "và là của có không một cho được trong với những này để các tôi bạn",
        "ca": "el la els les i és un una que de en no per amb del al com però més aquest"
        " aquesta està són molt hi ha també",
    }.items()
}
"""The commonest words of languages that piper has voices for, written in Latin letters."""

LEAST_HITS = 2
"""Small words of another language that must be there, …"""

LEAST_SHARE = 0.3
"""… as a part of all words, …"""

LEAD = 2
"""… and so many more of them than of the expected language's."""


def language_of(text: str, expected: str) -> str:
    """The code of the text's language, such as `de`."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return expected
    for language, pattern in SCRIPTS:
        theirs = re.findall(pattern, text)
        if not theirs or 2 * len(re.findall("[^\u0000-\u024f]", text)) < len(letters):
            continue
        alike = next((group for group in SAME_SCRIPT if language in group), frozenset())
        return expected if expected in alike else language
    return _by_words(text, expected)


def _by_words(text: str, expected: str) -> str:
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower())
    hits = Counter(
        {language: sum(word in small for word in words) for language, small in SMALL_WORDS.items()}
    )
    language, most = hits.most_common(1)[0]
    clear = most >= LEAST_HITS and most >= LEAST_SHARE * len(words)
    if not clear or most < hits[expected] + LEAD:
        return expected
    return language


NAMES: dict[str, str] = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "ml": "Malayalam",
    "ne": "Nepali",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sr": "Serbian",
    "sv": "Swedish",
    "te": "Telugu",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def in_english(language: str) -> str:
    """The language's name, as Sayso's own sentences say it."""
    return NAMES.get(language, f"the language “{language}”")

"""Phrases that synthesis adds by itself, in the languages for which there are any."""

from sayso.server.speech.text.prose import CODE_PHRASE, FORMULA_PHRASE, TABLE_PHRASE

ON_SCREEN = "This is on your screen."
"""Instead of words that no voice here speaks."""

IN_OTHER_WORDS: dict[str, dict[str, str]] = {
    CODE_PHRASE: {
        "de": "Der Code steht auf deinem Bildschirm.",
        "es": "El código está en tu pantalla.",
        "fr": "Le code est à l'écran.",
        "it": "Il codice è sullo schermo.",
        "nl": "De code staat op je scherm.",
        "pt": "O código está no seu ecrã.",
    },
    TABLE_PHRASE: {
        "de": "Die Tabelle steht auf deinem Bildschirm.",
        "es": "La tabla está en tu pantalla.",
        "fr": "Le tableau est à l'écran.",
        "it": "La tabella è sullo schermo.",
        "nl": "De tabel staat op je scherm.",
        "pt": "A tabela está no seu ecrã.",
    },
    FORMULA_PHRASE: {
        "de": "Die Formel steht auf deinem Bildschirm.",
        "es": "La fórmula está en tu pantalla.",
        "fr": "La formule est à l'écran.",
        "it": "La formula è sullo schermo.",
        "nl": "De formule staat op je scherm.",
        "pt": "A fórmula está no seu ecrã.",
    },
    ON_SCREEN: {
        "de": "Das steht auf deinem Bildschirm.",
        "es": "Esto está en tu pantalla.",
        "fr": "C'est à l'écran.",
        "it": "Questo è sullo schermo.",
        "nl": "Dit staat op je scherm.",
        "pt": "Isto está no seu ecrã.",
    },
}
"""Each phrase in further languages. A voice of another one says it in English."""


def is_own(text: str) -> bool:
    """Are these Sayso's own words, whatever the reply's language is?"""
    return text in IN_OTHER_WORDS


def phrase(text: str, language: str) -> str:
    """One of these phrases in a language."""
    return IN_OTHER_WORDS[text].get(language, text)

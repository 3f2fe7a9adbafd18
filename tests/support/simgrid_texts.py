"""Values of SimGrid's options as it writes them."""


def meaning(text: str) -> bool | float | str:
    """Return the truth value or number of a text, or the text."""
    truths = {"yes": True, "no": False, "True": True, "False": False}
    try:
        return truths[text] if text in truths else float(text)
    except ValueError:
        return text

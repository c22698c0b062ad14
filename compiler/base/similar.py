"""What a user who misspelled a name probably meant, for messages."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of the names `known`, or else one that differs in upper and lower case; None if there
    is neither. `cutoff` is the least similarity, up to 1."""
    from difflib import get_close_matches  # takes time to load

    names = list(known)
    found = get_close_matches(name, names, 1, cutoff)
    return found[0] if found else {each.lower(): each for each in names}.get(name.lower())


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The remedy "did you mean 'copyin'?"; empty if none of the names is similar (`nearest`)."""
    found = nearest(name, known, cutoff)
    return f"did you mean '{found}'?" if found else ""


def or_did_you_mean(name: str, known: Iterable[str]) -> str:
    """The remedy as the end of a message, "; did you mean 'copyin'?"; empty if none of the names is
    similar."""
    meant = did_you_mean(name, known)
    return meant and f"; {meant}"

"""How passes say that they leave something as it is."""


class Declined(Exception):
    """Why a loop, nest or directive is left alone: a text for remarks."""

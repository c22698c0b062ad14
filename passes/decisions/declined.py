"""The exception by which passes decline to change something."""


class Declined(Exception):
    """A loop, nest or directive stays as it is; the message is the reason, for remarks."""

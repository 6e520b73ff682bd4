"""Follows the Collatz chains of a range with an extension in C, more than thirty times as fast as Python would."""

import _collatz


def handler(shard):
    """The longest chain that begins in the range, and the steps of all of them together."""
    longest, steps = _collatz.chains(int(shard["from"]), int(shard["to"]))
    return {"longest": longest, "steps": steps}

"""Counts the palindromes among the integers of a range."""


def handler(shard):
    """Takes {"from": "...", "to": "..."}, half open, and returns what JSON can hold: the same for the same input."""
    first, end = int(shard["from"]), int(shard["to"])
    palindromes = sum(str(n) == str(n)[::-1] for n in range(first, end))
    return {"palindromes": palindromes, "tested": end - first}

"""Items: a handler that takes them runs once for each, and the list of its results is that of the shard."""

MAX_ITEM_TEXT = 100


class InputError(Exception):
    """What a shard got does not consist of items."""


def items_of(value):
    """The items of a shard: the integers of a range, the lines of a text, the elements of a list."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        if isinstance(value.get("lines"), list):
            return value["lines"]
        if isinstance(value.get("from"), str) and isinstance(value.get("to"), str):
            return range(int(value["from"]), int(value["to"]))
    raise InputError('the input is neither a range, nor lines, nor a list: a function with per = "item" takes the items of those')


def caller(function, context):
    """What calls a handler with an item: with its context too, where the handler takes one."""
    if context is None:
        return lambda number, item: function(item)

    def call(number, item):
        context.item = number
        return function(item, context)

    return call


class Items:
    """Calls a handler for the items of a shard, one after the other."""

    current = None  # those of this process's shard

    def __init__(self, value):
        self.items, self.number, self.item = items_of(value), -1, None
        Items.current = self

    def results(self, call, limit, too_large):
        """Calls call with the number and the value of each item, and returns the list of its results in the one permitted form. When that
        gets larger than limit, the rest is left undone, and too_large is told the size; it does not return."""
        parts, size = [], 1
        for self.number, self.item in enumerate(self.items):
            result = call(self.number, self.item)
            part = b"%d" % result if type(result) is int else encode(result)  # as encode would, and ten times as quick
            size += len(part) + 1
            if size > limit:
                too_large(size)
            parts.append(part)
        Items.current = None
        return b"[" + b",".join(parts) + b"]"

    def name(self):
        """Says which item the handler is at, in words that are the same on every machine."""
        if self.number < 0:
            return ""
        try:
            text = ENCODE(self.item)
        except Exception as trouble:  # the handler has put something else into it, or memory is short
            text = type(trouble).__name__
        return f"item {self.number} (input {text[:MAX_ITEM_TEXT]}{'…' if len(text) > MAX_ITEM_TEXT else ''}): "


def place():
    """Where in its shard the handler is, to be put before the message of what it raised."""
    return Items.current.name() if Items.current else ""

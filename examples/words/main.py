"""Counts the words of text files.

The files of a shard lie in a folder that can only be read: context.input_path
says where one is, and so does the variable OSTRAKA_INPUT for plain scripts.
"""

import re

WORD = re.compile(r"[^\W\d_]+")


def count(path):
    """Counts one file without reading it into memory as a whole."""
    lines = words = letters = longest = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            lines += 1
            for word in WORD.findall(line):
                words += 1
                letters += len(word)
                longest = max(longest, len(word))
    return lines, words, letters, longest


def handler(files, context):
    """Takes a file, or a list of files where a job has some in each shard."""
    if isinstance(files, dict):
        files = [files]
    counts = [count(context.input_path(file["path"])) for file in files]
    return {
        "files": len(counts),
        "lines": sum(c[0] for c in counts),
        "words": sum(c[1] for c in counts),
        "letters": sum(c[2] for c in counts),
        "longest": max(c[3] for c in counts),
    }

"""Estimates pi by throwing points at a square, a hundred thousand to a batch, with numpy.

Each shard counts the points that fall within the quarter of a circle. Its random numbers depend on its number alone, so that
every machine throws the same points, and counts the same.
"""

import numpy

POINTS = 100_000


def handler(shard):
    """Counts hits of the batches from shard["from"] to shard["to"]."""
    hits = 0
    for batch in range(int(shard["from"]), int(shard["to"])):
        points = numpy.random.Generator(numpy.random.PCG64(batch)).random((POINTS, 2))
        hits += int(numpy.count_nonzero((points * points).sum(axis=1) <= 1.0))
    return {"hits": hits, "points": POINTS * (int(shard["to"]) - int(shard["from"]))}

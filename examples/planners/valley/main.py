"""Rosenbrock's valley: easy to find, and hard to walk along. Its lowest point is 0, at (1, 1)."""


def handler(point):
    x, y = point["x"], point["y"]
    return {"x": x, "y": y, "value": (1 - x) ** 2 + 100 * (y - x * x) ** 2}

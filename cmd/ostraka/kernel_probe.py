"""Computes with one operation of numpy, and gives the digest of the bytes that come out."""

import hashlib


def inputs():
    import numpy

    made = numpy.random.Generator(numpy.random.PCG64(7))
    square = made.random((96, 96)) - 0.5
    return numpy, square, (square + square.T) / 2 + 96 * numpy.eye(96), made.random(4099) + 0.25


OPERATIONS = {
    "dot": lambda np, a, s, v: np.dot(v, v),
    "matmul": lambda np, a, s, v: a @ a,
    "einsum": lambda np, a, s, v: np.einsum("ij,jk->ik", a, a),
    "sum": lambda np, a, s, v: np.sum(v),
    "mean": lambda np, a, s, v: np.mean(v),
    "cumsum": lambda np, a, s, v: np.cumsum(v),
    "sqrt": lambda np, a, s, v: np.sqrt(v),
    "exp": lambda np, a, s, v: np.exp(v),
    "log": lambda np, a, s, v: np.log(v),
    "sin": lambda np, a, s, v: np.sin(v),
    "cos": lambda np, a, s, v: np.cos(v),
    "tanh": lambda np, a, s, v: np.tanh(v),
    "power": lambda np, a, s, v: np.power(v, 1.7),
    "fft.fft": lambda np, a, s, v: np.fft.fft(v),
    "linalg.solve": lambda np, a, s, v: np.linalg.solve(s, v[:96]),
    "linalg.inv": lambda np, a, s, v: np.linalg.inv(s),
    "linalg.det": lambda np, a, s, v: np.linalg.det(a),
    "linalg.norm": lambda np, a, s, v: np.linalg.norm(v),
    "linalg.cholesky": lambda np, a, s, v: np.linalg.cholesky(s),
    "linalg.qr": lambda np, a, s, v: np.linalg.qr(a)[1],
    "linalg.svd": lambda np, a, s, v: np.linalg.svd(a, compute_uv=False),
    "linalg.eigh": lambda np, a, s, v: np.linalg.eigh(s)[0],
    "linalg.lstsq": lambda np, a, s, v: np.linalg.lstsq(a, v[:96], rcond=None)[0],
}


def handler(name):
    try:
        np, a, s, v = inputs()
    except ImportError:  # a runtime without numpy has none of its operations
        return None
    return hashlib.sha256(np.ascontiguousarray(OPERATIONS[name](np, a, s, v)).tobytes()).hexdigest()

"""The shard process: the only place where a handler runs."""

import json
import os
import resource
import signal
import struct
import sys
import traceback

# Freed when an exception arrives, so that a shard out of memory can describe it.
MEMORY_BALLAST = 256 * 1024


def lower(limit, value, hard=None):
    """Sets a resource limit, never above the hard limit that is there."""
    _, most = resource.getrlimit(limit)
    hard = value if hard is None else hard
    if most != resource.RLIM_INFINITY:
        value, hard = min(value, most), min(hard, most)
    resource.setrlimit(limit, (value, hard))


def redirect(fd, number):
    if fd != number:
        os.dup2(fd, number, inheritable=True)
        os.close(fd)


class Shard:
    def __init__(self, function, config, request, result):
        self.function, self.config, self.request, self.result = function, config, request, result
        self.pid = os.getpid()
        self.ballast = bytearray(MEMORY_BALLAST)

    def prepare(self):
        """Everything before user code that needs no consent of the zygote."""
        limits = self.config["limits"]
        lower(resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1)
        os.chdir(self.request["home"])
        os.environ["HOME"] = os.environ["TMPDIR"] = self.request["home"]
        os.environ["OSTRAKA_OUTPUT"] = self.request["output"]

    def run(self):
        """Runs the function once and leaves; only this process may answer."""
        try:
            kind, data = b"O", self.output()
        except BaseException as error:
            self.ballast = None
            kind, data = b"E", json.dumps(describe(error, self.config["bundle"])).encode()
        if os.getpid() != self.pid:
            os._exit(0)  # user code forked and returned in the child
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # closed or replaced by user code
        self.frame(kind, len(data), data)

    def frame(self, kind, size, data):
        view = memoryview(kind + struct.pack(">Q", size) + data)
        try:
            while view:
                view = view[os.write(self.result, view) :]
        except OSError:
            os._exit(74)  # user code closed the descriptor: there is no result
        os._exit(0)

    def output(self):
        if self.config["script"]:
            return self.script()
        data = bytearray()
        while chunk := os.read(0, 1 << 20):
            data += chunk
        redirect(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)
        value = json.loads(data)
        del data
        try:
            result = self.function(value)
        except SystemExit as error:
            raise SystemExit(f"the handler called sys.exit({error.code!r}): return a value, or raise an exception") from error
        return encode(result)

    def script(self):
        """Runs a plain script: what it prints on stdout is its result."""
        real = os.dup(1)
        redirect(self.scratch(), 1)
        sys.stdin = open(0, closefd=False)
        code = 0
        try:
            exec(self.function, sys.modules["__main__"].__dict__)
        except SystemExit as error:
            code = error.code
        finally:
            try:
                sys.stdout.flush()
            except Exception:
                pass  # closed by the script, or over the limit that printed checks
            printed = self.printed(real)
        if code not in (None, 0):
            raise SystemExit(f"the script left with exit status {code!r}")
        try:
            return encode(json.loads(printed.decode("utf-8"), parse_constant=constant, object_pairs_hook=unique))
        except ValueError as error:
            raise OutputError(f"stdout of a script must be one JSON document: {error}") from None

    def scratch(self):
        """A file without a name, in the workspace where that is possible: what it holds counts there."""
        try:
            return os.open(self.request["home"], os.O_TMPFILE | os.O_RDWR, 0o600)
        except OSError:
            return os.memfd_create("stdout")

    def printed(self, real):
        """Passes what was printed on to the real stdout, and returns it."""
        size = os.lseek(1, 0, os.SEEK_END)
        limit = self.config["limits"]["output_bytes"]
        if size > limit:
            self.frame(b"O", size, b"")  # says only how large it would be
        data = os.pread(1, size, 0)
        view = memoryview(data)
        while view:
            view = view[os.write(real, view) :]
        return data


def unique(pairs):
    out = dict(pairs)
    if len(out) < len(pairs):
        raise OutputError("an object of the result has the same key twice")
    return out


def constant(name):
    raise OutputError(f"{name} is not JSON: print null or a string instead")

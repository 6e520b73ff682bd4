"""The shard process: the only place where a handler runs."""

import _socket
import json
import mmap
import os
import random
import resource
import signal
import sys
from os import chdir, close, dup2, environ, getpid, getppid, read, setsid, write
from resource import getrlimit, setrlimit

# Freed when an exception arrives, so that a shard out of memory can describe it.
MEMORY_BALLAST = 256 * 1024

FORKED = b'{"op":"forked"}'
SCAN = json.JSONDecoder().scan_once  # no white space before it, no text after it: Go has seen to both
seed_random, socketpair = random.seed, _socket.socketpair


def lower(limit, value, hard=None):
    """Sets a resource limit, never above the hard limit that is there."""
    _, most = getrlimit(limit)
    hard = value if hard is None else hard
    if most != resource.RLIM_INFINITY:
        value, hard = min(value, most), min(hard, most)
    setrlimit(limit, (value, hard))


def print_exception():
    sys.__excepthook__(*sys.exc_info())


def redirect(fd, number):
    if fd != number:
        dup2(fd, number, inheritable=True)
        close(fd)


class Shard:
    def __init__(self, config):
        self.config = config
        self.ballast = mmap.mmap(-1, MEMORY_BALLAST, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # untouched: no fork copies it

    def use(self, function):
        self.function = function
        self.with_context = not self.config["script"] and takes_context(function)

    def main(self, sock, zygote):
        """Asks for an order on a channel that no other process holds, and carries it out."""
        self.pid = getpid()
        setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_DUMPABLE, 1)
        if getppid() != zygote:
            os_exit(75)
        channel = self.report(sock)
        packet, fds, _ = receive(channel, CLOEXEC, MAX_ORDER)
        if not packet:
            os_exit(0)  # the session is over
        channel.close()
        self.take(packet)
        self.prepare(fds)
        confine(self.config["confine"])
        self.run()

    def take(self, packet):
        """Reads an order, the form of which is in order.go."""
        self.shard, self.seed, home, output, inputs = unpack(">qQIII", packet[:28])
        output += home
        inputs += output
        paths = packet[28 : 28 + inputs]
        self.home, self.output_dir, self.input_dir = paths[:home].decode(), paths[home:output].decode(), paths[output:].decode()
        self.input = packet[28 + inputs :].decode()

    def report(self, sock):
        """Gives the zygote one end of a channel; the kernel tells it whose it is."""
        ours, theirs = socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        sock.sendmsg([FORKED], [(SOL_SOCKET, SCM_RIGHTS, pack("=i", theirs.fileno()))])
        theirs.close()
        sock.close()
        return ours

    def prepare(self, fds):
        """Everything before user code that needs no consent of the zygote."""
        self.result = fds[2]
        redirect(fds[0], 1)
        redirect(fds[1], 2)
        if len(fds) > 3:
            redirect(fds[3], 0)
        seconds = self.config["limits"]["cpu_seconds"]
        lower(resource.RLIMIT_CPU, seconds, seconds + 1)
        chdir(self.home)
        environ["HOME"] = environ["TMPDIR"] = self.home
        environ["OSTRAKA_OUTPUT"] = self.output_dir
        if self.input_dir:
            environ["OSTRAKA_INPUT"] = self.input_dir
        environ["OSTRAKA_SHARD"], environ["OSTRAKA_SEED"] = str(self.shard), str(self.seed)
        seed_random(self.seed)

    def run(self):
        """Runs the function once and leaves; only this process may answer."""
        try:
            kind, data = b"O", self.script() if self.config["script"] else self.output()
        except BaseException as error:
            self.ballast.close()
            kind, data = b"E", ENCODE(describe(error, self.config["bundle"], place())).encode()
        if getpid() != self.pid:
            os_exit(0)  # user code forked and returned in the child
        self.flush()
        self.frame(kind, len(data), data)

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # closed or replaced by user code

    def frame(self, kind, size, data):
        view = memoryview(kind + pack(">Q", size) + data)
        try:
            while view:
                view = view[write(self.result, view) :]
        except OSError:
            os_exit(74)  # user code closed the descriptor: there is no result
        os_exit(0)

    def output(self):
        value = self.value()
        context = Context(self.shard, self.seed, self.output_dir, self.input_dir) if self.with_context else None
        try:
            if self.config["per_item"]:
                return Items(value).results(caller(self.function, context), self.config["limits"]["output_bytes"], self.too_large)
            result = self.function(value, context) if self.with_context else self.function(value)
        except SystemExit as error:
            raise SystemExit(f"the handler called sys.exit({error.code!r}): return a value, or raise an exception") from error
        return encode(result)

    def too_large(self, size):
        """Leaves with nothing but how large the output would be at least."""
        if getpid() != self.pid:
            os_exit(0)
        self.flush()
        self.frame(b"O", size, b"")

    def value(self):
        """The input; one that is too large for a packet comes on descriptor 0."""
        data, self.input = self.input, None
        if not data:
            data = bytearray()
            while chunk := read(0, 1 << 20):
                data += chunk
            redirect(os.open(os.devnull, os.O_RDONLY), 0)
            data = str(data, "utf-8")
        return SCAN(data, 0)[0]

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
            return os.open(self.home, os.O_TMPFILE | os.O_RDWR, 0o600)
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
            view = view[write(real, view) :]
        return data

"""Messages between Go, the zygote and the template, and system calls that
Python lacks. The files of this folder are joined into one program, in the order
of source.go; each uses the names of those before it.
"""

import _socket
import array
import ctypes
import json
import os

MAX_MESSAGE = 256 * 1024
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
LIBC = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def send(sock, message, fds=()):
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    beside = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], beside)


def receive(sock):
    """Returns one message and its descriptors; the message is None at the end."""
    flags = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
    data, beside, _, _ = sock.recvmsg(MAX_MESSAGE, _socket.CMSG_SPACE(8 * 4), flags)
    fds = array.array("i")
    for level, kind, content in beside:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
    return (json.loads(data) if data else None), list(fds)

"""Messages between Go, the zygote and the template, and system calls that
Python lacks. The files of this folder are joined into one program, in the order
of source.go; each uses the names of those before it.
"""

import _socket
import array
import base64
import ctypes
import json
import os
import struct

MAX_MESSAGE = 256 * 1024
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER = 1, 4, 22, 36
SECCOMP_MODE_FILTER = 2
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL = 1, 2
LIBC = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise trouble(f"prctl({option})")


def confine(how):
    """Puts on this process what it cannot take off: see Confinement in Go."""
    if how["scope_signals"]:
        scopes = (ctypes.c_uint64 * 3)(0, 0, LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
        ruleset = system_call(SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(scopes), ctypes.sizeof(scopes), 0)
        system_call(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)
    program = bytearray(base64.b64decode(how["filter"]))
    for offset in how["own_pid"]:
        program[offset : offset + 4] = struct.pack("=I", os.getpid())
    if program:
        filters = (ctypes.c_char * len(program)).from_buffer(program)
        fprog = SockFprog(len(program) // 8, ctypes.addressof(filters))
        if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(fprog), 0, 0) != 0:
            raise trouble("seccomp")


class SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def system_call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise trouble(f"system call {number}")
    return result


def trouble(what):
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


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

"""Messages between Go, the zygote and the template, and system calls that
Python lacks. The files of this folder are joined into one program, in the order
of source.go; each uses the names of those before it.

What is used after the function was imported is bound to names of this program
beforehand: functions patch modules of the standard library, in good faith too.
"""

import os
import posix

# Modules whose handlers of a fork look after threads that are gone, or after
# what every shard sets anyway. A handler of anybody else is called.
FORK_MODULES = ("random", "threading", "logging", "concurrent.futures.thread")
fork_handlers = []  # modules of the others


def register_at_fork(*, __register=os.register_at_fork, **handlers):
    """Is os.register_at_fork, and remembers who called it."""
    __register(**handlers)
    for handler in handlers.values():
        module = getattr(handler, "__module__", None)
        if module not in FORK_MODULES:
            fork_handlers.append(module)


os.register_at_fork = posix.register_at_fork = register_at_fork

import _socket
import base64
import ctypes
import json
from _socket import SCM_CREDENTIALS, SCM_RIGHTS, SOL_SOCKET
from array import array as array_of
from struct import pack, unpack

MAX_MESSAGE = 256 * 1024
# An order: maxInlineInput in Go, and names of folders; and what is no import's end.
MAX_ORDER, MAX_REPORT = 32 * 1024 + 16 * 1024, 1024
BESIDE = _socket.CMSG_SPACE(8 * 4) + _socket.CMSG_SPACE(12)
CLOEXEC = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
ENCODE = json.JSONEncoder(ensure_ascii=False).encode
DECODE = json.JSONDecoder().decode
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
        program[offset : offset + 4] = pack("=I", os.getpid())
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


def release_memory():
    """Gives freed memory back: what a process holds, each of its forks copies."""
    try:
        LIBC.malloc_trim(0)
    except AttributeError:
        pass  # another C library


def send(sock, message, fds=()):
    data = ENCODE(message).encode("utf-8", "replace")
    beside = [(SOL_SOCKET, SCM_RIGHTS, array_of("i", fds))] if fds else []
    sock.sendmsg([data], beside)


def receive(sock, flags=CLOEXEC, size=MAX_MESSAGE):
    """Returns one packet, its descriptors and the number of its sender, where
    the kernel tells it; the packet is empty at the end."""
    data, beside, _, _ = sock.recvmsg(size, BESIDE, flags)
    fds, sender = array_of("i"), None
    for level, kind, content in beside:
        if level != SOL_SOCKET:
            continue
        if kind == SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
        elif kind == SCM_CREDENTIALS:
            sender = unpack("=iII", content)[0]
    return data, list(fds), sender

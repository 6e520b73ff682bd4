"""How the template makes a shard a child of the zygote."""

import _thread
import ctypes
import os
import signal
import time

CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x8000, 0x200000, 0x1000000
PR_GET_TID_ADDRESS = 40
# clone has another number and order of arguments on each architecture.
CLONE = {"x86_64": (56, lambda tid: (0, 0, tid, 0)), "aarch64": (220, lambda tid: (0, 0, 0, tid))}


def sibling_fork():
    """Returns a fork whose child has this process's parent for its own, or None.

    It is os.fork with one flag more. The C library must not have other threads
    then, which it would have to look after, and must be the one whose way of
    remembering a thread's number is known here.
    """
    known = CLONE.get(os.uname().machine)
    try:
        if known is None or not os.confstr("CS_GNU_LIBC_VERSION"):
            return None
        python = ctypes.pythonapi
        before, in_child, in_parent = python.PyOS_BeforeFork, python.PyOS_AfterFork_Child, python.PyOS_AfterFork_Parent
        call = ctypes.PyDLL(None, use_errno=True).syscall
    except (ValueError, OSError, AttributeError):
        return None
    address = ctypes.c_ulong()
    if LIBC.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None
    number, order = known
    call.argtypes, call.restype = [ctypes.c_long] + [ctypes.c_ulong] * 5, ctypes.c_long
    arguments = (CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | signal.SIGCHLD, *order(address.value))

    def fork():
        # With one thread and nobody to be told there is nothing that Python has
        # to put in order, and to do so costs as much as the fork itself.
        plain = not fork_handlers
        if not plain:
            before()
        pid = call(number, *arguments)
        if pid == 0:
            if not plain:
                in_child()
            return 0
        if not plain:
            in_parent()
        if pid < 0:
            raise trouble("clone")
        return pid

    return fork


def double_fork():
    """Forks twice: what is in between leaves at once, and the kernel hands the
    child to the zygote. Returns 0 in the child alone."""
    between = os_fork()
    if between == 0:
        between = getpid()
        try:
            pid = os_fork()
        except OSError:
            os_exit(71)
        if pid == 0:
            while getppid() == between:
                sleep(0.0001)  # until the kernel has handed this process on
            return 0
        os_exit(0)
    _, status = os_waitpid(between, 0)
    if status != 0:
        raise OSError(f"the second fork failed: {status}")
    return between


os_fork, os_waitpid, os_exit, getpid, getppid = os.fork, os.waitpid, os._exit, os.getpid, os.getppid
thread_count, sleep = _thread._count, time.sleep

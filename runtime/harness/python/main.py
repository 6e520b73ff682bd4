"""Where the program starts: as the zygote."""

import _socket
import os
import resource
import stat
import sys

CONTROL_FD, MOST_FDS = 3, 1 << 20


def close_trampolines():
    """Closes the file in which ctypes keeps code that it made.

    This process runs that code as well, and a shard that could write to the
    file would change it under our feet.
    """
    for fd in range(CONTROL_FD + 1, 64):
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
        except OSError:
            pass


def main():
    # Whoever started the program that started this may have left some open.
    os.closerange(CONTROL_FD + 1, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], MOST_FDS))
    # PYTHONSAFEPATH does this from Python 3.11 on; earlier ones need a hand.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    os.umask(0o077)
    close_trampolines()
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, CONTROL_FD)
    os.set_inheritable(CONTROL_FD, False)
    try:
        Zygote(control).main()
    except BaseException:
        print_exception()
    os._exit(78)


main()

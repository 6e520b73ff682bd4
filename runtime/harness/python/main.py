"""Where the program starts: as the zygote."""

import _socket
import os
import sys
import traceback

CONTROL_FD = 3


def main():
    # PYTHONSAFEPATH does this from Python 3.11 on; earlier ones need a hand.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    os.umask(0o077)
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, CONTROL_FD)
    os.set_inheritable(CONTROL_FD, False)
    try:
        Zygote(control).main()
    except BaseException:
        traceback.print_exc()
    os._exit(78)


main()

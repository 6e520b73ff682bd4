"""What an interpreter says of itself. The last part of a program of its own."""

import platform


def libc():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (AttributeError, OSError, ValueError):
        return "unknown"


print(
    ENCODE(
        {
            "interpreter": sys.implementation.name + " " + ".".join(map(str, sys.version_info[:3])),
            "platform": f"{platform.system().lower()} {platform.machine()}",
            "libc": libc(),
        }
    )
)

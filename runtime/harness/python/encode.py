"""Results: what JSON can hold, in its one permitted form."""

import builtins
import errno
import json
import opcode
import os

MAX_DEPTH = 64
MAX_MESSAGE_TEXT = 4 * 1024
MAX_TRACEBACK_TEXT = 16 * 1024
# Of a traceback: exceptions that led to it, calls shown at either end, bytes of a source file.
MAX_CHAIN, MAX_FRAMES, MAX_SOURCE = 10, 20, 4 << 20
# Before Python 3.11 there are no groups.
GROUPS = getattr(builtins, "BaseExceptionGroup", ())
SQLITE_FULL = 13
RAISE = opcode.opmap["RAISE_VARARGS"]
LIBRARY = os.path.dirname(os.__file__) + os.sep
CONTROL_CHARACTERS = {c: 0xFFFD for c in range(32) if chr(c) not in "\n\t"}


class OutputError(Exception):
    """The handler returned something that is not a result."""


def plain(value, depth=0):
    """Returns value with every key a str, or raises OutputError."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise OutputError(f"the float {value!r} has no form in JSON: return None or a string instead")
        return value
    if not isinstance(value, (list, tuple, dict)):
        raise OutputError(
            f"a value of type {type(value).__module__}.{type(value).__qualname__} has no form in JSON: "
            "return None, bool, int, float, str, or a list, tuple or dict of those"
        )
    if depth == MAX_DEPTH:
        raise OutputError(f"the result is nested deeper than {MAX_DEPTH} lists and dicts: return something flatter")
    if isinstance(value, dict):
        return members(value, depth + 1)
    return [plain(item, depth + 1) for item in value]


def text(value):
    if "\x00" in value:
        raise OutputError("a string of the result holds NUL: remove it, or return the bytes in base64")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise OutputError(
            "a string of the result holds half of a surrogate pair, which is no character: "
            "decode with errors='replace', or return the bytes in base64"
        ) from None
    return value


def members(value, depth):
    out = {}
    for key, item in value.items():
        if isinstance(key, str):
            name = text(key)
        elif key is None or isinstance(key, (bool, int)):
            name = ENCODE(key)
        else:
            raise OutputError(f"a dict key of type {type(key).__qualname__} has no form in JSON: use str keys")
        if name in out:
            raise OutputError(f"two keys of a dict become the same string {name[:40]!r} in JSON: use str keys")
        out[name] = plain(item, depth)
    return out


CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def encode(value):
    return CANONICAL(plain(value)).encode("utf-8")


def clean(value, limit, keep_end=False):
    """Makes text that is safe to pass on: no control characters, at most limit bytes."""
    data = value.translate(CONTROL_CHARACTERS).encode("utf-8", "replace")
    data = data[-limit:] if keep_end else data[:limit]
    return data.decode("utf-8", "ignore")


def describe(error, bundle, where=""):
    """Describes an exception without the harness's own frames and paths; where says at which item."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename == describe.__code__.co_filename:
        tb = tb.tb_next
    error.__traceback__ = tb
    try:
        lines = "".join(shown(error, bundle, MAX_CHAIN))
    except Exception as trouble:
        lines = f"(the traceback cannot be shown: {type(trouble).__name__})"
    return {
        "type": clean(type(error).__qualname__, 200),
        "message": clean(where + message_of(error), MAX_MESSAGE_TEXT),
        "traceback": clean(lines.replace(bundle + "/", ""), MAX_TRACEBACK_TEXT, keep_end=True),
        "limit": reached(error),
    }


def message_of(error):
    try:
        return str(error)
    except Exception as trouble:  # a hostile __str__
        return f"(the message cannot be shown: {type(trouble).__name__})"


def shown(error, bundle, chain):
    """Yields the lines that Python would print. Its own module for that is
    larger than everything else here together, and costs every fork."""
    before, joint = error.__cause__, "\nThe above exception was the direct cause of the following exception:\n\n"
    if before is None and not error.__suppress_context__:
        before, joint = error.__context__, "\nDuring handling of the above exception, another exception occurred:\n\n"
    if before is not None and chain:
        yield from shown(before, bundle, chain - 1)
        yield joint
    tb = error.__traceback__
    if tb is not None:
        yield "Traceback (most recent call last):\n"
        yield from frames(tb, bundle)
    if isinstance(error, SyntaxError) and error.filename and error.text:
        yield f'  File "{error.filename}", line {error.lineno}\n    {error.text.strip()}\n'
    text = message_of(error)
    name = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        name = f"{type(error).__module__}.{name}"
    yield f"{name}: {text}\n" if text else f"{name}\n"
    for note in getattr(error, "__notes__", ()):
        yield f"{note}\n"


def frames(tb, bundle):
    """Yields the frames of a traceback: all, or the first and the last of many."""
    calls = []
    while tb is not None:
        calls.append((tb.tb_frame.f_code.co_filename, tb.tb_lineno, tb.tb_frame.f_code.co_name))
        tb = tb.tb_next
    sources = {}
    for i, (file, line, name) in enumerate(calls):
        if MAX_FRAMES <= i < len(calls) - MAX_FRAMES:
            if i == MAX_FRAMES:
                yield f"  … {len(calls) - 2 * MAX_FRAMES} more calls …\n"
            continue
        yield f'  File "{file}", line {line}, in {name}\n'
        if file not in sources:
            sources[file] = source(file) if file.startswith(bundle + "/") else []
        if 0 < line <= len(sources[file]):
            yield f"    {sources[file][line - 1].strip()}\n"


def source(file):
    """Returns the lines of a file of the function, none where that fails."""
    try:
        with open(file, "rb") as opened:
            return opened.read(MAX_SOURCE).decode("utf-8", "replace").split("\n")
    except Exception:
        return []


def reached(error):
    """Names the limit that an exception speaks of, or one that it came of or
    holds: libraries wrap what the kernel says. What a statement of the function
    itself has raised is only a claim. Go decides what to make of the rest."""
    todo = [error]
    for _ in range(MAX_CHAIN):
        if not todo:
            break
        error = todo.pop(0)
        limit = "" if claimed(error) else spoken(error)
        if limit:
            return limit
        before = error.__cause__
        if before is None and not error.__suppress_context__:
            before = error.__context__
        if before is not None:
            todo.append(before)
        if isinstance(error, GROUPS):
            todo.extend(error.exceptions[:MAX_CHAIN])
    return ""


def claimed(error):
    """Tells whether a raise statement outside of Python's own library made the
    exception: the interpreter raises what the kernel refuses without one."""
    tb = error.__traceback__
    if tb is None:
        return True
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    return code.co_code[tb.tb_lasti] == RAISE and not code.co_filename.startswith(LIBRARY)


def spoken(error):
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, RuntimeError):
        return "processes" if error.args == ("can't start new thread",) else ""
    if type(error).__module__ == "sqlite3" and getattr(error, "sqlite_errorcode", 0) == SQLITE_FULL:
        return full()
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EAGAIN:
        return "again" if can_fork() else "processes"
    if number in (errno.ENOSPC, errno.EDQUOT):
        return full()
    return {errno.ENOMEM: "memory", errno.EMFILE: "open_files", errno.EFBIG: "file_size"}.get(number, "")


def can_fork():
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def full():
    """Tells what a file system that is full has run out of."""
    try:
        state = os.statvfs(".")
    except OSError:
        return "disk"
    return "inodes" if state.f_files and not state.f_favail else "disk"

"""Where a shard with an interpreter of its own starts."""

import random

if not hasattr(os, "fork"):

    def can_fork():
        return True


if not hasattr(os, "statvfs"):

    def full():
        return "disk"


def exactly(size):
    data = bytearray()
    while len(data) < size:
        chunk = read(0, size - len(data))
        if not chunk:
            os._exit(78)
        data += chunk
    return bytes(data)


def open_result(request):
    """Opens what the result goes to, and keeps it from the programs that the function starts."""
    if request["handle"]:
        import msvcrt

        os.set_handle_inheritable(request["handle"], False)
        return msvcrt.open_osfhandle(request["handle"], os.O_WRONLY | os.O_BINARY)
    os.set_inheritable(request["descriptor"], False)
    return request["descriptor"]


def limit_all(limits):
    """Limits that the kernel holds a process to, where it does."""
    try:
        import resource
    except ImportError:
        return  # Windows: the job object has them
    for name, value in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_DATA", limits["memory_bytes"]),
        ("RLIMIT_AS", limits["address_space_bytes"]),
        ("RLIMIT_FSIZE", limits["disk_bytes"]),
        ("RLIMIT_NOFILE", limits["open_files"]),
    ):
        number = getattr(resource, name, None)
        if number is None:
            continue
        try:
            _, most = resource.getrlimit(number)
            if most != resource.RLIM_INFINITY:
                value = min(value, most)
            hard = value + 1 if name == "RLIMIT_CPU" and most == resource.RLIM_INFINITY else value
            resource.setrlimit(number, (value, hard))
        except (OSError, ValueError):
            pass  # macOS refuses some of them; what holds is said in the documentation


def frame(fd, kind, size, data):
    view = memoryview(kind + pack(">Q", size) + data)
    try:
        while view:
            view = view[write(fd, view) :]
    except OSError:
        os._exit(74)  # user code closed the descriptor: there is no result
    os._exit(0)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed or replaced by user code


def handle(config, request, result):
    """Runs the handler once, or for each item."""
    value = DECODE(str(exactly(request["input_bytes"]), "utf-8"))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    function = load(config)
    context = Context(request["shard"], request["seed"], request["output"], request["inputs"]) if takes_context(function) else None
    pid = os.getpid()

    def too_large(size):
        if os.getpid() != pid:
            os._exit(0)
        flush()
        frame(result, b"O", size, b"")

    try:
        if config["per_item"]:
            return Items(value).results(caller(function, context), config["limits"]["output_bytes"], too_large)
        return encode(function(value) if context is None else function(value, context))
    except SystemExit as error:
        raise SystemExit(f"the handler called sys.exit({error.code!r}): return a value, or raise an exception") from error


def script(config, request, result):
    """Runs a plain script: what it prints on stdout is its result, and is passed on."""
    code = load(config)
    real = os.dup(1)
    path = os.path.join(request["home"], "stdout")
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    os.dup2(held, 1)
    status = 0
    try:
        exec(code, sys.modules["__main__"].__dict__)
    except SystemExit as error:
        status = error.code
    finally:
        flush()
        size = os.lseek(held, 0, os.SEEK_END)
        if size > config["limits"]["output_bytes"]:
            frame(result, b"O", size, b"")  # says only how large it would be
        os.lseek(held, 0, os.SEEK_SET)
        printed = bytearray()
        while chunk := read(held, 1 << 20):
            printed += chunk
        view = memoryview(printed)
        while view:
            view = view[write(real, view) :]
    if status not in (None, 0):
        raise SystemExit(f"the script left with exit status {status!r}")
    try:
        return encode(json.loads(printed.decode("utf-8"), parse_constant=constant, object_pairs_hook=unique))
    except ValueError as error:
        raise OutputError(f"stdout of a script must be one JSON document: {error}") from None


def main():
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(0, os.O_BINARY)
    message = DECODE(exactly(unpack(">I", exactly(4))[0]).decode())
    config, request = message["config"], message["request"]
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    os.umask(0o077)
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    result, pid = open_result(request), os.getpid()
    limit_all(config["limits"])
    random.seed(request["seed"])
    try:
        kind, data = b"O", script(config, request, result) if config["script"] else handle(config, request, result)
    except BaseException as error:
        kind, data = b"E", ENCODE(describe(error, config["bundle"], place())).encode()
    if os.getpid() != pid:
        os._exit(0)  # user code forked and returned in the child
    flush()
    frame(result, kind, len(data), data)


main()

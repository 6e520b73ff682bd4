"""The template process: imports the function and forks shards."""

import gc
import linecache
import os
import resource
import signal
import struct
import sys
import traceback
import types


def load(config):
    """Imports the handler, or compiles the script."""
    path = config["bundle"]
    sys.path.insert(0, path)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if config["script"]:
        main.__file__ = os.path.join(path, config["script"])
        sys.argv = [main.__file__]
        with open(main.__file__, "rb") as file:
            return compile(file.read(), main.__file__, "exec")
    sys.argv = [path]
    __import__(config["module"])
    function = getattr(sys.modules[config["module"]], config["callable"], None)
    if not callable(function):
        raise AttributeError(f"the module {config['module']} has no callable {config['callable']}: define it, or name another entrypoint in function.toml")
    return function


def limit_all(limits):
    """Limits that hold for the import and for every shard."""
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_DATA, limits["memory_bytes"])
    lower(resource.RLIMIT_AS, limits["address_space_bytes"])
    lower(resource.RLIMIT_FSIZE, limits["disk_bytes"])
    lower(resource.RLIMIT_NOFILE, limits["open_files"])


class Template:
    def __init__(self, sock, config, zygote):
        self.sock, self.config, self.zygote = sock, config, zygote
        self.pid_r, self.pid_w = os.pipe()
        self.go_r, self.go_w = os.pipe()

    def main(self):
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.zygote:
            os._exit(0)
        os.chdir(self.config["home"])
        limit_all(self.config["limits"])
        receive(self.sock)
        try:
            self.function = load(self.config)
        except BaseException as error:
            self.flush()
            send(self.sock, {"op": "imported", "exception": describe(error, self.config["bundle"])})
            os._exit(0)
        linecache.clearcache()
        gc.collect()
        gc.freeze()
        self.flush()
        send(self.sock, {"op": "imported"})
        while True:
            request, fds = receive(self.sock)
            if request is None:
                os._exit(0)
            self.fork(request, fds)

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

    def fork(self, request, fds):
        """Forks twice, so that the kernel makes the zygote the shard's parent."""
        self.flush()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                self.shard(request, fds)
            os.write(self.pid_w, struct.pack(">Q", pid))
            os._exit(0)
        for fd in fds:
            os.close(fd)
        os.waitpid(between, 0)
        pid = struct.unpack(">Q", os.read(self.pid_r, 8))[0]
        send(self.sock, {"op": "forked", "seq": request["seq"], "pid": pid})
        os.write(self.go_w, b"g")

    def shard(self, request, fds):
        try:
            self.sock.close()
            for fd in (self.pid_r, self.pid_w, self.go_w):
                os.close(fd)
            os.setsid()
            shard = Shard(self.function, self.config, request, fds[3])
            for number in range(3):
                redirect(fds[number], number)
            shard.prepare()
            go = os.read(self.go_r, 1)
            os.close(self.go_r)
            # Only now is the zygote the parent: a death signal asked for
            # earlier would come when the process between the two leaves.
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            prctl(PR_SET_DUMPABLE, 1)
            if go != b"g" or os.getppid() != self.zygote:
                os._exit(75)
            confine(self.config["confine"])
            shard.run()
        except BaseException:
            traceback.print_exc()
        os._exit(76)

"""The template process: imports the function and forks shards."""

import gc
import os
import random
import resource
import signal
import sys


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
        self.sibling = sibling_fork()

    def main(self):
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.zygote:
            os_exit(0)
        os.chdir(self.config["home"])
        redirect(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)
        limit_all(self.config["limits"])
        receive(self.sock)
        random.seed(0)
        self.shard = Shard(self.config)
        try:
            self.shard.use(load(self.config))
        except BaseException as error:
            self.shard.flush()
            send(self.sock, {"op": "imported", "exception": describe(error, self.config["bundle"])})
            os_exit(0)
        gc.collect()
        gc.freeze()
        release_memory()
        self.shard.flush()
        send(self.sock, {"op": "imported"})
        while self.sock.recv(16):
            self.fork()
        os_exit(0)

    def fork(self):
        """Forks one shard, which reports by itself."""
        self.shard.flush()
        fork = double_fork if self.sibling is None or thread_count() else self.sibling
        if fork() == 0:
            try:
                self.shard.main(self.sock, self.zygote)
            except BaseException:
                print_exception()
            os_exit(76)

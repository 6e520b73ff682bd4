"""A canary: tries to reach what a sandbox must not reach, and says what it could.

Every function whose name begins with try_ returns None when the walls held,
else a sentence. One that raises OSError has been refused, which is what it is for.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import socket
import stat
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
NUMBERS = {  # x86-64, arm64
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "kcmp": (312, 272), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "personality": (135, 92),
    "memfd_create": (319, 279), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435), "open_tree": (428, 428), "fsopen": (430, 430), "mount_setattr": (442, 442),
    "syslog": (103, 116), "shmget": (29, 194), "msgget": (68, 186), "mq_open": (240, 180), "init_module": (175, 105), "swapon": (167, 224),
    "sethostname": (170, 161), "settimeofday": (170 - 6, 170), "reboot": (169, 142), "quotactl": (179, 60), "fanotify_init": (300, 262),
    "execveat": (322, 281), "setuid": (105, 146), "setgid": (106, 144), "capset": (126, 91),
}


def call(name, *arguments):
    ctypes.set_errno(0)
    result = LIBC.syscall(NUMBERS[name][ARM], *arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def succeeded(name, *arguments):
    call(name, *arguments)
    return f"the system call {name} succeeded"


CLONE_NEW = {"user": 0x10000000, "mount": 0x00020000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x08000000, "uts": 0x04000000, "cgroup": 0x02000000}


class Canary:
    def __init__(self, facts):
        self.facts = facts

    # files

    def try_reading_the_agents_files(self):
        for path in self.facts["secrets"]:
            with self.refused(), open(path, "rb") as file:
                file.read(1)
                return f"{path} can be read"

    def try_listing_the_agents_folders(self):
        for path in self.facts["folders"]:
            with self.refused():
                os.listdir(path)
                return f"{path} can be listed"

    def try_reading_the_host(self):
        for path in ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/ssl/certs", "/root", "/home", "/var/log", "/boot", "/sys/kernel", "/proc/self/status",
                     "/proc/1/environ", "/proc/1/cmdline", "/proc/kmsg", "/proc/sys/kernel/hostname", "/dev/kmsg", "/dev/mem", "/dev/vda", "/dev/sda", "/dev/tty"):
            if not self.facts["landlock"] and path in ("/etc/hostname", "/sys/kernel", "/proc/self/status", "/proc/1/cmdline", "/proc/sys/kernel/hostname"):
                continue  # a container shows its own
            with self.refused():
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                return f"{path} can be opened"

    def try_writing_outside(self):
        for folder in [*self.facts["folders"], "/", "/var/tmp", "/etc", "/root", "/dev", "/python", *self.code_folders()]:
            with self.refused():
                os.close(os.open(os.path.join(folder, self.facts["marker"]), os.O_WRONLY | os.O_CREAT, 0o600))
                return f"a file can be made in {folder}"

    def code_folders(self):
        """Where code lies that a later shard runs."""
        return ["/bundle", os.path.dirname(os.__file__), os.path.dirname(__file__)]

    def try_changing_the_code(self):
        for path in (__file__, os.__file__):
            for how in (lambda: os.open(path, os.O_WRONLY), lambda: os.unlink(path), lambda: os.truncate(path, 0), lambda: os.chmod(path, 0o777)):
                with self.refused():
                    how()
                    return f"{path} can be changed"

    def try_changing_what_belongs_to_the_same_user(self):
        for path in (*self.facts["secrets"], *self.facts["folders"], __file__):
            for how in (lambda: os.chmod(path, 0o700), lambda: os.utime(path), lambda: os.chown(path, os.getuid(), os.getgid())):
                with self.refused():
                    how()
                    return f"{path} can be changed"
            with self.refused():
                os.link(path, "linked")
                return f"{path} can be linked to"
            with self.refused():
                os.rename(path, "renamed")
                return f"{path} can be renamed"

    def try_links_to_the_host(self):
        if not self.facts["landlock"]:
            return  # a container shows its own root, which holds nothing of the host
        os.symlink("/", "root")
        with self.refused():
            os.listdir("root/etc")
            return "a symbolic link leads to the host's files"
        os.unlink("root")

    def try_devices(self):
        for kind, device in ((stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFBLK, os.makedev(8, 0))):
            with self.refused():
                os.mknod("device", kind | 0o600, device)
                return "a device can be made"

    def try_filling_the_disk(self):
        if not self.facts["namespaces"]:
            return  # the workspace is watched, not walled in
        with self.refused(), open("full", "wb") as file:
            for _ in range(64):
                file.write(bytes(1 << 20))
                file.flush()
                os.fsync(file.fileno())
                if file.tell() > 2 << 20:
                    return "the workspace holds more than its limit"
        os.unlink("full")

    def try_filling_the_inodes(self):
        if not self.facts["namespaces"] or self.facts["watched"]:
            return
        with self.refused():
            for i in range(1000):
                os.close(os.open(f"i{i}", os.O_CREAT | os.O_WRONLY))
            return "the workspace holds more files than its limit"
        for name in os.listdir("."):
            os.unlink(name)

    # network

    def try_sockets(self):
        vsock = getattr(socket, "AF_VSOCK", 40)
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET, 38, vsock, 29, 44):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                with self.refused():
                    socket.socket(family, kind).close()
                    return f"a socket of family {family} can be made"

    def try_connecting(self):
        for family, address in ((socket.AF_INET, tuple(self.facts["tcp"])), (socket.AF_UNIX, self.facts["unix"]), (socket.AF_UNIX, "\0" + self.facts["abstract"])):
            with self.refused():
                with socket.socket(family, socket.SOCK_STREAM) as s:
                    s.settimeout(1)
                    s.connect(address)
                return f"the agent can be connected to at {address}"

    def try_datagram_pairs(self):
        with self.refused():
            socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            return "a local datagram socket can be made, which can be given an address"

    # processes

    def try_signals(self):
        if not self.facts["scoped"]:
            return
        for pid in {*self.facts["pids"], os.getppid(), *(range(2, os.getpid()))}:
            for number in (0, signal.SIGCONT):
                with self.refused():
                    os.kill(pid, number)
                    return f"process {pid} can be sent signals"
        for target in (-1, *(-pid for pid in self.facts["pids"])):
            with self.refused():
                os.kill(target, signal.SIGCONT)
                if self.facts["alone"]:
                    return f"processes {target} can be sent signals"

    def try_tracing(self):
        for pid in (*self.facts["pids"], os.getppid()):
            for request in (16, 0x4206):  # attach, seize
                with self.refused():
                    call("ptrace", request, pid, 0, 0)
                    return f"process {pid} can be traced"
            with self.refused():
                buffer = ctypes.create_string_buffer(8)
                local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
                call("process_vm_readv", pid, local, 1, local, 1, 0)
                return f"the memory of process {pid} can be read"
            with self.refused():
                call("kcmp", pid, os.getpid(), 0, 0, 0)
                return f"process {pid} can be compared"
            with self.refused():
                call("pidfd_getfd", call("pidfd_open", pid, 0), 3, 0)
                return f"descriptors of process {pid} can be taken"
            listing = ("fd",) if self.facts["landlock"] else ()  # else the numbers may be seen, and none be opened
            for what in (*listing, *(f"fd/{n}" for n in range(20)), "environ", "mem", "maps", "cwd/", "root/"):
                with self.refused():
                    os.close(os.open(f"/proc/{pid}/{what}", os.O_RDONLY))
                    return f"/proc/{pid}/{what} can be opened"

    def try_measures_of_others(self):
        for pid in (*self.facts["pids"], os.getppid()):
            with self.refused():
                os.sched_setaffinity(pid, {0})
                return f"the processors of process {pid} can be changed"
            with self.refused():
                os.setpriority(os.PRIO_PROCESS, pid, 19)
                return f"the priority of process {pid} can be changed"
            with self.refused():
                resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))
                return f"the limits of process {pid} can be changed"

    def try_forking(self):
        if not self.facts["alone"]:
            return None if self.facts["watched"] else self.bounded_forks()
        for fork in (os.fork, lambda: call("clone", 17, 0, 0, 0, 0), lambda: call("clone3", 0, 0)):
            with self.refused():
                if fork() == 0:
                    os._exit(0)
                return "a process can be started"
        with self.refused():
            os.execv("/bin/sh", ["sh", "-c", "exit"])

    def bounded_forks(self):
        children, most = [], 200
        with self.refused():
            for _ in range(most):
                pid = os.fork()
                if pid == 0:
                    signal.pause()
                children.append(pid)
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if len(children) == most:
            return f"{most} processes can be started"

    def try_threads_without_end(self):
        if self.facts["watched"]:
            return
        release, threads, most = threading.Event(), [], 500
        try:
            for _ in range(most):
                threads.append(threading.Thread(target=release.wait))
                threads[-1].start()
        except (RuntimeError, MemoryError):
            return
        finally:
            release.set()
        if self.facts["bounded_threads"]:
            return f"{most} threads can be started"

    def try_programs_of_the_host(self):
        for path in ("/bin/sh", "/bin/true", "/usr/bin/env", "/usr/bin/su", "/usr/bin/sudo"):
            with self.refused():
                os.close(os.open(path, os.O_RDONLY))
                return f"{path} can be opened"

    # rights

    def try_new_namespaces(self):
        for name, flag in CLONE_NEW.items():
            with self.refused():
                call("unshare", flag)
                return f"a {name} namespace can be made"
            with self.refused():
                pid = call("clone", flag | 17, 0, 0, 0, 0)
                if pid == 0:
                    os._exit(0)
                return f"a {name} namespace can be made by clone"

    def try_becoming_root(self):
        for how in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0]), lambda: os.setreuid(0, 0)):
            with self.refused():
                how()
                return "the user can be changed"
        if os.geteuid() == 0 or os.getuid() == 0:
            return "the user is root"

    def try_capabilities(self):
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        LIBC.capget(header, data)
        if any(data):
            return f"there are capabilities: {list(data)}"
        with self.refused():
            data[0] = data[1] = 1 << 21
            call("capset", header, data)
            return "capabilities can be gained"
        if LIBC.prctl(39, 0, 0, 0, 0) != 1:
            return "programs could gain privileges"
        if LIBC.prctl(21, 0, 0, 0, 0) != 2:
            return "there is no filter of system calls"

    def try_mounts(self):
        with self.refused():
            call("mount", b"none", b"/work", b"tmpfs", 0, 0)
            return "something can be mounted"
        for name, arguments in (("umount2", (b"/work", 2)), ("pivot_root", (b".", b".")), ("chroot", (b".",)), ("open_tree", (-100, b"/", 1)),
                                ("fsopen", (b"tmpfs", 0)), ("mount_setattr", (-100, b"/", 0, 0, 0))):
            with self.refused():
                return succeeded(name, *arguments)

    def try_the_kernel(self):
        buffer = ctypes.create_string_buffer(256)
        attempts = (
            ("syslog", (3, buffer, 200)), ("keyctl", (0, -3, 1)), ("add_key", (b"user", b"canary", b"x", 1, -3)), ("request_key", (b"user", b"x", 0, 0)),
            ("bpf", (0, buffer, 72)), ("perf_event_open", (buffer, 0, -1, -1, 0)), ("userfaultfd", (0,)), ("io_uring_setup", (1, buffer)),
            ("memfd_create", (b"x", 0)), ("shmget", (0, 4096, 0o1600)), ("msgget", (0, 0o1600)), ("mq_open", (b"x", 0o102, 0o600, 0)),
            ("init_module", (buffer, 0, b"")), ("swapon", (b"/x", 0)), ("sethostname", (b"x", 1)), ("settimeofday", (buffer, 0)), ("quotactl", (0, 0, 0, 0)),
            ("fanotify_init", (0, 0)), ("execveat", (-100, b"/x", 0, 0, 0)), ("open_by_handle_at", (-100, buffer, 0)),
            ("name_to_handle_at", (-100, b".", buffer, buffer, 0)), ("setns", (0, 0)), ("personality", (0x0040000,)),
        )
        for name, arguments in attempts:
            with self.refused():
                return succeeded(name, *arguments)

    # what was passed on

    def try_descriptors(self):
        pipes, harmless = 0, {os.stat(f"/dev/{name}").st_rdev for name in ("null", "random", "urandom", "zero", "full")}
        for fd in range(3, 1024):
            with self.refused():
                mode, device = os.fstat(fd).st_mode, os.fstat(fd).st_rdev
                if stat.S_ISCHR(mode) and device in harmless:
                    continue
                if stat.S_ISFIFO(mode) and pipes == 0:
                    pipes += 1  # the result
                    continue
                return f"descriptor {fd} was passed on, with mode {mode:o}, device {device:x}"

    def try_environment(self):
        for name in os.environ:
            if name not in self.facts["variables"] and not name.startswith("OSTRAKA_"):
                return f"the variable {name} was passed on"

    def try_host_name(self):
        if self.facts["namespaces"] and os.uname().nodename != self.facts["host_name"]:
            return f"the machine is called {os.uname().nodename}"

    def try_limits(self):
        for name in ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO"):
            if resource.getrlimit(getattr(resource, name)) != (0, 0):
                return f"{name} is {resource.getrlimit(getattr(resource, name))}"
        with self.refused():
            resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
            return "limits can be raised"

    def try_memory(self):
        if self.facts["watched"]:
            return
        try:
            bytearray(512 << 20)
        except MemoryError:
            return
        return "more memory than the limit can be had"

    # how

    def refused(self):
        return Refused()

    def run(self):
        out = []
        for name in sorted(n for n in dir(self) if n.startswith("try_")):
            what = getattr(self, name)()
            out.append({"attempt": name.removeprefix("try_").replace("_", " "), "escaped": what})
        return out


class Refused:
    """Takes being refused for success."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return kind is not None and issubclass(kind, (OSError, ValueError, OverflowError))


def handler(facts):
    return Canary(facts).run()

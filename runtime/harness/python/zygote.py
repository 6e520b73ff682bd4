"""The zygote process: trusted and free of user code, it kills and measures."""

import _socket
import _thread
import os
import resource
import select
import signal
import sys
import time

SWEEP_SECONDS = 5.0
# Above so many process ids, a look into /proc is cheaper than asking for each.
SCAN_PIDS = 20_000
SCAN_ALL = 100_000
# No machine starts processes faster: sooner than this their ids cannot all have
# been given out once.
PIDS_A_SECOND = 100_000
# So often the number given out last is asked for where nothing was left, so that
# a later search need not look at all that there are.
ASK_SECONDS = 1.0
NOW = _socket.MSG_DONTWAIT | CLOEXEC
SO_PASSCRED = getattr(_socket, "SO_PASSCRED", 16)


class Zygote:
    def __init__(self, control):
        self.control = control
        self.seq = 0  # of the shard in flight, or of the one that waits for its order
        self.pid = None  # of its process, once it has reported
        self.doomed = False  # Go asked to kill it
        self.imported = False
        self.cpu = self.rss = 0

    def main(self):
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_DUMPABLE, 0)
        send(self.control, {"op": "loaded", **facts()})
        packet, fds, _ = receive(self.control)
        config = DECODE(packet.decode())
        self.template, self.children = 0, fds[0] if fds else None
        if not self.alone():
            self.children = None  # they are not this process's
        self.contained, self.last = config["contained"], False
        if config["processes"]:
            lower(resource.RLIMIT_NPROC, config["processes"])
        self.woken, wakes = os.pipe()
        for fd in (self.woken, wakes):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        if self.contained:
            # The kernel lets nothing through to the first process of a
            # namespace that it does not handle itself.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        ours.setsockopt(_socket.SOL_SOCKET, SO_PASSCRED, 1)
        zygote = os.getpid()
        self.template = os.fork()
        if self.template == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for fd in (self.woken, wakes, *fds):
                os.close(fd)
            ours.close()
            self.control.close()
            Template(theirs, config, zygote).main()
        theirs.close()
        self.socket = ours
        if not self.alone():
            self.children = None  # it is the list of a process without children
        self.numbers = Numbers(config["pid_max"])
        self.floor, self.since = self.template, time.monotonic()
        send(self.control, {"op": "ready", "template": self.template})
        self.socket.send(b"import")  # not earlier: an import may kill this process
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError):  # Go has closed the connection while this process had something to say
            if self.template:
                self.end()
            os._exit(0)  # it was the last word, after a sweep

    def serve(self):
        control, socket, woken = self.control.fileno(), self.socket.fileno(), self.woken
        self.poll = poll = select.poll()
        for fd in (control, woken, socket):
            poll.register(fd, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            # The word of a process comes before its death: the kernel looks
            # for it after it has looked whether somebody died.
            if socket in ready:
                self.hear()
            if control in ready:
                self.obey()
            if woken in ready:
                os.read(woken, 4096)
                self.reap()

    def obey(self):
        packet, fds, _ = receive(self.control)
        for fd in fds:
            os.close(fd)
        if not packet:
            self.end()
        order = DECODE(packet.decode())
        if order["op"] == "kill" and order["seq"] in (0, self.seq):
            self.doomed = True
            self.kill()

    def kill(self):
        """Ends the shard in flight. A template that does not fork ends with it."""
        victim = self.pid or self.template
        for send_to in (os.killpg, os.kill):
            try:
                send_to(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def next(self):
        """Asks for the next shard. Nothing of the one before is left by now."""
        self.seq, self.pid, self.doomed = self.seq + 1, None, False
        self.cpu = self.rss = 0
        self.template_cpu = self.clock()
        try:
            os.kill(self.template, signal.SIGCONT)  # whoever may have stopped it
            self.socket.send(b"fork")
        except OSError:
            pass  # the template is dead; reap says so

    def hear(self):
        """Takes what the template and the shard claim; the kernel must agree."""
        while True:
            try:
                packet, fds, sender = receive(self.socket, NOW, MAX_REPORT if self.imported else MAX_MESSAGE)
            except BlockingIOError:
                return
            except OSError:
                packet, fds, sender = b"", [], None
            known = self.accept(packet, fds, sender)
            for fd in fds:
                os.close(fd)
            if not known:
                os.kill(self.template, signal.SIGKILL)  # it closed the socket, or lies
                self.poll.unregister(self.socket)  # nobody is believed any more
                return
            if self.imported:
                return  # it sends one message at a time

    def accept(self, packet, fds, sender):
        """Acts on a message, and tells whether it is one that may come now."""
        if packet == FORKED and len(fds) == 1 and self.expected(sender):
            self.pid = sender
            send(self.control, {"op": "next", "seq": self.seq, "pid": sender}, fds)
            if self.doomed:
                self.kill()
            return True
        if self.imported or sender != self.template:
            return False
        try:
            message = DECODE(packet.decode())
        except ValueError:
            return False
        if not isinstance(message, dict) or message.get("op") != "imported":
            return False
        exception = message.get("exception")
        self.imported = True
        send(self.control, {"op": "imported", "exception": exception})
        if exception is None:
            self.next()
        return True

    def expected(self, pid):
        return self.seq > 0 and self.pid is None and pid and pid != self.template and self.alive(pid) is not None

    def alive(self, pid):
        """Returns None if pid is no child of ours; else whether it still runs."""
        try:
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return None

    def reap(self):
        """Acts on every child that has ended; the others were a shard's."""
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == self.template:
                self.lost()
            elif ended.si_pid == self.pid:
                self.finish()
            else:
                self.collect(ended.si_pid)

    def collect(self, pid):
        _, status, usage = os.wait4(pid, 0)
        self.cpu += usage.ru_utime + usage.ru_stime
        self.rss = max(self.rss, usage.ru_maxrss)
        return status

    def finish(self):
        pid, self.pid = self.pid, None
        try:
            os.killpg(pid, signal.SIGKILL)  # while its number is still ours
        except ProcessLookupError:
            pass
        status = self.collect(pid)
        self.sweep()
        self.cpu += max(0, self.clock() - self.template_cpu)
        send(self.control, {"op": "done", "seq": self.seq, "last": self.last, **ending(status), **self.usage()})
        if self.last:
            os._exit(0)
        self.next()

    def usage(self):
        return {"cpu_us": int(self.cpu * 1e6), "peak_rss_bytes": self.rss * 1024}

    def clock(self):
        """Processor time of the template, which forks on the shard's behalf."""
        try:
            return time.clock_gettime((~self.template << 3) | 2)
        except OSError:
            return 0

    def alone(self):
        """Tells whether this process is known to have no child but the template.

        The kernel begins its list with the first child at that moment, so one
        of them that lives is in it, whatever begins and ends meanwhile.
        """
        if self.children is None:
            return False
        return len(os.pread(self.children, 64, 0).split()) == (1 if self.template else 0)

    def sweep(self):
        """Kills what outlived the shard, until the kernel says nothing is left.

        Whatever a shard starts is, or becomes when its parent dies, a child of
        this process, and has a number given out since the last search.
        """
        begun = asked = time.monotonic()
        # Before the list is read: what is not in it then has a later number.
        last = self.last_number() if self.children is not None and begun - self.since > ASK_SECONDS else None
        if self.alone():
            if last is not None:
                self.floor, self.since = last, asked
            return
        wrapped = (begun - self.since) * PIDS_A_SECOND >= self.numbers.most
        while True:
            asked = time.monotonic()
            last, candidates = self.look(wrapped)
            if candidates is None:
                self.leave()
                return
            if not self.end_those(candidates):
                if wrapped or self.children is None or self.alone():
                    break
                wrapped = True  # one is left that was not among them; gVisor lists the template's threads as well
            if time.monotonic() > begun + SWEEP_SECONDS:
                self.leave()
                return
        if last is not None:
            self.floor, self.since = last, asked

    def last_number(self):
        """The number given out last, None if there is no room to ask."""
        try:
            return self.numbers.last()
        except RuntimeError:  # no room for another thread until some of them are gone
            return None

    def look(self, wrapped):
        """The number given out last, None if there is no room to ask, and those to look at, None if they are too many."""
        last = self.last_number()
        return last, self.numbers.all() if wrapped or last is None else self.numbers.between(self.floor, last)

    def end_those(self, candidates):
        """Kills those of the candidates that are ours; tells whether there were any."""
        found = [pid for pid in candidates if pid != self.template and self.alive(pid) is not None]
        for pid in found:
            os.kill(pid, signal.SIGKILL)
            self.collect(pid)
        return bool(found)

    def leave(self):
        """Leaves the rest to the kernel, which ends a namespace with this process.

        Where there is none, this process stays until nothing is left: what it
        leaves behind would be nobody's.
        """
        if self.contained:
            self.last = True
            return
        self.control.close()  # Go gives this interpreter up, and helps
        while self.end_those(range(2, self.numbers.most + 1)):
            pass
        os._exit(77)

    def lost(self):
        """Reports that the template has died, and leaves with everything else."""
        seq, before = self.seq, self.cpu
        self.cpu = 0
        status = self.collect(self.template)
        self.end_waiting()
        self.forget_template()
        self.sweep()
        self.cpu += before
        send(self.control, {"op": "lost", "seq": seq, **ending(status), **self.usage()})
        os._exit(0)

    def end(self):
        os.kill(self.template, signal.SIGKILL)
        self.collect(self.template)
        self.end_waiting()
        self.forget_template()
        self.sweep()
        os._exit(0)

    def end_waiting(self):
        """Ends the process of the shard that waits or is in flight, so that mostly nothing is left to search for."""
        if self.pid is not None and self.alive(self.pid) is not None:
            os.kill(self.pid, signal.SIGKILL)
            self.collect(self.pid)
            self.pid = None

    def forget_template(self):
        """Its children are ours now, and may be older than the last sweep."""
        self.template, self.floor, self.since = 0, os.getpid(), 0


def ending(status):
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return {"exit_code": os.WEXITSTATUS(status)}


class Numbers:
    """The numbers that the kernel gives to processes, one after the other."""

    def __init__(self, most):
        self.most = most
        try:
            self.file = os.open("/proc/sys/kernel/ns_last_pid", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.file = None
        if self.file is not None and not self.trustworthy():
            os.close(self.file)
            self.file = None

    def trustworthy(self):
        """Tells whether the file shows the numbers that this process sees."""
        for _ in range(10):
            before = thread_number()
            shown = self.last()
            after = thread_number()
            if before <= after:
                return before <= shown <= after
        return False

    def last(self):
        """The number given out last."""
        if self.file is None:
            return thread_number()
        return int(os.pread(self.file, 32, 0))

    def between(self, first, last):
        """Those given out after first up to last; they may have begun anew."""
        if first <= last <= first + SCAN_PIDS:
            return range(first + 1, last + 1)
        return self.all()

    def all(self):
        """All that there may be; None if that is too many to ask for."""
        try:
            return [int(name) for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return range(2, self.most + 1) if self.most <= SCAN_ALL else None


def thread_number():
    """The number of a thread made to learn it."""
    ids, done = [], _thread.allocate_lock()
    done.acquire()

    def tell():
        ids.append(_thread.get_native_id())
        done.release()

    _thread.start_new_thread(tell, ())
    done.acquire()
    return ids[0]


def facts():
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (OSError, ValueError):
        libc = "unknown"
    version = ".".join(map(str, sys.version_info[:3]))
    machine = os.uname()
    return {
        "interpreter": f"{sys.implementation.name} {version}",
        "platform": f"{machine.sysname.lower()} {machine.machine}",
        "libc": libc,
    }

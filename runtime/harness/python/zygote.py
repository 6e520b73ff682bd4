"""The zygote process: trusted and free of user code, it kills and measures."""

import _socket
import _thread
import os
import select
import signal
import sys
import time

SWEEP_SECONDS = 5.0
# Above so many process ids, a look into /proc is cheaper than asking for each.
SCAN_PIDS = 20_000


class Zygote:
    def __init__(self, control):
        self.control = control
        self.seq = None  # of the shard in flight
        self.pid = None  # of its process, once the template has named it
        self.doomed = False  # Go asked to kill the shard in flight
        self.cpu = self.rss = 0

    def main(self):
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_DUMPABLE, 0)
        config, _ = receive(self.control)
        self.contained, self.last = config["contained"], False
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
        zygote = os.getpid()
        self.template = os.fork()
        if self.template == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for fd in (self.woken, wakes):
                os.close(fd)
            ours.close()
            self.control.close()
            Template(theirs, config, zygote).main()
        theirs.close()
        self.socket = ours
        self.floor = self.template
        send(self.control, {"op": "ready", "template": self.template, **facts()})
        send(self.socket, {"op": "import"})  # not earlier: an import may kill this process
        self.serve()

    def serve(self):
        poll = select.poll()
        for fd in (self.control.fileno(), self.socket.fileno(), self.woken):
            poll.register(fd, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self.woken in ready:
                self.drain()
            # The template's word comes before the death of the shard it names.
            if self.socket.fileno() in ready or self.woken in ready:
                self.hear()
            if self.control.fileno() in ready:
                self.obey()
            self.reap()

    def drain(self):
        try:
            while os.read(self.woken, 512):
                pass
        except BlockingIOError:
            pass

    def obey(self):
        order, fds = receive(self.control)
        if order is None:
            self.end()
        if order["op"] == "run":
            self.seq, self.pid, self.doomed = order["seq"], None, False
            self.cpu, self.rss = 0, 0
            self.template_cpu = self.clock()
            try:
                send(self.socket, order, fds)
            except OSError:
                pass  # the template is dead; reap says so
            for fd in fds:
                os.close(fd)
        elif order["op"] == "kill" and order["seq"] == self.seq:
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

    def hear(self):
        """Takes what the template claims; the kernel must agree."""
        while select.select([self.socket], [], [], 0)[0]:
            try:
                message, fds = receive(self.socket)
            except (OSError, ValueError):
                message, fds = None, []
            for fd in fds:
                os.close(fd)
            op = message.get("op") if isinstance(message, dict) else None
            if op == "imported":
                send(self.control, {"op": "imported", "exception": message.get("exception")})
            elif op == "forked" and self.expected(message):
                self.pid = message["pid"]
                if self.doomed:
                    self.kill()
            else:
                os.kill(self.template, signal.SIGKILL)  # it closed the socket, or lies
                return

    def expected(self, message):
        pid = message.get("pid")
        return (
            self.seq is not None
            and message.get("seq") == self.seq
            and self.pid is None
            and isinstance(pid, int)
            and 0 < pid < 1 << 31
            and pid != self.template
            and self.alive(pid) is not None
        )

    def alive(self, pid):
        """Returns None if pid is no child of ours; else whether it still runs."""
        try:
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return None

    def reap(self):
        if self.template_ended():
            self.lost()
        if self.pid is not None and self.alive(self.pid) is False:
            self.finish()
        if self.pid is not None:
            self.bury()

    def template_ended(self):
        return self.alive(self.template) is False

    def bury(self):
        """Collects orphans of the running shard that have ended."""
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_pid in (self.pid, self.template):
                return
            self.collect(ended.si_pid)

    def collect(self, pid):
        _, status, usage = os.wait4(pid, 0)
        self.cpu += usage.ru_utime + usage.ru_stime
        self.rss = max(self.rss, usage.ru_maxrss)
        return status

    def finish(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)  # while its number is still ours
        except ProcessLookupError:
            pass
        status = self.collect(self.pid)
        self.sweep()
        self.cpu += max(0, self.clock() - self.template_cpu)
        send(self.control, {"op": "done", "seq": self.seq, "last": self.last, **ending(status), **self.usage()})
        if self.last:
            os._exit(0)
        self.seq = self.pid = None

    def usage(self):
        return {"cpu_us": int(self.cpu * 1e6), "peak_rss_bytes": self.rss * 1024}

    def clock(self):
        """Processor time of the template, which forks on the shard's behalf."""
        try:
            return time.clock_gettime((~self.template << 3) | 2)
        except OSError:
            return 0

    def sweep(self):
        """Kills what outlived the shard, until the kernel says nothing is left.

        Whatever a shard starts is, or becomes when its parent dies, a child of
        this process, and has a number given out since the last sweep.
        """
        deadline = time.monotonic() + SWEEP_SECONDS
        while True:
            try:
                last = last_pid()
            except RuntimeError:  # there is no room for another thread
                self.leave()
                return
            if self.contained and not self.floor <= last <= self.floor + SCAN_PIDS:
                self.leave()
                return
            found = [pid for pid in between(self.floor, last) if pid != self.template and self.alive(pid) is not None]
            if not found:
                break
            for pid in found:
                os.kill(pid, signal.SIGKILL)
                self.collect(pid)
            if time.monotonic() > deadline:
                self.leave()
                return
        self.floor = last

    def leave(self):
        """Leaves the rest to the kernel, which ends a namespace with this process."""
        if not self.contained:
            os._exit(77)  # Go sees the end of the socket and cleans up itself
        self.last = True

    def lost(self):
        """Reports that the template has died, and leaves with everything else."""
        seq, before = self.seq, self.cpu
        self.cpu = 0
        status = self.collect(self.template)
        self.template, self.floor = 0, os.getpid()  # its children are ours now
        self.sweep()
        self.cpu += before
        send(self.control, {"op": "lost", "seq": seq, **ending(status), **self.usage()})
        os._exit(0)

    def end(self):
        os.kill(self.template, signal.SIGKILL)
        self.collect(self.template)
        self.template, self.floor = 0, os.getpid()  # its children are ours now
        self.sweep()
        os._exit(0)


def ending(status):
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return {"exit_code": os.WEXITSTATUS(status)}


def last_pid():
    """The process id given out last: that of a thread made to learn it."""
    ids, done = [], _thread.allocate_lock()
    done.acquire()

    def tell():
        ids.append(_thread.get_native_id())
        done.release()

    _thread.start_new_thread(tell, ())
    done.acquire()
    return ids[0]


def between(first, last):
    """Process ids given out after first up to last; they may have wrapped."""
    if first <= last <= first + SCAN_PIDS:
        return range(first + 1, last + 1)
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return range(2, 1 << 22)


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

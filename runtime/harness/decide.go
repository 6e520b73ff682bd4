package harness

import (
	"fmt"
	"syscall"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// stop says why Go ended a shard.
type stop int

const (
	stopNone stop = iota
	stopWall
	stopCPU
	stopMemory
	stopPids
	stopOutput
	stopLog
	stopDisk
	stopInodes
	stopContext
	stopOrder
	stopChannel
)

// ending is all that decides how a shard ended.
type ending struct {
	stop           stop
	reason         string // of stopOrder
	lost           bool   // the template or the zygote died
	exitCode       int
	signal         syscall.Signal
	cpu            int64 // microseconds
	frame          frame
	limits         bundle.Limits
	schema         *bundle.OutputSchema
	stdout, stderr int64 // bytes that were written
	stdoutLimit    int64
	workspace      space
	oomKills       int64 // processes that the kernel killed for lack of memory
	refused        int64 // processes that the kernel refused to start
	quota          quota
}

// ManyRefused is how many processes the kernel must have refused to a shard for it to be ended for them rather than for the time that it
// has spent on trying: far more than a pool that makes do with fewer workers asks for. Only a cgroup counts them.
const ManyRefused = 100

// verdict is the part of a Result that is decided rather than measured.
type verdict struct {
	status    Status
	output    []byte
	exception *Exception
}

func failed(s Status, kind, format string, args ...any) verdict {
	return verdict{status: s, exception: Exception{Type: kind, Message: fmt.Sprintf(format, args...)}.safe()}
}

// decide is pure: what the trusted side saw, in order of what outweighs what.
func decide(e ending) verdict {
	if e.stop == stopNone {
		e.stop = e.passed()
	}
	if (e.stop == stopWall || e.stop == stopCPU) && e.refused >= ManyRefused {
		e.stop = stopPids // it ran out of time because it did nothing but try
	}
	if v, ended := e.stopped(); ended {
		return v
	}
	switch {
	case e.lost:
		return failed(StatusKilled, ExceptionHarness, "the processes that run the shards were killed%s while this shard ran", by(e.signal))
	case e.signal == sigSYS:
		return failed(StatusDenied, ExceptionSignal, "the process was ended%s: it made a system call that the sandbox does not allow", by(e.signal))
	case e.signal != 0:
		return failed(StatusKilled, ExceptionSignal, "the process was ended%s", by(e.signal))
	}
	v := decideFrame(e)
	if v.status == StatusError && e.oomKills > 0 {
		v.status = StatusMemory
	}
	return v
}

// passed says which limit shows only when everything has come to its end.
func (e *ending) passed() stop {
	switch {
	case e.frame.tooLarge:
		return stopOutput
	case e.stdout > e.stdoutLimit || e.stderr > e.limits.StderrBytes:
		return stopLog
	case e.signal == sigXCPU || e.cpu > e.limits.CPUSeconds*1_000_000 || (e.signal == sigKILL && e.cpu >= e.limits.CPUSeconds*1_000_000):
		return stopCPU
	case e.signal == sigKILL && e.oomKills > 0:
		return stopMemory
	case e.signal == sigXFSZ, e.signal == sigBUS && e.quota.own && e.quota.full:
		return stopDisk
	}
	return e.workspace.over(e.limits)
}

// ranOutOfDisk says whether the shard ended as one does for which no room was left. One that writes to a mapped file is told by SIGBUS.
func (e *ending) ranOutOfDisk() bool {
	if e.signal == sigBUS {
		return true
	}
	if e.frame.kind != frameException {
		return false
	}
	limit := e.frame.exception().Limit
	return limit == limitDisk || limit == limitInodes
}

// stopped says what a shard gets that was ended, or that has passed a limit.
func (e *ending) stopped() (v verdict, ended bool) {
	l := e.limits
	switch e.stop {
	case stopWall:
		v = failed(StatusTimeout, ExceptionLimit, "still running after %d s: raise limits.wall_seconds, or use smaller shards", l.WallSeconds)
	case stopCPU:
		v = failed(StatusCPULimit, ExceptionLimit, "out of processor time after %d s: raise limits.cpu_seconds, or use smaller shards", l.CPUSeconds)
	case stopMemory:
		v = failed(StatusMemory, ExceptionLimit, "the processes of the shard hold more than %d bytes together: raise limits.memory_bytes", l.MemoryBytes)
	case stopPids:
		v = failed(StatusProcessLimit, ExceptionLimit, "more than %d processes at a time: raise limits.pids", l.Pids)
	case stopOutput:
		v = failed(StatusOutputLimit, ExceptionLimit, "the output has %d bytes, at most %d are allowed: raise limits.output_bytes, or write files to $OSTRAKA_OUTPUT", e.frame.size, l.OutputBytes)
	case stopLog:
		v = e.verbose()
	case stopDisk:
		v = failed(StatusDiskLimit, ExceptionLimit, "more than %d bytes in the workspace: raise limits.disk_bytes, or remove what is not needed", l.DiskBytes)
	case stopInodes:
		v = failed(StatusInodeLimit, ExceptionLimit, "more than %d files and folders in the workspace, or folders nested deeper than %d: raise limits.inodes, or use fewer", l.Inodes, MaxWorkspaceDepth)
	case stopOrder:
		v = failed(StatusKilled, ExceptionKilled, "%s", e.reason)
	case stopChannel:
		v = failed(StatusKilled, ExceptionHarness, "the process that was to run the shard could not be reached")
	default: // nothing, or the context, whose end is no result
		return v, false
	}
	return v, true
}

func (e *ending) verbose() verdict {
	if e.stdout > e.stdoutLimit {
		return failed(StatusLogLimit, ExceptionLimit, "more than %d bytes on stdout: print less, or raise limits.stdout_bytes", e.stdoutLimit)
	}
	return failed(StatusLogLimit, ExceptionLimit, "more than %d bytes on stderr: print less, or raise limits.stderr_bytes", e.limits.StderrBytes)
}

func by(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf(" by signal %d (%s)", int(s), signalName(s))
}

// decideFrame judges the result of a process that left by itself.
func decideFrame(e ending) verdict {
	f := e.frame
	switch {
	case f.problem != "":
		return failed(StatusError, ExceptionProtocol, "%s: code of the function wrote to a descriptor that it did not open", f.problem)
	case f.kind == 0:
		return failed(StatusError, ExceptionNoResult, "the process left with exit code %d before the handler returned: return a value, and do not call os._exit or close descriptors that the function did not open", e.exitCode)
	case f.kind == frameException:
		d := f.exception()
		return verdict{status: e.raised(d.Limit), exception: d.safe()}
	case e.exitCode != 0:
		return failed(StatusError, ExceptionNoResult, "the process left with exit code %d after it had sent a result", e.exitCode)
	}
	if err := canonical.Check(f.data, int(e.limits.OutputBytes)); err != nil {
		return failed(StatusError, ExceptionOutput, "the output is not canonical JSON: %v", err)
	}
	if fault := e.schema.Check(f.data); fault != nil {
		return verdict{status: StatusError, exception: Exception{Type: ExceptionSchema, Message: fault.Message, Traceback: fault.Detail}.safe()}
	}
	return verdict{status: StatusOK, output: f.data}
}

// raised is the status of a shard that died of an exception which speaks of a
// limit. What a raise statement of the function says is no such exception (see
// claimed in encode.py). A function that forges one in another way has harmed
// itself only: it has no output either way.
func (e *ending) raised(limit string) Status {
	switch {
	case limit == limitMemory:
		return StatusMemory
	case limit == limitProcesses, limit == limitAgain && e.refused > 0:
		return StatusProcessLimit
	case limit == limitOpenFiles:
		return StatusFileLimit
	case limit == limitFileSize, limit == limitDisk && e.quota.own:
		return StatusDiskLimit
	case limit == limitInodes && e.quota.own:
		return StatusInodeLimit
	}
	return StatusError
}

package harness

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// stop says why Go ended a shard.
type stop int

const (
	stopNone stop = iota
	stopWall
	stopOutput
	stopMemory
	stopPids
	stopContext
	stopOrder
)

// ending is all that decides how a shard ended.
type ending struct {
	stop     stop
	reason   string // of stopOrder
	lost     bool   // the template or the zygote died
	exitCode int
	signal   syscall.Signal
	cpu      int64 // microseconds
	frame    frame
	limits   bundle.Limits
}

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
	l := e.limits
	switch {
	case e.stop == stopWall:
		return failed(StatusTimeout, ExceptionLimit, "still running after %d s: raise limits.wall_seconds, or use smaller shards", l.WallSeconds)
	case e.stop == stopOutput || e.frame.tooLarge:
		return failed(StatusOutputLimit, ExceptionLimit, "the output has %d bytes, at most %d are allowed: raise limits.output_bytes, or write files to $OSTRAKA_OUTPUT", e.frame.size, l.OutputBytes)
	case e.stop == stopMemory:
		return failed(StatusMemory, ExceptionLimit, "the processes of the shard hold more than %d bytes together: raise limits.memory_bytes", l.MemoryBytes)
	case e.stop == stopPids:
		return failed(StatusProcessLimit, ExceptionLimit, "more than %d processes at a time: raise limits.pids", l.Pids)
	case e.stop == stopOrder:
		return failed(StatusKilled, ExceptionKilled, "%s", e.reason)
	case e.lost:
		return failed(StatusKilled, ExceptionHarness, "the processes that run the shards were killed%s while this shard ran", by(e.signal))
	case e.signal == unix.SIGXCPU, e.signal == unix.SIGKILL && e.cpu >= l.CPUSeconds*1_000_000:
		return failed(StatusCPULimit, ExceptionLimit, "out of processor time after %d s: raise limits.cpu_seconds, or use smaller shards", l.CPUSeconds)
	case e.signal != 0:
		return failed(StatusKilled, ExceptionSignal, "the process was ended%s", by(e.signal))
	}
	return decideFrame(e)
}

func by(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf(" by signal %d (%s)", int(s), unix.SignalName(s))
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
		exception, memory := f.exception()
		if memory {
			return verdict{status: StatusMemory, exception: exception}
		}
		return verdict{status: StatusError, exception: exception}
	case e.exitCode != 0:
		return failed(StatusError, ExceptionNoResult, "the process left with exit code %d after it had sent a result", e.exitCode)
	}
	if err := canonical.Check(f.data, int(e.limits.OutputBytes)); err != nil {
		return failed(StatusError, ExceptionOutput, "the output is not canonical JSON: %v", err)
	}
	return verdict{status: StatusOK, output: f.data}
}

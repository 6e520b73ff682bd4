package wasmbox

import (
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

// Types of exceptions beside those of the harness.
const (
	ExceptionTrap = "Trap"     // the module's code failed: unreachable, out of bounds
	ExceptionExit = "ExitCode" // it ended with a code that is not 0
)

// stackOverflow is how the runner calls a stack that is full.
const stackOverflow = "stack overflow"

// verdict is the part of a result that is decided rather than measured. Its type and message vote, so that they say nothing that differs
// between machines.
type verdict struct {
	status        harness.Status
	output        []byte
	kind, message string
	hint          string // for people; it does not vote
}

func failed(s harness.Status, kind, format string, args ...any) verdict {
	return verdict{status: s, kind: kind, message: fmt.Sprintf(format, args...)}
}

// exception describes a failure; nil where there is none.
func (v *verdict) exception(frames []string) *harness.Exception {
	if v.status == harness.StatusOK {
		return nil
	}
	trace := frames
	if v.hint != "" {
		trace = append([]string{v.hint}, frames...)
	}
	return harness.SafeException(harness.Exception{Type: v.kind, Message: v.message, Traceback: strings.Join(trace, "\n")})
}

// decide says what an answer means, in order of what outweighs what.
func decide(a *wasm.Answer, l bundle.Limits, schema *bundle.OutputSchema) verdict {
	switch a.Exceeded {
	case runner.ExceededMachine:
		return failed(harness.StatusMemory, harness.ExceptionLimit, "the machine has no memory left")
	case runner.ExceededWall:
		return failed(harness.StatusTimeout, harness.ExceptionLimit, "it took longer than limits.wall_seconds = %d", l.WallSeconds)
	case runner.ExceededFuel:
		return failed(harness.StatusCPULimit, harness.ExceptionLimit, "it used up limits.fuel = %d (meter %d)", l.Fuel, wasm.Meter)
	case runner.ExceededOutput, runner.ExceededLine:
		return failed(harness.StatusOutputLimit, harness.ExceptionLimit, "it printed more than limits.output_bytes = %d", l.OutputBytes)
	case runner.ExceededMemory:
		if a.Unsuccessful() {
			return failed(harness.StatusMemory, harness.ExceptionLimit, "it failed after it was refused more than limits.memory_bytes = %d", l.MemoryBytes)
		}
	}
	switch {
	case a.Failed != "":
		return failed(harness.StatusKilled, harness.ExceptionHarness, "its instance could not be made")
	case a.Trap == stackOverflow: // a frame is larger on one processor than on another: no answer that replicas could agree on
		return failed(harness.StatusMemory, harness.ExceptionLimit, "its recursion is deeper than the stack of this machine")
	case a.Trap != "":
		return failed(harness.StatusError, ExceptionTrap, "%s", a.Trap)
	case a.ExitCode != 0:
		return failed(harness.StatusError, ExceptionExit, "it ended with exit code %d: its standard error says more", int32(a.ExitCode))
	}
	return decideOutput(a.Stdout, l.OutputBytes, schema)
}

// decideOutput brings what was printed into the one form in which answers are compared. The form may be longer than what was printed
// (1e15 is 1000000000000000.0), and nothing longer than the limit can be delivered.
func decideOutput(stdout []byte, most int64, schema *bundle.OutputSchema) verdict {
	if len(strings.TrimSpace(string(stdout))) == 0 {
		return failed(harness.StatusError, harness.ExceptionNoResult, "it printed nothing: the result is one JSON value on standard output")
	}
	output, err := canonical.Form(stdout, len(stdout))
	if err != nil {
		return failed(harness.StatusError, harness.ExceptionOutput, "what it printed is not one JSON value: %v", err)
	}
	if int64(len(output)) > most {
		return failed(harness.StatusOutputLimit, harness.ExceptionLimit, "its result has %d bytes in canonical form, more than limits.output_bytes = %d", len(output), most)
	}
	if fault := schema.Check(output); fault != nil {
		return verdict{status: harness.StatusError, kind: harness.ExceptionSchema, message: fault.Message, hint: fault.Detail}
	}
	return verdict{status: harness.StatusOK, output: output}
}

// ofDeath says what the end of a runner means that nobody has ended.
func ofDeath(d *runner.Died) verdict {
	if d.Memory || strings.Contains(d.Crash, "SIGSEGV") {
		return failed(harness.StatusMemory, harness.ExceptionLimit, "its process ran out of memory")
	}
	return failed(harness.StatusKilled, harness.ExceptionSignal, "its process was ended (%s)", d.State)
}

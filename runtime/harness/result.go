package harness

import (
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Status says how a shard ended.
type Status string

// The statuses of a shard.
const (
	StatusOK            Status = "ok"             // the output is canonical JSON within its limit
	StatusError         Status = "error"          // an exception, or no valid output
	StatusTimeout       Status = "timeout"        // out of time on the clock
	StatusCPULimit      Status = "cpu_limit"      // out of processor time
	StatusMemory        Status = "memory"         // out of memory
	StatusProcessLimit  Status = "process_limit"  // too many processes at a time
	StatusFileLimit     Status = "file_limit"     // too many open files
	StatusOutputLimit   Status = "output_limit"   // the result is too large
	StatusLogLimit      Status = "log_limit"      // too much on stdout or stderr
	StatusDiskLimit     Status = "disk_limit"     // too many bytes in the workspace
	StatusInodeLimit    Status = "inode_limit"    // too many files and folders in the workspace
	StatusArtifactLimit Status = "artifact_limit" // what lies under $OSTRAKA_OUTPUT passes a limit
	StatusKilled        Status = "killed"         // ended by a signal: a crash, a monitor or a killswitch
	StatusDenied        Status = "denied"         // refused by a policy before or while it ran
)

// Statuses lists every status of a shard.
func Statuses() []Status {
	return []Status{
		StatusOK, StatusError, StatusTimeout, StatusCPULimit, StatusMemory, StatusProcessLimit, StatusFileLimit, StatusOutputLimit,
		StatusLogLimit, StatusDiskLimit, StatusInodeLimit, StatusArtifactLimit, StatusKilled, StatusDenied,
	}
}

// Types of exceptions that the harness itself reports, beside Python's own.
const (
	ExceptionOutput   = "OutputError"   // the result is not what JSON can hold
	ExceptionNoResult = "NoResult"      // the process left without a result
	ExceptionProtocol = "ProtocolError" // something else wrote to the result pipe
	ExceptionArtifact = "ArtifactError" // what lies under $OSTRAKA_OUTPUT cannot be kept
	ExceptionSchema   = "OutputSchema"  // the result is not as [output.schema] of the manifest says
	ExceptionLimit    = "LimitExceeded" // a limit of the manifest; the message names it
	ExceptionSignal   = "Signal"        // the process died of a signal
	ExceptionKilled   = "Killed"        // ended from outside, by the monitor for one; the message says why
	ExceptionImport   = "ImportFailed"  // the import ended the process or took too long
	ExceptionHarness  = "HarnessDied"   // the processes that serve the shards were killed
)

// Result is everything known about one run of a shard. Only Output, Exception,
// the tails and the names of files come from user code; all text is valid UTF-8
// without NUL.
type Result struct {
	Shard           int64      `json:"shard"`
	Status          Status     `json:"status"`
	Output          string     `json:"output"` // canonical JSON bytes; empty unless ok
	OutputDigest    string     `json:"output_digest"`
	OutputBytes     int64      `json:"output_bytes"` // also of an output over its limit
	StdoutDigest    string     `json:"stdout_digest"`
	StdoutBytes     int64      `json:"stdout_bytes"`
	StdoutTail      string     `json:"stdout_tail"`
	StdoutTruncated bool       `json:"stdout_truncated"` // the tail is not all of it
	StderrBytes     int64      `json:"stderr_bytes"`
	StderrTail      string     `json:"stderr_tail"`
	Exception       *Exception `json:"exception,omitempty"`
	ExitCode        int        `json:"exit_code"` // -1 when a signal ended the process
	Signal          string     `json:"signal"`    // such as SIGSEGV; empty when none
	StartedAt       string     `json:"started_at"`
	EndedAt         string     `json:"ended_at"`
	CPUMicros       int64      `json:"cpu_us"` // of all processes of the shard
	WallMicros      int64      `json:"wall_us"`
	PeakRSSBytes    int64      `json:"peak_rss_bytes"` // of its largest process
	InputBytes      int64      `json:"input_bytes"`
	Files           []File     `json:"files"`
	Isolation       string     `json:"isolation"`
	Interpreter     string     `json:"interpreter"`
	Platform        string     `json:"platform"`
	Libc            string     `json:"libc"`
	// Fuel is what a function in WebAssembly has used, in units of the meter of that version; 0: it is none.
	Fuel  int64 `json:"fuel,omitempty"`
	Meter int   `json:"meter,omitempty"`
}

// Exception describes why a shard has no output.
type Exception struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
}

// File is a file that the shard left under $OSTRAKA_OUTPUT.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// signalName is empty for no signal.
func signalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	if name := systemName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Clean makes text of user code safe to pass on: valid UTF-8, no NUL.
func Clean(s string) string { return clean(s) }

// SafeException bounds an exception that user code may have had a hand in.
func SafeException(e Exception) *Exception { return e.safe() }

func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// head returns at most n bytes of clean text from its start.
func head(s string, n int) string {
	s = clean(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// end returns at most n bytes of clean text from its end.
func end(s string, n int) string {
	s = clean(s)
	start := len(s) - n
	if start <= 0 {
		return s
	}
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return s[start:]
}

// safe bounds an exception that user code described.
func (e Exception) safe() *Exception {
	return &Exception{
		Type:      head(e.Type, 200),
		Message:   head(e.Message, MaxExceptionMessageBytes),
		Traceback: end(e.Traceback, MaxTracebackBytes),
	}
}

package monitor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// network says how many bytes the network of a process has carried, and whose network it is.
func network(proc string, pid int, read *reader) (int64, threshold.NetworkKind) {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	theirs, err := os.Readlink(filepath.Join(dir, "ns", "net"))
	if err != nil {
		return 0, threshold.NetworkUnknown
	}
	ours, err := os.Readlink(filepath.Join(proc, "self", "ns", "net"))
	if err != nil {
		return 0, threshold.NetworkUnknown
	}
	carried, interfaces, ok := parseNetDev(read.file(filepath.Join(dir, "net", "dev")))
	switch {
	case !ok:
		return 0, threshold.NetworkUnknown
	case theirs == ours:
		return carried, threshold.NetworkShared
	case interfaces == 0:
		return 0, threshold.NetworkNone
	default:
		return carried, threshold.NetworkOwn
	}
}

// parseNetDev adds up what all interfaces but the loopback have received and sent.
func parseNetDev(text []byte) (carried int64, interfaces int, ok bool) {
	const received, sent = 0, 8
	for line := range bytes.Lines(text) {
		name, figures, found := bytes.Cut(line, []byte(":"))
		if !found {
			ok = ok || bytes.Contains(line, []byte("bytes")) // the headings
			continue
		}
		fields := bytes.Fields(figures)
		if string(bytes.TrimSpace(name)) == "lo" || len(fields) <= sent {
			continue
		}
		interfaces++
		for _, i := range []int{received, sent} {
			if n, numeric := parseInt(fields[i]); numeric {
				carried += n
			}
		}
	}
	return carried, interfaces, ok
}

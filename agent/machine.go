package agent

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// memory is what /proc/meminfo says, in bytes; zero where it says nothing.
type memory struct{ total, available int64 }

func readMemory() memory {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return memory{}
	}
	defer f.Close()
	return parseMemory(f)
}

func parseMemory(r io.Reader) (m memory) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 53)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			m.total = kilobytes << 10
		case "MemAvailable:":
			m.available = kilobytes << 10
		}
	}
	return m
}

package monitor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// process is one process as the table of processes has it.
type process struct {
	parent  int
	started uint64 // in ticks since boot: with the ID it tells a process from a later one
	ticks   int64  // processor time of the process and of its children that it waited for
	rss     int64  // bytes
}

// table is all processes at one moment, with their children.
type table struct {
	processes map[int]process
	children  map[int][]int
}

// ticksPerSecond is what /proc counts processor time in: USER_HZ, which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// readTable reads the table of processes once, for all sandboxes. Those that vanish meanwhile are left out.
func readTable(proc string, read *reader) (*table, error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	t := &table{processes: make(map[int]process, len(names)), children: make(map[int][]int, len(names))}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, ok := parseStat(read.file(filepath.Join(proc, name, "stat")))
		if !ok {
			continue
		}
		t.processes[pid] = p
		t.children[p.parent] = append(t.children[p.parent], pid)
	}
	return t, nil
}

// parseStat reads what follows the name in brackets; the name may hold anything.
func parseStat(stat []byte) (p process, ok bool) {
	const parent, utime, cstime, started, resident = 1, 11, 14, 19, 21
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	for i := 0; i <= resident; i++ {
		rest = bytes.TrimLeft(rest, " ")
		field := rest
		if end := bytes.IndexByte(rest, ' '); end >= 0 {
			field, rest = rest[:end], rest[end:]
		} else {
			rest = nil
		}
		if i == 0 {
			continue // the state is a letter
		}
		n, numeric := parseInt(field)
		if !numeric {
			return process{}, false
		}
		switch {
		case i == parent:
			p.parent = int(n)
		case i >= utime && i <= cstime:
			p.ticks += n
		case i == started:
			p.started = uint64(n)
		case i == resident:
			p.rss = n * int64(os.Getpagesize())
		}
	}
	return p, true
}

// parseInt reads a decimal number without making a string of it: the table has thousands.
func parseInt(text []byte) (n int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 20 {
		return 0, false
	}
	var value uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + uint64(c-'0')
	}
	n = int64(min(value, 1<<63-1)) // limits of 2^64-1 stand for none
	if negative {
		n = -n
	}
	return n, true
}

// tree is what a process and its descendants come to.
type tree struct {
	pids   []int
	ticks  int64
	memory int64 // bytes, as if all processes began as the smallest and still shared that
	bound  int64 // bytes, as if no processes shared anything
}

// below sums up a process and its descendants. Its memory is right where all of them are forks of the smallest, and too little where
// some have started other programs: their memory is somewhere between that and the bound.
func (t *table) below(root int) (sum tree) {
	if _, there := t.processes[root]; !there {
		return tree{}
	}
	sum.pids = append(sum.pids, root)
	smallest := int64(-1)
	for i := 0; i < len(sum.pids); i++ {
		p := t.processes[sum.pids[i]]
		sum.pids = append(sum.pids, t.children[sum.pids[i]]...)
		sum.ticks += p.ticks
		sum.bound += p.rss
		if p.rss > 0 && (smallest < 0 || p.rss < smallest) { // a zombie has none
			smallest = p.rss
		}
	}
	sum.memory = sum.bound
	if smallest > 0 {
		shared := int64(-1)
		for _, pid := range sum.pids {
			if t.processes[pid].rss > 0 {
				shared++
			}
		}
		sum.memory -= shared * smallest
	}
	return sum
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/canonical"
)

const (
	// maxControlLine is the longest line of a file of controls, in bytes: an input and an answer of the largest size, and what stands around them.
	maxControlLine = 160 << 10
	// maxControlsFile is the largest file of controls, in bytes: what a request takes of them, and as much white space.
	maxControlsFile = 2 << 20
	// maxControls is how many a job may bring: submit.MaxControls, which only servers have.
	maxControls = 1000
)

// controlsUsage is what --controls does.
const controlsUsage = "a file of shards with known answers, one JSON object a line: {\"input\": …, \"output\": …}, or {\"shard\": 7, \"output_sha256\": \"…\"}; they are mixed in where no agent can tell"

// readControls reads a file of controls; an empty name is none.
func readControls(name string) ([]client.Control, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usageError("--controls: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	list, err := parseControls(io.LimitReader(file, maxControlsFile+1))
	if err != nil {
		return nil, usageError("--controls %s: %v", name, err)
	}
	return list, nil
}

var errNoControls = errors.New(`there are none: write one JSON object a line, for example {"input": {"n": 7}, "output": 49}`)

func parseControls(r io.Reader) (list []client.Control, err error) {
	lines, number := bufio.NewScanner(r), 1
	lines.Buffer(make([]byte, 0, 4096), maxControlLine)
	read := 0
	for ; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if read += len(lines.Bytes()) + 1; read > maxControlsFile {
			return nil, fmt.Errorf("it has more than %d bytes: give digests (output_sha256) in the place of answers, or fewer controls", maxControlsFile)
		}
		if len(line) == 0 {
			continue
		}
		c, err := parseControl(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf(`line %d is no control (%w): write an object of input or shard, and output or output_sha256, for example {"input": {"n": 7}, "output": 49}`, number, err)
		case len(list) == maxControls:
			return nil, fmt.Errorf("line %d is one control more than the %d that a job may bring", number, maxControls)
		}
		list = append(list, c)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d has more than %d bytes; give a digest (output_sha256) in the place of the answer", number, maxControlLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", number, err)
	case len(list) == 0:
		return nil, errNoControls
	}
	return list, nil
}

// parseControl reads one control. What is wrong with its values as such is said here, where the line is known.
func parseControl(line []byte) (c client.Control, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.Clone(line))) // what it makes of raw JSON refers to these bytes
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, end := d.Token(); !errors.Is(end, io.EOF) {
		return c, errors.New("text stands behind the object")
	}
	switch {
	case c.Shard != nil && *c.Shard < 0:
		return c, fmt.Errorf("there is no shard %d: they are numbered from 0", *c.Shard)
	case c.OutputSha256 != "" && !canonical.IsDigest(c.OutputSha256):
		return c, errors.New("output_sha256 is no SHA-256 of 64 lower-case hexadecimal characters")
	}
	return c, nil
}

// controlsText says what became of the controls of a job.
func controlsText(c *client.JobControls) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d given, %d right", c.Given, c.Total, c.Right)
	if c.Given == c.Total {
		text = fmt.Sprintf("%d given, %d right", c.Given, c.Right)
	}
	return text + furtherCounts(counted{c.Wrong, "answered wrong by somebody"}, counted{c.Void, "void: owners agree on other answers than the known ones"},
		counted{c.Unsettled, "found nothing out"})
}

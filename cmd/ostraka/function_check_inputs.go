package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/determinism"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// checkedFile is a file of --file, as a project would have it.
type checkedFile struct {
	localFile
	digest string
}

// checkedFiles are in the order of their names, as a job over a prefix has them. nil: the shards have no files.
type checkedFiles []checkedFile

// findFiles reads --file.
func (o *functionCheckOptions) findFiles(ctx context.Context) (files checkedFiles, err error) {
	for _, text := range o.files {
		name, path, named := strings.Cut(text, "=")
		if !named {
			name, path = "", text
		}
		found, _, err := filesToPut(path, name)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("--file %s: %w", text, err)}
		}
		for _, f := range found {
			digest, err := digestOfFile(ctx, f.path)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", f.path, err)
			}
			files = append(files, checkedFile{f, digest})
		}
	}
	slices.SortFunc(files, func(a, b checkedFile) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(files); i++ {
		if files[i].name == files[i-1].name {
			return nil, usageError("--file: %s and %s have both the name %s", files[i-1].path, files[i].path, files[i].name)
		}
	}
	return files, nil
}

// samples cuts the files into shards, by the manifest that a job would have.
func (c checkedFiles) samples(perShard int64, most int) ([]determinism.Sample, error) {
	var manifest []byte
	for _, f := range c {
		var err error
		if manifest, err = partition.AppendEntry(manifest, f.name, f.digest, f.size); err != nil {
			return nil, err
		}
	}
	spec := partition.Objects{Manifest: canonical.Digest(manifest), PerShard: perShard}
	if err := spec.Validate(); err != nil {
		return nil, badInput("--per-shard", err)
	}
	return readSamples(partition.NewObjectReader(bytes.NewReader(manifest), spec), "--file", most)
}

// open finds a file by its digest.
func (c checkedFiles) open(_ context.Context, f inputfile.File) (io.ReadCloser, error) {
	i := slices.IndexFunc(c, func(have checkedFile) bool { return have.digest == f.Digest })
	if i < 0 {
		return nil, fmt.Errorf("no --file has the digest %s", f.Digest)
	}
	return os.Open(c[i].path)
}

// filesSession lays the files of each shard down before it runs, as an agent does.
type filesSession struct {
	isolation.Session
	files checkedFiles
}

// Run implements determinism.Session.
func (s *filesSession) Run(ctx context.Context, shard int64, input []byte) (harness.Result, error) {
	files, err := inputfile.Parse(input)
	if err == nil {
		err = s.Inputs().Replace(ctx, files, s.files.open)
	}
	if err != nil {
		return harness.Result{}, fmt.Errorf("laying the files of shard %d down: %w", shard, err)
	}
	return s.Session.Run(ctx, shard, input)
}

// samplesOfLines cuts a text into shards.
func (o *functionCheckOptions) samplesOfLines() ([]determinism.Sample, error) {
	in := o.terminal.in
	if o.lines != "-" {
		file, err := os.Open(o.lines)
		if err != nil {
			return nil, usageError("reading the lines: %w", err)
		}
		defer file.Close()
		in = file
	}
	spec, err := linesSpec(o.shardSize, o.shardText)
	if err != nil {
		return nil, err
	}
	return readSamples(partition.NewLineReader(in, spec), o.lines, o.sample)
}

// linesSpec reads --shard-size and --shard-bytes as the server reads them.
func linesSpec(lines, size string) (partition.Lines, error) {
	text := fmt.Sprintf(`{"kind":"lines","object":%q,"lines":%q}`, canonical.Digest(nil), lines)
	flag := "--shard-size"
	if size != "" {
		text, flag = fmt.Sprintf(`{"kind":"lines","object":%q,"bytes":%q}`, canonical.Digest(nil), size), "--shard-bytes"
	}
	var spec partition.Spec
	err := spec.UnmarshalJSON([]byte(text))
	if err == nil {
		err = spec.Validate()
	}
	if err != nil {
		return partition.Lines{}, badInput(flag, err)
	}
	return spec.Lines, nil
}

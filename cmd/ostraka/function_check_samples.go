package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/determinism"
	"github.com/ostraka/ostraka/runtime/harness"
)

// checkFile is the file in a function's folder that holds inputs to check it with.
const checkFile = "check.jsonl"

// triedRangeSize is the size of the ranges that are tried where no inputs are given.
const triedRangeSize = 100

// samples finds the shards to run.
func (o *functionCheckOptions) samples(ctx context.Context, open determinism.Opener, files checkedFiles) ([]determinism.Sample, error) {
	switch {
	case len(o.files) > 0:
		return files.samples(o.perShard, o.sample)
	case o.lines != "":
		return o.samplesOfLines()
	case len(o.grid) > 0:
		grid, err := readGrid(o.grid)
		if err != nil {
			return nil, err
		}
		return spread(grid.Count(), o.sample, grid.Input), nil
	case o.rangeText != "":
		return rangeSamples(o.rangeText, o.shardSize, o.sample)
	case o.input == "-":
		return o.lineSamples(o.terminal.in, "stdin")
	case o.input != "":
		return o.fileSamples(o.input)
	}
	found, err := o.fileSamples(filepath.Join(o.folder, checkFile))
	if !errors.Is(err, fs.ErrNotExist) && !isNoFolder(o.folder) {
		return found, err
	}
	return o.trySamples(ctx, open)
}

// isNoFolder tells a single file, which has no files beside it that are its own.
func isNoFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// rangeSamples takes shards from all over the range, the first and the last among them.
func rangeSamples(text, size string, most int) ([]determinism.Sample, error) {
	if _, err := parseRange(text, size); err != nil {
		return nil, err // with advice
	}
	r, err := partition.ParseRange(text, size)
	if err != nil {
		return nil, err
	}
	return spread(r.Count(), most, r.Input), nil
}

// spread takes shards from all over a partition, the first and the last among them.
func spread(count int64, most int, input func(int64) []byte) []determinism.Sample {
	n := min(int64(most), count)
	samples := make([]determinism.Sample, n)
	for i := range n {
		shard := int64(0)
		if n > 1 {
			shard = i * ((count - 1) / (n - 1))
			if i == n-1 {
				shard = count - 1
			}
		}
		samples[i] = determinism.Sample{Shard: shard, Input: input(shard)}
	}
	return samples
}

func (o *functionCheckOptions) fileSamples(path string) ([]determinism.Sample, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usageError("reading the inputs: %w", err)
	}
	defer file.Close()
	return o.lineSamples(file, path)
}

// lineSamples reads one value a line. Each is a shard, or several are where --shard-size says so or the function takes items.
func (o *functionCheckOptions) lineSamples(in io.Reader, name string) ([]determinism.Sample, error) {
	spec := partition.Spec{Kind: partition.KindItems}
	if o.perItem {
		spec.Size = 1 // so that the inputs of shards that differ are small
	}
	if o.shardSize != "" {
		size, err := strconv.ParseInt(o.shardSize, 10, 64)
		if err != nil || size < 1 || size > partition.MaxItemsPerShard {
			return nil, usageError("--shard-size %s: give 1 to %d values a shard", o.shardSize, partition.MaxItemsPerShard)
		}
		spec.Size = size
	}
	return readSamples(spec.Read(in), name, o.sample)
}

// readSamples takes shards from all over a file, the first among them, without holding more than twice what is wanted.
func readSamples(items partition.Reader, name string, most int) (samples []determinism.Sample, err error) {
	for every := int64(1); ; {
		item, err := items.Next()
		if errors.Is(err, io.EOF) {
			return samples[:min(len(samples), most)], nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the inputs from %s: %w", name, err)
		}
		shard := items.Count() - 1
		if shard%every != 0 {
			continue
		}
		samples = append(samples, determinism.Sample{Shard: shard, Input: bytes.Clone(item)})
		if len(samples) == 2*most {
			samples, every = everySecond(samples), 2*every
		}
	}
}

func everySecond(samples []determinism.Sample) []determinism.Sample {
	kept := samples[:0]
	for n := 0; n < len(samples); n += 2 {
		kept = append(kept, samples[n])
	}
	return kept
}

// madeUp gives every shard an input that is made from its number.
func (o *functionCheckOptions) madeUp(input func(n int) string) []determinism.Sample {
	samples := make([]determinism.Sample, o.sample)
	for n := range samples {
		text := input(n)
		if o.perItem {
			text = "[" + text + "]"
		}
		samples[n] = determinism.Sample{Shard: int64(n), Input: []byte(text)}
	}
	return samples
}

// trySamples makes inputs up, of the kind that the function understands first.
func (o *functionCheckOptions) trySamples(ctx context.Context, open determinism.Opener) ([]determinism.Sample, error) {
	numbers := o.madeUp(strconv.Itoa)
	ranges, err := rangeSamples(fmt.Sprintf("0:%d", o.sample*triedRangeSize), strconv.Itoa(triedRangeSize), o.sample)
	if err != nil {
		return nil, err
	}
	for _, tried := range []struct {
		what    string
		samples []determinism.Sample
	}{
		{"numbers from 0", numbers},
		{"ranges of " + strconv.Itoa(triedRangeSize) + " from 0", ranges},
		{"texts of digits", o.madeUp(func(n int) string { return strconv.Quote(strconv.Itoa(n)) })},
		{"empty objects", o.madeUp(func(int) string { return "{}" })},
	} {
		understood, err := understands(ctx, open, tried.samples[0])
		if err != nil {
			return nil, err
		}
		if understood {
			o.terminal.say("no inputs are given, so %s are tried; say better ones with --range, --input or a file %s in the folder", tried.what, checkFile)
			return tried.samples, nil
		}
	}
	o.terminal.say("no inputs are given, and the function understands none that were made up: give some with --range, --input or a file %s in the folder", checkFile)
	return numbers, nil
}

// understands tells whether the function makes something of an input.
func understands(ctx context.Context, open determinism.Opener, sample determinism.Sample) (bool, error) {
	session, err := open(ctx, harness.Settings{})
	if err != nil {
		return false, err
	}
	result, err := session.Run(ctx, sample.Shard, sample.Input)
	return result.Status == harness.StatusOK, errors.Join(err, session.Close())
}

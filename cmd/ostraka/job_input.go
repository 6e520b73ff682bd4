package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions/partition"
)

// inputFlags say over what a job runs.
type inputFlags struct {
	rangeText  string
	items      string
	lines      string
	grid       []string
	shardSize  string
	shardBytes string
	prefix     string // of files; "": see anyPrefix
	anyPrefix  bool   // --objects-prefix was given
	manifest   string
	fromJob    string
	perShard   string

	flags    *pflag.FlagSet
	terminal *terminal
}

func (o *inputFlags) register(t *terminal, f *pflag.FlagSet) {
	o.terminal = t
	f.StringVar(&o.rangeText, "range", "", "FROM:TO, without TO itself; 2^64 and 2^64+10^6 are understood")
	f.StringVar(&o.items, "items", "", "file of one JSON value a line, each a shard; - is stdin")
	f.StringVar(&o.lines, "lines", "", "text file, gzip or not, of whose lines --shard-size make a shard; - is stdin")
	f.StringArrayVar(&o.grid, "grid", nil, gridUsage)
	f.StringVar(&o.shardSize, "shard-size", "", "how many integers of the range, lines of the file, or items make a shard; chosen when left out, but each of the items is a shard unless the function takes items")
	f.StringVar(&o.prefix, "objects-prefix", "", "over the project's files whose names begin so, each a shard; an empty text is every file")
	f.StringVar(&o.manifest, "objects-manifest", "", `file of one file or object a line, as "NAME" or {"name":…,"digest":…}; - is stdin`)
	f.StringVar(&o.fromJob, "from-job", "", "over the accepted outputs of this job, which has finished, each a shard")
	f.StringVar(&o.perShard, "per-shard", "", "how many files make a shard, with --objects-prefix or --objects-manifest; the input is then a list")
	o.flags = f
	f.StringVar(&o.shardBytes, "shard-bytes", "", "how many bytes of whole --lines make a shard, instead of --shard-size")
}

// store stores the file that the job runs over, if it is one, and names it in the partition, or else the job whose outputs are its input.
func (o *inputFlags) store(ctx context.Context, t *terminal, c *connection, p *client.Partition) error {
	if o.fromJob != "" {
		return o.takeSource(ctx, c, p)
	}
	file := o.items + o.lines + o.manifest // one of them at most: see partition
	if file == "" {
		return nil
	}
	object, err := putFile(ctx, t, c, file)
	if err != nil {
		return err
	}
	if o.manifest != "" {
		p.Manifest = object.Value.Digest
	} else {
		p.Object = object.Value.Digest
	}
	return nil
}

// takeSource names the job whose outputs the job runs over.
func (o *inputFlags) takeSource(ctx context.Context, c *connection, p *client.Partition) error {
	reference, err := parseJobReference(o.fromJob)
	if err != nil {
		return err
	}
	id, err := reference.find(ctx, c)
	if err == nil {
		p.Job = &id
	}
	return err
}

// partition reads the flags. The digest of a file is added when it is stored.
func (o *inputFlags) partition() (p client.Partition, err error) {
	o.anyPrefix = o.flags.Changed("objects-prefix")
	files := o.anyPrefix || o.manifest != ""
	given := 0
	for _, flag := range []bool{o.rangeText != "", o.items != "", o.lines != "", len(o.grid) > 0, o.anyPrefix, o.manifest != "", o.fromJob != ""} {
		if flag {
			given++
		}
	}
	switch {
	case given != 1:
		return p, usageError("over what? give one of --range FROM:TO, --items FILE, --lines FILE, --grid NAME=[VALUE,...], --objects-prefix PREFIX, --objects-manifest FILE and --from-job JOB")
	case o.shardSize != "" && o.rangeText == "" && o.lines == "" && o.items == "" && o.fromJob == "":
		return p, usageError("--shard-size is for a --range, --lines, --items and --from-job: each combination of a grid is a shard")
	case o.perShard != "" && !files:
		return p, usageError("--per-shard is for --objects-prefix and --objects-manifest")
	case files:
		return o.objects(), nil
	case o.shardBytes != "" && o.lines == "":
		return p, usageError("--shard-bytes is for --lines")
	case o.shardSize != "" && o.shardBytes != "":
		return p, usageError("--shard-size and --shard-bytes both say how many lines make a shard: give one of them")
	case o.rangeText != "":
		return o.ofRange()
	case len(o.grid) > 0:
		return parseGrid(o.grid)
	case o.lines != "":
		return o.ofLines(), nil
	default:
		return client.Partition{Kind: client.PartitionKindItems, Size: o.shardSize}, nil
	}
}

// ofRange is a partition of a range, into shards of a size that the server chooses where none is given.
func (o *inputFlags) ofRange() (client.Partition, error) {
	if o.shardSize != "" {
		return parseRange(o.rangeText, o.shardSize)
	}
	size, err := chooseSize(o.rangeText)
	if err != nil {
		return client.Partition{}, err
	}
	p, err := parseRange(o.rangeText, size)
	p.Size = ""
	return p, err
}

// told says how large shards are, of a size that was chosen.
func (o *inputFlags) told(p client.Partition) {
	if o.shardSize != "" || o.shardBytes != "" {
		return
	}
	switch {
	case p.Kind == client.PartitionKindRange:
		o.terminal.say("shards of %s each; --shard-size says otherwise: 1 to 10 seconds of work are good", countOf(p.Size, "integer"))
	case p.Kind == client.PartitionKindLines && p.Bytes != "":
		o.terminal.say("shards of whole lines, up to %s bytes each; --shard-size and --shard-bytes say otherwise", p.Bytes)
	case p.Kind == client.PartitionKindItems && p.Size != "":
		o.terminal.say("shards of up to %s each; --shard-size says otherwise: 1 to 10 seconds of work are good", countOf(p.Size, "item"))
	}
}

// countOf puts a noun to a number of any size.
func countOf(n, noun string) string {
	if n == "1" {
		return n + " " + noun
	}
	return n + " " + noun + "s"
}

// ofLines is a partition of a text, into shards of as many lines as the server chooses where nothing is given.
func (o *inputFlags) ofLines() client.Partition {
	return client.Partition{Kind: client.PartitionKindLines, Lines: o.shardSize, Bytes: o.shardBytes}
}

// objects is a partition of files; the server checks it.
func (o *inputFlags) objects() client.Partition {
	p := client.Partition{Kind: client.PartitionKindObjects, PerShard: o.perShard}
	if o.anyPrefix {
		p.Prefix = &o.prefix
	}
	return p
}

// parseRange reads --range and --shard-size.
func parseRange(text, size string) (client.Partition, error) {
	r, err := partition.ParseRange(text, size)
	if err != nil {
		return client.Partition{}, badInput("--range", err)
	}
	return client.Partition{Kind: client.PartitionKindRange, From: r.From.String(), To: r.To.String(), Size: r.Size.String()}, nil
}

// chooseSize is a size for the shards of a range.
func chooseSize(rangeText string) (string, error) {
	r, err := partition.ParseRangeOfAnySize(rangeText)
	if err != nil {
		return "", badInput("--range", err)
	}
	return r.Size.String(), nil
}

// badInput says what is wrong with a flag.
func badInput(flag string, err error) error {
	var refused *partition.Error
	if errors.As(err, &refused) {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: %s", flag, refused.Detail), hint: refused.Hint}
	}
	return usageError("%s: %w", flag, err)
}

func parseGrid(flags []string) (client.Partition, error) {
	grid, err := readGrid(flags)
	if err != nil {
		return client.Partition{}, err
	}
	p := client.Partition{Kind: client.PartitionKindGrid}
	for _, a := range grid.Axes {
		p.Axes = append(p.Axes, client.Axis{Name: a.Name, Values: a.Values})
	}
	return p, nil
}

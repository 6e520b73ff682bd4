package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/volume"
)

// supervisorArgument is how our program knows that it is process 1 of a
// container. It is no command for people.
const supervisorArgument = "__ostraka-recheck"

// writerArgument replaces the level in the arguments of the process that writes the bundle.
const writerArgument = "write-bundle"

// treeFile describes the interpreter of an image.
const treeFile = "/ostraka.json"

// supervisorHeap is what the supervisor's heap may grow to before it is
// collected whatever it costs: inputs and outputs of 16 MiB pass through it.
const supervisorHeap = 64 << 20

// MaybeSupervise turns this process into the first one of a container, or into
// the one that writes its bundle, and never returns, if it was started as one;
// otherwise it does nothing. It must be
// called in main right after linux.MaybeLaunch.
func MaybeSupervise() {
	if len(os.Args) != 3 || os.Args[1] != supervisorArgument {
		return
	}
	debug.SetMemoryLimit(supervisorHeap)
	// No process inside can send it a signal that it heeds: the kernel drops those that
	// process 1 leaves alone, and Go's own handlers would end it.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE, syscall.SIGABRT)
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	var err error
	if os.Args[2] == writerArgument {
		if err = writeBundle(in, out); err == nil {
			unix.Exit(0) // at once: os.Exit waits for a second where races are looked for, and the function waits for the end of this process
		}
	} else {
		err = supervise(bundle.Isolation(os.Args[2]), in, out)
	}
	if err != nil {
		_ = writeJSON(out, kindFailed, failure{Message: err.Error()}) // there may be no reader left
		_ = out.Flush()
		os.Exit(1) //nolint:forbidigo // the process is the supervisor: its main must go no further
	}
	os.Exit(0) //nolint:forbidigo // as above
}

// supervise waits for a batch, with the interpreter loaded, and serves it and others of its function.
func supervise(level bundle.Isolation, in io.Reader, out *bufio.Writer) error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding from functions: %w", err)
	}
	tree, err := readTree()
	if err != nil {
		return err
	}
	runner, err := linux.New(linux.Config{Python: tree, Level: level})
	if err != nil {
		return err
	}
	ctx := context.Background() // to end it, the server ends the container
	sandbox, err := runner.Load(ctx)
	if err != nil {
		return err
	}
	err = say(out, kindReady, ready{Landlock: runner.Landlock()})
	if err == nil {
		err = serveBatches(ctx, sandbox, level, in, out)
	}
	if errors.Is(err, io.EOF) {
		err = nil // no batch came, or none comes any more
	}
	return errors.Join(err, sandbox.Close())
}

// serveBatches imports the function and runs its shards.
func serveBatches(ctx context.Context, sandbox *linux.Sandbox, level bundle.Isolation, in io.Reader, out *bufio.Writer) error {
	b, j, err := readJob(in)
	if err != nil {
		return err
	}
	if j.Settings.Volumes, err = findVolumes(level, j.Volumes); err != nil {
		return err
	}
	err = sandbox.Import(ctx, b, j.Settings)
	if err = errors.Join(err, volume.CloseAll(j.Settings.Volumes)); err != nil { // they stay mounted
		return err
	}
	err = say(out, kindOpen, struct{}{})
	for err == nil {
		err = serve(ctx, sandbox, b.Digest, in, out)
	}
	return err
}

// rest stops the function until the next batch comes. One that cannot be stopped ends the container.
func rest(sandbox *linux.Sandbox, digest string, in io.Reader, out *bufio.Writer) error {
	if !sandbox.Rest() {
		return errNoRest
	}
	if err := say(out, kindRest, struct{}{}); err != nil {
		return err
	}
	_, data, err := readMessage(in, kindNext)
	if err != nil {
		return err
	}
	var next job
	if err := json.Unmarshal(data, &next); err != nil {
		return fmt.Errorf("reading the next job: %w", err)
	}
	if next.Digest != digest {
		return errors.New("the next job is of another bundle")
	}
	return sandbox.Wake(next.Settings.Job)
}

// errNoRest is no fault: a function whose import has failed has nothing that could rest, for one.
var errNoRest = errors.New("the function cannot be stopped between batches")

// writeBundle writes the bundle of a container, as a user that the function does not have.
func writeBundle(in io.Reader, out *bufio.Writer) error {
	if err := say(out, kindReady, ready{}); err != nil {
		return err
	}
	b, _, err := readJob(in)
	if errors.Is(err, io.EOF) {
		return nil // there will be none
	}
	if err != nil {
		return err
	}
	if err := b.Unpack(linux.ContainerMounts(b.Manifest).Bundle); err != nil {
		return err
	}
	return say(out, kindOpen, struct{}{})
}

// serve runs one shard, or rests; io.EOF means that there is nothing to do any more.
func serve(ctx context.Context, sandbox *linux.Sandbox, digest string, in io.Reader, out *bufio.Writer) error {
	kind, data, err := readMessage(in, kindShard, kindFiles, kindRest)
	if err != nil {
		return err
	}
	if kind == kindRest {
		return rest(sandbox, digest, in, out)
	}
	if kind == kindFiles {
		if err := takeFiles(ctx, sandbox, data, in); err != nil {
			return err
		}
		if _, data, err = readMessage(in, kindShard); err != nil {
			return fmt.Errorf("reading the shard of some files: %w", err)
		}
	}
	if len(data) < 8 {
		return errors.New("a shard came without its number")
	}
	result, err := sandbox.Run(ctx, int64(binary.BigEndian.Uint64(data)), data[8:])
	if err != nil {
		return err
	}
	if err := writeResult(out, result); err != nil {
		return err
	}
	return out.Flush()
}

func say(out *bufio.Writer, kind byte, message any) error {
	if err := writeJSON(out, kind, message); err != nil {
		return err
	}
	return out.Flush()
}

func readTree() (t python.Tree, err error) {
	data, err := os.ReadFile(treeFile)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return python.Tree{}, fmt.Errorf("reading what the image says of its interpreter: %w", err)
	}
	return t, nil
}

func readJob(in io.Reader) (*bundle.Bundle, job, error) {
	_, data, err := readMessage(in, kindJob)
	if err != nil {
		return nil, job{}, err
	}
	var j job
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, job{}, fmt.Errorf("reading a job: %w", err)
	}
	_, archive, err := readMessage(in, kindBundle)
	if err != nil {
		return nil, job{}, fmt.Errorf("reading a bundle: %w", err)
	}
	b, err := bundle.Verify(bytes.NewReader(archive), int64(len(archive)))
	if err == nil && b.Digest != j.Digest {
		err = errors.New("it is another one than announced")
	}
	if err != nil {
		return nil, job{}, fmt.Errorf("reading a bundle: %w", err)
	}
	return b, j, nil
}

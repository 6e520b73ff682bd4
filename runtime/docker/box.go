//go:build linux

package docker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

const (
	// startTime is how long the daemon may take to make and start one container;
	// it takes a tenth of a second, a third with gVisor.
	startTime = 2 * time.Minute
	// removeTime is how long it may take to remove one.
	removeTime = time.Minute
	// endTime is how long it may take to notice that one has ended.
	endTime = 5 * time.Second
	// aroundShard is how long ending a shard that does not want to end may take, and starting the interpreter again, beyond its own time.
	aroundShard = time.Minute

	// firstUser begins a range of user numbers that nothing else uses; agents' sandboxes have those below.
	firstUser = 1_900_100_000
	users     = 1_000_000
	// remappedUser is the user where the daemon has only the first 65,536 to give.
	firstRemapped, remapped = 60_000, 4_000
)

// box is a container that waits for a batch, or rests between two of one function.
type box struct {
	e      *engine
	id     string
	shape  shape
	line        // to its supervisor
	writer line // to the process that writes its bundle, and ends with that
	ready  ready
	made   time.Time
	shown  []volume.Identity      // the folders that its function finds
	opened bool                   // it has a function
	killed atomic.Pointer[string] // why we ended it, if we did
}

// newUser chooses a number that no other container has, as good as certainly; the next one is free as well.
func (e *engine) newUser() user {
	if e.remapped {
		return user(firstRemapped + 2*rand.IntN(remapped/2)) //nolint:gosec // it has to differ, not to be secret
	}
	return user(firstUser + 2*rand.IntN(users/2)) //nolint:gosec // as above
}

// start makes a container that shows some folders, and waits until it waits.
func (e *engine) start(ctx context.Context, s shape, folders ...*volume.Folder) (b *box, err error) {
	shown, err := identities(folders)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errSlow)
	defer cancel()
	u := e.newUser()
	// A caller that hangs up now would never learn which container to remove.
	whole, done := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer done()
	made, err := e.client.ContainerCreate(whole, &container.Config{
		Image: cmp.Or(s.image, e.image), Entrypoint: []string{supervisorPath}, Cmd: []string{supervisorArgument, string(e.level)},
		User: u.String(), Hostname: "sandbox", WorkingDir: "/", Env: []string{},
		AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true,
		Labels: map[string]string{labelOurs: "1", labelInstallation: e.cfg.Installation, labelMachine: e.owner.machine, labelOwner: e.owner.process},
	}, e.hostConfig(s, u, folders...), nil, nil, "")
	if err != nil {
		return nil, fmt.Errorf("making a container: %w", err)
	}
	b = &box{e: e, id: made.ID, shape: s, made: time.Now(), shown: shown}
	if err := b.open(ctx, u); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a container: %w", b.explain(err)), b.Close())
	}
	return b, nil
}

// open starts both processes of a container, and returns when they wait.
func (b *box) open(ctx context.Context, u user) error {
	conn, err := b.e.client.ContainerAttach(ctx, b.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	b.line = newLine(conn)
	if err := b.e.client.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return err
	}
	if err := b.openWriter(ctx, u.writer()); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, b.hangUp)()
	_, err = b.writer.read(kindReady)
	if err == nil {
		err = b.readReady()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return b.reason(err)
}

func (b *box) readReady() error {
	data, err := b.read(kindReady)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &b.ready)
}

// reason is why the supervisor gave up, where it says that it did: what else goes wrong follows from it.
func (b *box) reason(err error) error {
	if err == nil || !isLost(err) || b.conn.Conn.SetReadDeadline(time.Now().Add(endTime)) != nil {
		return err
	}
	var up *givenUp
	if _, said := b.read(kindFailed); errors.As(said, &up) {
		return said
	}
	return err
}

// openWriter starts the process that will write the bundle. Nothing of a stranger is in the container yet, and nothing is started in one
// that has run something of a stranger.
func (b *box) openWriter(ctx context.Context, u user) error {
	made, err := b.e.client.ContainerExecCreate(ctx, b.id, container.ExecOptions{
		User: u.String(), Cmd: []string{supervisorPath, supervisorArgument, writerArgument}, AttachStdin: true, AttachStdout: true, AttachStderr: true, WorkingDir: "/",
	})
	if err != nil {
		return err
	}
	conn, err := b.e.client.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return err
	}
	b.writer = newLine(conn)
	return nil
}

// run executes a batch. The results before an error are good.
func (b *box) run(ctx context.Context, batch recheck.Batch) (results []harness.Result, err error) {
	stop := context.AfterFunc(ctx, func() { b.kill("the batch was called off") })
	defer stop()
	first := !b.opened
	if first {
		if err := b.layBundle(batch.Bundle); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, b.explain(fmt.Errorf("laying out the bundle: %w", err))
		}
	}
	b.opened = true
	sent := make(chan error, 1)
	go func() {
		err := b.send(ctx, batch, first)
		if err != nil {
			b.hangUp() // so that nothing waits for the rest
		}
		sent <- err
	}()
	results, err = b.receive(batch, first)
	if err != nil {
		b.hangUp() // so that the sender ends
	}
	sendErr := <-sent
	switch {
	case ctx.Err() != nil:
		return results, context.Cause(ctx)
	case errors.Is(sendErr, errFiles):
		return results, &recheck.Error{Class: recheck.Broken, Err: sendErr, Hint: "see whether the object store answers"}
	case err != nil:
		return results, b.explain(err)
	}
	return results, b.explain(sendErr)
}

// layBundle has the bundle written by another user than the function has, so that this can change nothing of it.
func (b *box) layBundle(code *bundle.Bundle) error {
	if err := b.writer.conn.Conn.SetDeadline(time.Now().Add(aroundShard)); err != nil {
		return err
	}
	if err := sendBundle(b.writer.conn.Conn, code, job{Digest: code.Digest}); err != nil {
		return err
	}
	if _, err := b.writer.read(kindOpen); err != nil {
		return err
	}
	// The supervisor is about to take up the room that the function must not have: threads of the writer would be in it, and it could start none.
	if err := b.writer.waitForEnd(); err != nil {
		return fmt.Errorf("waiting for its writer to end: %w", err)
	}
	b.writer.hangUp()
	return nil
}

// send writes the whole batch; the container takes one shard after the other.
func (b *box) send(ctx context.Context, batch recheck.Batch, first bool) error {
	w := bufio.NewWriterSize(b.conn.Conn, 64<<10)
	if err := sendJob(w, batch, b.shown, first); err != nil {
		return err
	}
	for _, s := range batch.Shards {
		if len(s.Files) > 0 {
			if err := sendFiles(ctx, w, s.Files, batch.Open); err != nil {
				return err
			}
		}
		if err := writeMessage(w, kindShard, binary.BigEndian.AppendUint64(nil, uint64(s.Number)), s.Input); err != nil {
			return err
		}
	}
	return w.Flush()
}

// sendJob says what to run; the first time with all of its code.
func sendJob(w io.Writer, batch recheck.Batch, shown []volume.Identity, first bool) error {
	j := job{Digest: batch.Bundle.Digest, Settings: batch.Settings(), Volumes: shown}
	if first {
		return sendBundle(w, batch.Bundle, j)
	}
	return writeJSON(w, kindNext, j)
}

// rest has nothing of the function run until the next batch, and says whether that can be relied on.
func (b *box) rest() bool {
	if b.conn.Conn.SetDeadline(time.Now().Add(aroundShard)) != nil || writeMessage(b.conn.Conn, kindRest) != nil {
		return false
	}
	if _, err := b.read(kindRest); err != nil {
		return false
	}
	return b.conn.Conn.SetDeadline(time.Time{}) == nil
}

func (b *box) receive(batch recheck.Batch, first bool) ([]harness.Result, error) {
	limits := batch.Bundle.Manifest.Limits
	patience := time.Duration(limits.WallSeconds)*time.Second + aroundShard
	wait := func() error { return b.conn.Conn.SetReadDeadline(time.Now().Add(patience)) }
	if err := wait(); err != nil {
		return nil, err
	}
	if first {
		if _, err := b.read(kindOpen); err != nil {
			return nil, fmt.Errorf("opening the function: %w", err)
		}
	}
	results := make([]harness.Result, 0, len(batch.Shards))
	for _, s := range batch.Shards {
		if err := wait(); err != nil {
			return results, err
		}
		r, err := readResult(b.out, s.Number, limits)
		if err != nil {
			return results, fmt.Errorf("shard %d: %w", s.Number, err)
		}
		r.Isolation = string(b.e.level)
		results = append(results, r)
		batch.NoteEnd()
	}
	return results, nil
}

// kill ends the container and remembers why: the daemon only tells that
// something killed it. Closing its stdin would end it as well, in its own time.
func (b *box) kill(why string) {
	if !b.killed.CompareAndSwap(nil, &why) {
		return
	}
	b.hangUp()
}

// hangUp closes both lines.
func (b *box) hangUp() {
	b.line.hangUp()
	b.writer.hangUp()
}

// explain finds out why a container said no more.
func (b *box) explain(err error) error {
	var up *givenUp
	switch {
	case err == nil:
		return nil
	case errors.As(err, &up):
		if isFull(up.message) {
			return &recheck.Error{Class: recheck.Full, Err: err, Hint: "make room on the Docker daemon's machine"}
		}
		return &recheck.Error{Class: recheck.Broken, Err: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &recheck.Error{Class: recheck.Slow, Err: fmt.Errorf("%w: %w", errSlow, err), Hint: "see what the Docker daemon's machine is busy with"}
	case !isLost(err):
		return classify(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	b.awaitEnd(ctx)
	state, inspectErr := b.e.client.ContainerInspect(ctx, b.id)
	if inspectErr != nil {
		return crashed(fmt.Errorf("the container was lost: %w, and the daemon does not say why: %w", err, inspectErr))
	}
	err = crashed(fmt.Errorf("the container was lost: %w: %s", err, b.ending(state.State)))
	if b.killed.Load() != nil {
		return err
	}
	return blame(state.State, b.e.level, err)
}

// awaitEnd waits until the daemon knows that the container has ended: a stream may end before. One that continues without the process whose
// stream it was is not waited for any longer.
func (b *box) awaitEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	ended, failed := b.e.client.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	select {
	case <-ended:
	case <-failed: //nolint:errcheck // inspecting it says more
	}
}

// isLost tells whether an error is the end of the stream.
func isLost(err error) bool {
	return errors.Is(err, errWords) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "closed network connection") ||
		strings.Contains(err.Error(), "broken pipe") || strings.Contains(err.Error(), "connection reset")
}

// ending says how a container ended, as the daemon tells and as we know. Exit code 137 alone tells nothing: a signal and a program have it.
func (b *box) ending(s *container.State) string {
	text := fmt.Sprintf("it is %s with exit code %d", s.Status, s.ExitCode)
	if s.OOMKilled {
		text += ", and the kernel has ended a process of it for lack of memory"
	}
	if why := b.killed.Load(); why != nil {
		text += ", and it was ended from here: " + *why
	}
	if s.Error != "" {
		text += ": " + s.Error
	}
	for _, l := range []line{b.line, b.writer} {
		if words := l.words(); words != "" {
			text += ": it said " + words
		}
	}
	return text
}

// Close removes the container, whatever it is doing.
func (b *box) Close() error {
	b.hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	return b.e.remove(ctx, b.id)
}

// holds tells whether functions of this level may ask for so much.
func (e *engine) holds(b *bundle.Bundle) error {
	if !e.level.AtLeast(b.Manifest.MinIsolation) {
		return &recheck.Error{
			Class: recheck.Broken, Err: fmt.Errorf("%s asks for isolation %q, and rechecks have only %q", b.Manifest.Name, b.Manifest.MinIsolation, e.level),
			Hint: "add gVisor (runsc) to the Docker daemon's runtimes",
		}
	}
	return nil
}

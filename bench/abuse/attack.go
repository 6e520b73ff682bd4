package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
)

// attackLimit bounds one attack with all that belongs to it: none takes nearly as long.
const attackLimit = 8 * time.Minute

// options say which attacks are made, and of what size.
type options struct {
	binary, only  string
	short, strict bool
	seed          uint64
}

// attack is something that one participant does, and a look at what it does to another.
type attack struct {
	name string
	run  func(context.Context, *scene) ([]figure, error)
	// tries is how often the harm must show, one time after the other, before it counts: what takes its time from this machine's processors is seen through
	// what else they do. 0 means once.
	tries int
	// known says which point is open when the attack is known to do harm.
	known string
}

// figure is one line of the result.
type figure struct {
	name  string
	value float64
}

// errHarm is what an attack returns when one participant has harmed another. Any other error means that nothing was found out.
var errHarm = errors.New("harm")

func harm(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errHarm, fmt.Sprintf(format, args...))
}

// attacks are all that there are.
func attacks() []attack {
	return []attack{
		{name: "two_lengths", run: twoLengths},
		{name: "malformed_requests", run: malformedRequests},
		{name: "corrupt_gzip", run: corruptGzip},
		{name: "gzip_bomb", run: gzipBomb},
		{name: "objects_without_lease", run: objectsWithoutLease},
		{name: "uploads_abused", run: uploadsAbused},
		{name: "plain_and_half_open", run: plainAndHalfOpen},
		{name: "killed_on_server", run: killedOnServer},
		{name: "enrolment_replayed", run: enrolmentReplayed},
		{name: "enrolment_flood", run: enrolmentFlood},
		{name: "rates_exceeded", run: ratesExceeded},
		{name: "anonymous_bodies", run: anonymousBodies},
		{name: "bodies_that_never_come", run: bodiesThatNeverCome},
		{name: "waiting_polls", run: waitingPolls},
		{name: "event_streams", run: eventStreams},
		{name: "large_job_before_small", run: largeJobBeforeSmall},
		{name: "idle_agent", run: idleAgent},
		{name: "control_flooded", run: controlFlooded},
		{name: "noisy_neighbour", run: noisyNeighbour, tries: 3},
		{name: "rechecks_held", run: rechecksHeld},
	}
}

// verdict is what came of an attack.
type verdict struct {
	attack
	figures []figure
	err     error
	took    time.Duration
}

// attack makes the attacks, one after the other, each on a server of its own.
func (o options) attack(ctx context.Context) (verdicts []verdict, err error) {
	r, err := rig.Open(ctx, o.binary)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, a := range attacks() {
		if !strings.Contains(a.name, o.only) {
			continue
		}
		say("attacking: %s", a.name)
		begin := time.Now()
		figures, err := again(a.tries, func() ([]figure, error) { return o.one(ctx, r, a) })
		v := verdict{a, figures, err, time.Since(begin)}
		v.print(os.Stdout) // at once: the run may be interrupted
		verdicts = append(verdicts, v)
		if ctx.Err() != nil {
			return verdicts, ctx.Err()
		}
	}
	if len(verdicts) == 0 {
		return nil, fmt.Errorf("no attack has %q in its name", o.only)
	}
	return verdicts, nil
}

// again makes an attack until it does no harm, so often at most.
func again(tries int, one func() ([]figure, error)) (figures []figure, err error) {
	for try := 1; ; try++ {
		if figures, err = one(); try >= tries || !errors.Is(err, errHarm) {
			return figures, err
		}
		say("trying it once more: %v", err)
	}
}

func (o options) one(ctx context.Context, r *rig.Rig, a attack) ([]figure, error) {
	ctx, cancel := context.WithTimeout(ctx, attackLimit)
	defer cancel()
	s, err := o.open(ctx, r, a.name)
	if err != nil {
		return nil, err
	}
	figures, err := a.run(ctx, s)
	if err == nil {
		err = s.crowd.err()
	}
	if err != nil && !errors.Is(err, errHarm) {
		err = fmt.Errorf("%w; the server says: %s", err, s.server.Said())
	}
	return figures, errors.Join(err, s.close())
}

// print writes the figures of an attack, and whether it did no harm.
func (v verdict) print(w io.Writer) {
	for _, f := range v.figures {
		fmt.Fprintf(w, "%s %.4g\n", f.name, f.value)
	}
	held := 1
	if v.err != nil {
		held = 0
	}
	fmt.Fprintf(w, "abuse_%s_held %d\n", v.name, held)
	say("%s: %s, %.1f s", v.name, v.words(), v.took.Seconds())
}

func (v verdict) words() string {
	switch {
	case v.err == nil && v.known != "":
		return "held, though it is known to do harm (" + v.known + "): take that back"
	case v.err == nil:
		return "held"
	case v.known != "":
		return fmt.Sprintf("FAILING as is known (%s): %v", v.known, v.err)
	default:
		return fmt.Sprintf("FAILED: %v", v.err)
	}
}

// judge is an error where an attack did harm that was not known to.
func judge(verdicts []verdict, strict bool) error {
	failed := slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool {
		return v.err == nil || (v.known != "" && errors.Is(v.err, errHarm) && !strict)
	})
	all := make([]error, len(failed))
	for i, v := range failed {
		all[i] = fmt.Errorf("%s: %w", v.name, v.err)
	}
	return errors.Join(all...)
}

// say tells a person how far it is. Standard output is for figures.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

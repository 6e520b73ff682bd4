package main

import (
	"container/heap"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/verify"
)

const (
	// fleet is how many agents a job has, each of an owner of its own, with speeds from 1 to fastest in equal ratios.
	fleet   = 100
	fastest = 1000
	// maxMakespan is how long a job may take, as a multiple of what it takes an oracle.
	maxMakespan = 1.2
	roundTrip   = 50 * time.Millisecond
)

// speeds are those of the fleet.
func speeds() []float64 {
	list := make([]float64, fleet)
	for i := range list {
		list[i] = math.Pow(fastest, float64(i)/(fleet-1))
	}
	return list
}

// stay is a job for the fleet: how long one of its shards takes the slowest agent, and how long the job takes if all work without a pause.
type stay struct{ slowest, job time.Duration }

// stays lists the jobs that are simulated: the shortest takes five times as long as the slowest agent has one shard.
func stays() []stay {
	return []stay{
		{time.Second, 2 * time.Minute},
		{time.Second, 10 * time.Minute},
		{10 * time.Second, time.Minute},
		{10 * time.Second, 10 * time.Minute},
		{time.Minute, 5 * time.Minute},
		{time.Minute, 10 * time.Minute},
		{time.Minute, time.Hour},
		{10 * time.Minute, time.Hour},
		{10 * time.Minute, 6 * time.Hour},
	}
}

// tooShort lists jobs that do not keep maxMakespan: the slowest agent has one shard for a good part of the job, or the leases of the end, 15
// seconds of work each, are. They are printed, and held to nothing.
func tooShort() []stay {
	return []stay{
		{time.Second, time.Second},
		{time.Second, 10 * time.Second},
		{time.Second, 30 * time.Second},
		{time.Second, time.Minute},
		{10 * time.Second, 10 * time.Second},
		{10 * time.Second, 30 * time.Second},
		{time.Minute, time.Minute},
		{time.Minute, 3 * time.Minute},
		{10 * time.Minute, 10 * time.Minute},
		{10 * time.Minute, 30 * time.Minute},
	}
}

// worker is an agent with one worker, as the product sizes what it asks for and what it may hold.
type worker struct {
	each   time.Duration
	size   *agent.BatchSizer
	credit int64
	held   int64
	done   int64
	free   time.Duration // the moment at which it asks again
}

// nextFree is a queue of workers, the first one that asks first.
type nextFree []*worker

func (q nextFree) Len() int           { return len(q) }
func (q nextFree) Less(i, j int) bool { return q[i].free < q[j].free }
func (q nextFree) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push adds a worker.
func (q *nextFree) Push(w any) {
	if w, ok := w.(*worker); ok {
		*q = append(*q, w)
	}
}

// Pop takes the last one out.
func (q *nextFree) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// outcome is what came of a job.
type outcome struct {
	shards                 int64
	oracle, took           time.Duration
	slowest, slowestOracle int64 // results of the slowest ten agents
}

func (o outcome) ratio() float64 { return o.took.Seconds() / o.oracle.Seconds() }

// simulate lends the shards of a job to the fleet by the product's own rules, and compares with an oracle that knows each speed beforehand.
func (s stay) simulate() outcome {
	fleet := make(nextFree, 0, fleet)
	all := make([]*worker, 0, cap(fleet))
	sum := 0.0
	for _, speed := range speeds() {
		w := &worker{each: time.Duration(float64(s.slowest) / speed), size: agent.NewBatchSizer(agent.DefaultLeaseWork)}
		fleet, all = append(fleet, w), append(all, w)
		sum += speed
	}
	o := outcome{shards: int64(s.job.Seconds() / s.slowest.Seconds() * sum)}
	o.oracle = oracle(all, o.shards)
	heap.Init(&fleet)
	for open := o.shards; len(fleet) > 0; {
		w := fleet[0]
		if n := w.held; n > 0 { // it brings them back
			w.credit, w.held, w.done = verify.CreditAfter(w.credit, n, 0, verify.FirstLoan), 0, w.done+n
			w.size.Done(int(n), time.Duration(n)*w.each, engine.DefaultLeaseTTL)
			o.took = max(o.took, w.free)
		}
		loan := verify.Loan{First: verify.FirstLoan, Agents: 1, Credit: w.credit}
		w.held = min(int64(w.size.Next()), loan.Free(), open)
		if w.held == 0 {
			heap.Pop(&fleet) // nothing is left
			continue
		}
		open -= w.held
		w.free += roundTrip + time.Duration(w.held)*w.each
		heap.Fix(&fleet, 0)
	}
	for _, w := range all[:10] {
		o.slowest += w.done
		o.slowestOracle += int64(o.oracle / w.each)
	}
	return o
}

// oracle is the least time in which the workers can do so many shards, each of them whole ones.
func oracle(all []*worker, shards int64) time.Duration {
	least, most := time.Duration(0), time.Duration(shards+1)*all[len(all)-1].each
	for most-least > time.Microsecond {
		at := (least + most) / 2
		n := int64(0)
		for _, w := range all {
			n += int64(at / w.each)
		}
		if n >= shards {
			most = at
		} else {
			least = at
		}
	}
	return most
}

// makespans prints what comes of each job, and says how many took too long.
func makespans(to io.Writer) (broken int, err error) {
	const head = "| a shard takes the slowest | shards | oracle | makespan | ratio | results of the ten slowest | of the oracle's |\n|---|---|---|---|---|---|---|\n"
	text := "## 100 honest agents of speeds 1 to 1,000: the makespan beside an oracle's\n\n" + head
	worst := 0.0
	for _, s := range stays() {
		o := s.simulate()
		text += s.row(o)
		if worst = max(worst, o.ratio()); o.ratio() > maxMakespan {
			broken++
		}
	}
	text += "\nBeyond the promise: jobs that are as short as a few shards of the slowest, or as a few leases.\n\n" + head
	short := 0.0
	for _, s := range tooShort() {
		o := s.simulate()
		text += s.row(o)
		short = max(short, o.ratio())
	}
	_, err = fmt.Fprintf(to, "%s\nmakespan_of_oracle %.3f\nmakespan_of_oracle_short_jobs %.3f\n", text, worst, short)
	return broken, err
}

func (s stay) row(o outcome) string {
	const to = 100 * time.Millisecond
	return fmt.Sprintf("| %v | %d | %v | %v | %.3f | %d | %d |\n", s.slowest, o.shards, o.oracle.Round(to), o.took.Round(to), o.ratio(), o.slowest, o.slowestOracle)
}

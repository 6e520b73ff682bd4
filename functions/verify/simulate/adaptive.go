package simulate

// BOINC's adaptive replication as its source has it: sched/sched_send.cpp
// (set_trust), sched/validator.cpp (is_valid, is_invalid, is_unreplicated) and
// sched/sched_config.h (CONS_VALID_UNREPLICATED).
const (
	// unreplicated is the number of consecutive valid results from which a host
	// may get jobs that nobody else executes.
	unreplicated = 10
	// replicas is the number of results that must agree otherwise, and most how
	// many a job gets before it is given up.
	replicas, most = 2, 10
)

// runAdaptive settles every shard by that rule. A job goes out by itself when
// its host has enough consecutive valid results, but for one in as many; else
// two must agree. Only results that others confirmed count as valid; an invalid
// one sets the count back. Nobody is shut out and nothing is examined again. The
// draw is made for each job here, for each request of a host there, which lets
// hosts find out: that is to BOINC's favour.
func (w *world) runAdaptive() {
	for i := range w.shards {
		n := int32(i)
		a := w.pick(n, nil)
		w.execute(n, a)
		if w.history[n][0].answer == timeout {
			a.valid = 0
		}
		if a.valid >= unreplicated && w.dice.Float64() > 1/float64(a.valid) {
			w.take(n, w.history[n][0].answer)
			continue
		}
		for !w.validate(n) {
			if b := w.pick(n, nil); b != nil && len(w.history[n]) < most {
				w.execute(n, b)
				continue
			}
			w.review(n)
			break
		}
	}
}

// validate looks for enough results that agree.
func (w *world) validate(n int32) bool {
	votes := w.history[n]
	for _, v := range votes {
		agree := func(other vote) bool { return other.answer == v.answer }
		if v.answer == timeout || count(votes, agree) < replicas {
			continue
		}
		for _, other := range votes {
			if agree(other) {
				other.agent.valid++
			} else {
				other.agent.valid = 0
			}
		}
		w.take(n, v.answer)
		return true
	}
	return false
}

func (w *world) take(n int32, given answer) {
	w.shards[n].answer = given
	w.finish(n)
}

func count(votes []vote, which func(vote) bool) (n int) {
	for _, v := range votes {
		if which(v) {
			n++
		}
	}
	return n
}

package graph

// BisectPhase is what a job of a bisection is to say.
type BisectPhase string

// The phases of a bisection.
const (
	BisectHalf    BisectPhase = "half"    // whether the sides agree over the first half of what is left
	BisectExact   BisectPhase = "exact"   // whether they agree over the one shard that is left: it was never compared by itself
	BisectConfirm BisectPhase = "confirm" // what the shard gives when it is executed again
	BisectClean   BisectPhase = "clean"   // no further job: the other side agrees with the suspect over all that was compared
)

// Bisection is the search for a shard of one side's job, the suspect, over which both sides differ: the other side is run over parts of the
// range. It takes at most as many jobs as its shards can be halved, and two.
type Bisection struct {
	Side      int   // the suspect: 0 is the left one
	Low, High int64 // its shards [Low, High), over which the sides differ
	Middle    int64 // of the phase half: [Low, Middle) is compared
	Phase     BisectPhase
}

// Bisect begins a search among so many shards.
func Bisect(side int, shards int64) Bisection {
	return Bisection{Side: side, High: shards}.next(false)
}

// next is the phase that a bisection is in. direct says that what is left was compared by itself.
func (b Bisection) next(direct bool) Bisection {
	switch {
	case b.High-b.Low > 1:
		b.Phase, b.Middle = BisectHalf, b.Low+(b.High-b.Low+1)/2
	case direct:
		b.Phase, b.Middle = BisectConfirm, b.High
	default:
		b.Phase, b.Middle = BisectExact, b.High
	}
	return b
}

// After is the bisection after a comparison: whether both sides agree over [Low, Middle).
func (b Bisection) After(agree bool) Bisection {
	switch {
	case b.Phase == BisectExact && agree:
		b.Phase = BisectClean
		return b
	case b.Phase == BisectExact:
		return b.next(true)
	case agree:
		b.Low = b.Middle
		return b.next(false)
	default:
		b.High = b.Middle
		return b.next(true)
	}
}

package verify

// Floor is how strictly a job must be verified at least. Zero fields ask for nothing.
type Floor struct {
	Quorum      int
	TargetError float64
	RecheckAll  bool
}

// Tighten makes a policy as strict as a floor, and leaves it alone where it is. That the server executes every shard is the strictest, then
// comes an error that is stated, then a quorum, which is therefore asked for only where there is nothing that is stricter.
func (p Policy) Tighten(f Floor) Policy {
	switch {
	case p.Recheck == RecheckAll:
	case f.RecheckAll:
		p = Policy{Recheck: RecheckAll, AnswerError: p.AnswerError, Confirm: p.Confirm, MaxAttempts: p.MaxAttempts}
	case f.TargetError > 0 && p.TargetError == 0:
		p = Policy{TargetError: max(f.TargetError, MinTargetError), AssumeHostile: DefaultHostile, MaxAttempts: p.MaxAttempts}
	case f.TargetError > 0 && p.TargetError > f.TargetError:
		p.TargetError = min(p.TargetError, max(f.TargetError, MinTargetError))
	case f.Quorum > 0 && p.TargetError == 0:
		p.None, p.Quorum = false, max(p.Quorum, min(f.Quorum, MaxQuorum))
	}
	if p.MaxAttempts != 0 && p.MaxAttempts < p.Quorum {
		p.MaxAttempts = 0
	}
	return p
}

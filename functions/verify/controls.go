package verify

import "slices"

// Numbers by which answers to controls are judged.
const (
	// ControlVoid is how many independent owners must give one other answer than
	// the known one, while fewer give that, for the control not to be believed:
	// the file is wrong then, or its answer is that of another version.
	ControlVoid = 3
	// MaxControlAnswers is after how many answers a control is given up: each is an
	// execution that counts for nothing else.
	MaxControlAnswers = 8
)

// ControlState is what became of a control.
type ControlState string

// The states of a control.
const (
	ControlWaiting   ControlState = "waiting"   // it is lent, or to be lent
	ControlRight     ControlState = "right"     // the known answer was given, and no other
	ControlWrong     ControlState = "wrong"     // another one was given too, and is proven wrong
	ControlVoided    ControlState = "void"      // owners agree on another one
	ControlUnsettled ControlState = "unsettled" // nothing was found out
)

// ControlAnswer is what an agent said to a shard with a known answer. Two that are
// equal are judged alike, whichever agents said so.
type ControlAnswer struct {
	Hand  string // who is behind the agent
	Class string // its platform; empty: it is not known
	Known bool   // it is the known answer
	// Digest tells other answers apart; empty: it ended without an answer, by a
	// time-out, for example, which is no evidence.
	Digest string
}

func (a ControlAnswer) silent() bool { return !a.Known && a.Digest == "" }

// ControlVerdict is what the answers to a control come to.
type ControlVerdict struct {
	State ControlState
	// Liars are those whose answer is proven wrong: that of the file was given by as
	// many other owners as gave theirs, on their platform.
	Liars []ControlAnswer
}

// JudgeControl judges the answers to a control so far. A known answer is one
// voice, since whoever wrote it down may be wrong: it speaks against an owner only
// when another owner has given it too.
func JudgeControl(answers []ControlAnswer) ControlVerdict {
	groups := map[string][]string{} // the hands that gave each answer
	for _, a := range answers {
		if !a.silent() && !slices.Contains(groups[a.Digest], a.Hand) {
			groups[a.Digest] = append(groups[a.Digest], a.Hand)
		}
	}
	known, most := len(groups[""]), 0
	for digest, hands := range groups {
		if digest != "" {
			most = max(most, len(hands))
		}
	}
	switch {
	case known > 0 && most == 0:
		return ControlVerdict{State: ControlRight}
	case most > 0 && known >= most && confirmedBesides(answers):
		return ControlVerdict{State: ControlWrong, Liars: controlLiars(answers)}
	case most >= ControlVoid && most > known:
		return ControlVerdict{State: ControlVoided}
	case len(answers) >= MaxControlAnswers:
		return ControlVerdict{State: ControlUnsettled}
	}
	return ControlVerdict{State: ControlWaiting}
}

// confirmedBesides says whether each answer that is not the known one is
// contradicted by an owner besides the one that gave it.
func confirmedBesides(answers []ControlAnswer) bool {
	for _, a := range answers {
		if !a.Known && !a.silent() && !slices.ContainsFunc(answers, func(b ControlAnswer) bool { return b.Known && b.Hand != a.Hand }) {
			return false
		}
	}
	return true
}

// controlLiars are those who are contradicted on their own platform: machines of
// another one may round otherwise.
func controlLiars(answers []ControlAnswer) (liars []ControlAnswer) {
	for _, a := range answers {
		if a.Known || a.silent() {
			continue
		}
		if slices.ContainsFunc(answers, func(b ControlAnswer) bool { return b.Known && b.Hand != a.Hand && b.Class == a.Class }) {
			liars = append(liars, a)
		}
	}
	return liars
}

package main

import (
	"github.com/spf13/pflag"
)

const (
	// maxReasonBytes is the longest reason of a decision, in bytes, as the server has it.
	maxReasonBytes = 2000
	// minDigestStart is how much of a digest must be given, in characters: as much as a table shows.
	minDigestStart = 12
	digestLength   = 64
)

// decisionFlags are the flags of every command with which a person decides.
type decisionFlags struct {
	accept string
	reason string
}

func (d *decisionFlags) registerDecision(f *pflag.FlagSet, accept string) {
	f.StringVar(&d.accept, "accept", "", accept)
	f.StringVar(&d.reason, "reason", "", "why, for the audit log")
}

// choice is one of the decisions that can be taken besides --accept.
type choice struct {
	decision string
	chosen   bool
}

// decision is the one that was taken; asking says which there are where it is not one.
func (d *decisionFlags) decision(asking string, others ...choice) (decision string, err error) {
	given := 0
	for _, c := range append(others, choice{"accept", d.accept != ""}) {
		if c.chosen {
			decision = c.decision
			given++
		}
	}
	switch {
	case given != 1:
		return "", usageError("%s", asking)
	case d.reason == "":
		return "", usageError("why? give --reason TEXT: it goes into the audit log")
	case len(d.reason) > maxReasonBytes:
		return "", usageError("--reason has %d bytes: %d are the most", len(d.reason), maxReasonBytes)
	case d.accept != "" && (len(d.accept) < minDigestStart || len(d.accept) > digestLength):
		return "", usageError("--accept %q is not a digest: give %d to %d of its characters", d.accept, minDigestStart, digestLength)
	}
	return decision, nil
}

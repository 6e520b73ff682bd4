// Package controls is the part of the room trust that judges shards with known answers: it compares what agents said to them, and charges
// those owners who contradict more of them than chance explains.
//
// It stands above trust, whose queries and whose one transaction for a charge it uses, and decides nothing about a job's own shards.
package controls

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/trust"
)

// Service judges controls.
type Service struct {
	env   *base.Env
	trust *trust.Service
}

// New makes it.
func New(env *base.Env, verdicts *trust.Service) *Service {
	return &Service{env: env, trust: verdicts}
}

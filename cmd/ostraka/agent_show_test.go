package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestTrustText(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for want, a := range map[string]client.ProjectAgent{
		"312 audits passed, last failure: none":                                                                                {AuditsPassed: 312, SinceFailure: 312},
		"312 audits passed, 40 of them since the last failure: " + shortTime(at):                                               {AuditsPassed: 312, AuditsFailed: 1, SinceFailure: 40, LastFailedAt: &at},
		"1 audit passed, last failure: none; on probation (1 audits of late, 10 end it)":                                       {AuditsPassed: 1, SinceFailure: 1, Probation: true},
		"0 audits passed, last failure: none; on probation (0 audits of late, 10 end it)":                                      {Probation: true},
		"9 audits passed, 0 of them since the last failure: " + shortTime(at) + "; on probation (0 audits of late, 10 end it)": {AuditsPassed: 9, AuditsFailed: 1, LastFailedAt: &at, Probation: true},
	} {
		require.Equal(t, want, trustText(a))
	}
}

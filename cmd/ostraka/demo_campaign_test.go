//go:build linux

package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/certificate"
	"github.com/ostraka/ostraka/client"
)

func TestCampaignReportIsStrict(t *testing.T) {
	form := campaignSmall()
	good := func() *campaignReport {
		return &campaignReport{
			form: form, counted: form.known, page: "7243", liars: []campaignLiar{
				{suspect: suspect{name: "a", wrong: 3, caught: true}, kind: liar.Random}, {suspect: suspect{name: "b", wrong: 1}}, {suspect: suspect{name: "c"}, kind: liar.Replay, refused: true},
			},
			claimed: campaignAnswer{Primes: form.known, Sample: []string{"7", "9"}},
			proofs:  []verifiedCertificate{{Proved: true, N: "7", Verdict: certificate.Prime}, {Proved: true, N: "9", Verdict: certificate.Composite}},
			run:     client.WorkflowRunDetail{Steps: []client.RunStep{{Name: "same", State: client.RunStepStateFinished}}},
			search:  client.Job{Verification: &client.JobVerification{ErrorBound: 0.001, AuditsDrawn: 9, AuditsPassed: 9}},
			receipt: &demoReceipt{found: receiptReport{Lines: 400, Executed: demoReexecuted}, changed: errDemo},
		}
	}
	require.True(t, good().right())
	text := good().text()
	for _, want := range []string{
		"7243 numbers pass Baillie-PSW, and 7243 are known to be prime (a sieve of Eratosthenes elsewhere): RIGHT", "identity   holds: search.primes = count.primes",
		"2 of 2 that were sampled are decided and verified without the server: 1 prime, 1 composite", "a (random) was proven wrong on 3 shards, and voted out",
		"c (replay) sent what it had sent before, which was refused by its signature and flagged",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "NOT")
	for name, spoil := range map[string]func(*campaignReport){
		"wrong count":              func(r *campaignReport) { r.claimed.Primes-- },
		"the sieve counts another": func(r *campaignReport) { r.counted++ },
		"no identity":              func(r *campaignReport) { r.run.Steps = nil },
		"the identity fails":       func(r *campaignReport) { r.run.Steps[0].State = client.RunStepStateFailed },
		"no evidence":              func(r *campaignReport) { r.proofs, r.claimed.Sample = nil, nil },
		"a proof that does not":    func(r *campaignReport) { r.proofs[0].Proved = false },
		"a proof of another":       func(r *campaignReport) { r.proofs[0].N = "11" },
		"a proof too few":          func(r *campaignReport) { r.claimed.Sample = append(r.claimed.Sample, "11") },
		"no document":              func(r *campaignReport) { r.page = "" },
		"liar not found out":       func(r *campaignReport) { r.liars[2].refused = false },
		"a liar too few":           func(r *campaignReport) { r.liars = r.liars[:2] },
		"honest agent caught":      func(r *campaignReport) { r.wronged = []string{"d"} },
		"no bound":                 func(r *campaignReport) { r.search.Verification = nil },
		"an audit is open":         func(r *campaignReport) { r.search.Verification.AuditsPending = 1 },
		"a false receipt passes":   func(r *campaignReport) { r.receipt.changed = nil },
	} {
		r := good()
		spoil(r)
		require.False(t, r.right(), name)
	}
	unnamed := good()
	unnamed.liars[2].refused = false
	require.Contains(t, unnamed.text(), "c (replay) WAS NOT FOUND OUT")
	mended := good()
	mended.run.Steps[0].Bisection = &client.Bisection{Found: []client.WrongShard{{}}}
	mended.wrong = 1
	require.Contains(t, mended.text(), "holds, after the server had found 1 wrong shard and put it right")
}

func TestCampaignForms(t *testing.T) {
	for _, form := range []campaignForm{campaignWhole(), campaignSmall()} {
		require.Equal(t, 3*form.agents, 10*form.liars, "three in ten lie")
		cut, err := form.partition()
		require.NoError(t, err)
		require.Equal(t, "range", string(cut.Kind))
	}
	cut, err := campaignWhole().partition()
	require.NoError(t, err)
	require.Equal(t, client.Partition{Kind: "range", From: "18446744073709551616", To: "18446744073719551616", Size: "10000"}, cut)
	require.Equal(t, client.RunStep{}, stepOf(client.WorkflowRunDetail{Steps: []client.RunStep{{Name: "a", Job: new(uuid.New())}}}, "b"))
}

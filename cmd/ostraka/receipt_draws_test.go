package main

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/verify"
)

// TestAServerWithOtherBytesIsNotAccused where a validator decides which outputs are one answer; without one it is.
func TestAServerWithOtherBytesIsNotAccused(t *testing.T) {
	const job = "01a20052-0f0b-7723-86c4-b07d6b8e85ba"
	secret := verify.JobSecret([]byte("project"), job)
	said := audit.Statement{Job: job, Draws: &audit.DrawsStated{Secret: hex.EncodeToString(secret), Quorum: true}}
	require.NotNil(t, said.Draws.Key())
	line := audit.ShardLine{Draw: &audit.DrawStated{Rate: int(verify.EveryResult)}}
	require.ErrorContains(t, newDrawsCheck(said).see(line), "no server has executed it")
	said.Validator = json.RawMessage(`{"module":"tolerant"}`)
	check := newDrawsCheck(said)
	require.NoError(t, check.see(line))
	require.EqualValues(t, 1, check.report(nil).AtOnce)
}

package audit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// TestASecretKeyIsNotQuoted: who gives it in the place of the public one must not find it in a log.
func TestASecretKeyIsNotQuoted(t *testing.T) {
	key := audit.NewKey()
	err := audit.CheckVerifier(key.Secret())
	require.ErrorContains(t, err, "it looks like NAME+8 HEX DIGITS+BASE64")
	require.NotContains(t, err.Error(), key.Secret())
	verifier, err := key.Verifier("ostraka/projects/one")
	require.NoError(t, err)
	require.NoError(t, audit.CheckVerifier(verifier+"\n"))
}

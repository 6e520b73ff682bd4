package functions

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// NonceOfAge is a nonce that the server gave some time ago.
func NonceOfAge(t testing.TB, s *Service, age time.Duration) (nonce string, at time.Time) {
	t.Helper()
	var c Challenge
	require.NoError(t, s.control(t.Context(), func(tx pgx.Tx) error {
		known, err := readNonceSecret(t.Context(), tx)
		known.Now = known.Now.Add(-age)
		c = known.challenge()
		return err
	}))
	return c.Nonce, c.At
}

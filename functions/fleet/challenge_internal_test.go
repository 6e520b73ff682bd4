package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestANonceLivesForAMinute(t *testing.T) {
	t.Parallel()
	given := nonceSecret{Secret: []byte("of the database"), Now: time.Unix(1_000_000, 0)}
	c := given.challenge()
	later := given
	later.Now = given.Now.Add(NonceLife)
	at, err := later.check(c.Nonce)
	require.NoError(t, err)
	require.Equal(t, c.At, at)
	later.Now = later.Now.Add(time.Millisecond)
	_, err = later.check(c.Nonce)
	require.ErrorIs(t, err, ErrBadNonce)
	other := nonceSecret{Secret: []byte("of another database"), Now: given.Now}
	_, err = other.check(c.Nonce)
	require.ErrorIs(t, err, ErrBadNonce)
}

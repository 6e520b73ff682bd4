package functions_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEnrolmentTokenIsCheckedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.CheckEnrolmentToken(t.Context(), w.token))
	requireCode(t, w.CheckEnrolmentToken(t.Context(), w.token+"x"), "bad_token")
}

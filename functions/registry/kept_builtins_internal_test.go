package registry

import (
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestKeptBuiltinsAreOfAProjectAndBounded(t *testing.T) {
	t.Parallel()
	var k keptBuiltins
	mine, other := uuid.New(), uuid.New()
	require.False(t, k.has(mine, "first"))
	k.add(mine, "first")
	require.True(t, k.has(mine, "first"))
	require.False(t, k.has(other, "first"))
	for i := range maxKeptBuiltins - 1 {
		k.add(other, strconv.Itoa(i))
	}
	require.True(t, k.has(mine, "first"), "as many as there may be")
	k.add(other, "one more")
	require.False(t, k.has(mine, "first"))
	require.True(t, k.has(other, "one more"))
	require.Len(t, k.seen, 1)
}

package limit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

func TestPlacesAreBoundedForEach(t *testing.T) {
	p := limit.NewPlaces()
	first, ok := p.Take("a", 2)
	require.True(t, ok)
	_, ok = p.Take("a", 2)
	require.True(t, ok, "as many as one may")
	_, ok = p.Take("a", 2)
	require.False(t, ok, "one more")
	_, ok = p.Take("b", 2)
	require.True(t, ok, "another client")
	_, ok = p.Take("a", 3)
	require.True(t, ok, "the bound was raised")
	first()
	first()
	_, ok = p.Take("a", 2)
	require.False(t, ok, "the bound was lowered: nothing is taken away, and nothing is given until there is room")
	_, ok = p.Take("a", 3)
	require.True(t, ok)
}

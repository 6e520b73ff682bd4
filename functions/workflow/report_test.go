package workflow

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHowLargeADocumentIs(t *testing.T) {
	require.NoError(t, fitsDocument(MaxDocumentBytes))
	require.ErrorContains(t, fitsDocument(MaxDocumentBytes+1), "the document has 16777217 bytes, and the limit is 16777216")
}

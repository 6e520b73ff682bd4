package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEscapesOfHTML(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"a":"<b>&","c":"\\u003c","d":"\n\u0041"}`, string(unescapedHTML([]byte(`{"a":"\u003cb\u003e\u0026","c":"\\u003c","d":"\n\u0041"}`))))
}

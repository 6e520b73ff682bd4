package simulate

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTry(t *testing.T) {
	o := Default()
	o.Results = 100_000
	cells, err := Run(o)
	require.NoError(t, err)
	require.NoError(t, Table(os.Stdout, cells))
}

package engine_test

import (
	"testing"

	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun() // the aggregators run in this binary, started once more
	testenv.Main(m)
}

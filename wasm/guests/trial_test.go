package guests_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// failures are the checks that a report says were not passed.
func failures(r wasm.Report) (checks []string) {
	for _, f := range r.Findings {
		if !f.Passed {
			checks = append(checks, f.Check)
		}
	}
	return checks
}

func records(lines ...string) (all [][]byte) {
	for _, l := range lines {
		all = append(all, []byte(l))
	}
	return all
}

// An average of averages is the same in every run, and another for every cut.
func TestTrialFindsWhatIsNotAssociative(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.Limits.Compile = wasm.MaxCompile })
	trial := wasm.Trial{Use: wasm.Use{Pool: p, Project: "p", Job: "j"}, Kind: wasm.KindAggregator, Records: records("1", "2", "3", "4", "100")}
	report, err := trial.Try(t.Context(), buildGo(t, "unfair"))
	require.NoError(t, err)
	require.False(t, report.Passed())
	require.Contains(t, failures(report), "associativity")
	require.Contains(t, failures(report), "chunks")
	require.NotContains(t, failures(report), "determinism")
	require.Equal(t, []string{`{"t":"final","n":5,"data":22}`}, report.Output)
	require.NoError(t, report.Against([]byte("{\"n\":5, \"data\":22,\"t\":\"final\"}\n")))
	require.NotContains(t, failures(report), "expected")
	require.NoError(t, report.Against([]byte(`{"t":"final","n":5,"data":21}`)))
	require.Contains(t, failures(report), "expected")
	require.EqualValues(t, 6, report.Stats.InLines)
	require.Positive(t, report.Stats.Fuel)
}

func TestTrialTellsWhyAModuleFails(t *testing.T) {
	p := newPool(t, tight)
	for name, c := range map[string]struct {
		module []byte
		class  wasm.Class
	}{
		"no module":  {[]byte("no module"), wasm.ClassRejected},
		"traps":      {w.Command([]byte{unreachable}).Bytes(), wasm.ClassTrap},
		"never ends": {w.Command(w.Forever(nil)).Bytes(), wasm.ClassFuel},
	} {
		t.Run(name, func(t *testing.T) {
			trial := wasm.Trial{Use: wasm.Use{Pool: p, Project: "p", Job: "j"}, Kind: wasm.KindAggregator}
			report, err := trial.Try(t.Context(), c.module)
			require.NoError(t, err)
			require.Equal(t, []string{"upload"}, failures(report))
			require.Equal(t, c.class, report.Error.Class)
		})
	}
}

func TestTrialRefusesOtherRecords(t *testing.T) {
	p := newPool(t, nil)
	agree, err := os.ReadFile("../../examples/modules/agree/agree.wasm")
	require.NoError(t, err)
	trial := wasm.Trial{Use: wasm.Use{Pool: p, Project: "p", Job: "j"}, Kind: wasm.KindValidator, Records: records(`{"id":"u1","results":[]}`, "x")}
	_, err = trial.Try(t.Context(), agree)
	var record *wasm.RecordError
	require.ErrorAs(t, err, &record)
	require.Equal(t, 2, record.Number)

	trial.Records = trial.Records[:1]
	report, err := trial.Try(t.Context(), agree)
	require.NoError(t, err)
	require.True(t, report.Passed())

	trial.Params = []byte(`{"quorum":"two"}`)
	report, err = trial.Try(t.Context(), agree)
	require.NoError(t, err)
	require.Equal(t, []string{"parameters"}, failures(report))

	trial.Records = make([][]byte, wasm.MaxTrialRecords+1)
	_, err = trial.Try(t.Context(), agree)
	require.ErrorContains(t, err, "at most 100000 records")
}

package graph

import (
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/partition"
)

const calibrated = `name = "calibrated"
[parameters.size]
type = "integer"
default = 0
[functions]
f = "f"
g = "g"
[[steps]]
name = "trial"
type = "map"
function = "f"
range = { from = 0, to = 100, size = 10 }
[[steps]]
name = "other"
type = "map"
function = "g"
items = [1]
[[steps]]
name = "all"
type = "map"
needs = ["trial"]
function = "f"
range = { from = 0, to = "10^9", size = "{size}" }
calibrate = { by = "trial", seconds = 30 }
`

func TestCalibration(t *testing.T) {
	d, err := Parse([]byte(calibrated))
	require.NoError(t, err)
	values, err := d.Values(nil)
	require.NoError(t, err)
	job, err := d.Step("all").Job(values)
	require.NoError(t, err)
	require.Equal(t, &Calibration{By: "trial", Seconds: 30}, job.Calibrate, "the size is 0, and is chosen")

	given := strings.Replace(calibrated, "default = 0", "default = 5000", 1)
	d, err = Parse([]byte(given))
	require.NoError(t, err)
	values, err = d.Values(nil)
	require.NoError(t, err)
	job, err = d.Step("all").Job(values)
	require.NoError(t, err)
	require.Nil(t, job.Calibrate, "a size that is given holds")
	require.Equal(t, "5000", job.Partition.Range.Size.String())

	d, err = Parse([]byte(strings.Replace(calibrated, `, size = "{size}" }`+"\ncalibrate = { by = \"trial\", seconds = 30 }", " }\ncalibrate = { by = \"trial\" }", 1)))
	require.NoError(t, err)
	job, err = d.Step("all").Job(values)
	require.NoError(t, err)
	require.Equal(t, &Calibration{By: "trial", Seconds: 60}, job.Calibrate, "so is one that is left out")
}

func TestWhatIsNoCalibration(t *testing.T) {
	const is = `calibrate = { by = "trial", seconds = 30 }`
	for change, want := range map[[2]string]string{
		{is, `calibrate = {}`}:                                       "there is no step whose shards are measured",
		{is, `calibrate = { by = 1 }`}:                               "by is the name of a step",
		{is, `calibrate = { by = "trial", seconds = 0 }`}:            "an integer from 1 to 3600",
		{is, `calibrate = { by = "trial", seconds = 3601 }`}:         "an integer from 1 to 3600",
		{is, `calibrate = { by = "trial", minutes = 1 }`}:            "there is no \"minutes\"",
		{is, `calibrate = { by = "none" }`}:                          "does not come before",
		{`needs = ["trial"]` + "\n", ""}:                             "does not come before",
		{`needs = ["trial"]`, `needs = ["other"]`}:                   "does not come before",
		{is, is + "\nrolling = {}"}:                                  "a range that does not roll",
		{`range = { from = 0, to = 100, size = 10 }`, `items = [1]`}: "has no shards of integers",
		{`function = "f"` + "\nrange = { from = 0, to = 100", `function = "g"` + "\nrange = { from = 0, to = 100"}: "runs another function",
		{"items = [1]", "items = [1]\ncalibrate = { by = \"trial\" }"}:                                             "give it a range",
	} {
		_, err := Parse([]byte(strings.Replace(calibrated, change[0], change[1], 1)))
		var wrong *Error
		require.ErrorAs(t, err, &wrong, "%q", change)
		require.Contains(t, wrong.Error()+wrong.Hint, want, "%q", change)
	}
	_, err := Parse([]byte(strings.Replace(calibrated, is, "", 1)))
	require.ErrorContains(t, err, "size", "0 is no size where nothing is measured")
}

func TestCalibratedSize(t *testing.T) {
	for _, c := range []struct {
		to       string
		integers int64
		seconds  float64
		want     string
	}{
		{"1000000000", 10000, 0.5, "1200000"},
		{"1000000000", 10000, 0.49, "1200000"},
		{"1000000000", 10000, 0.59, "1000000"},
		{"1000000", 7, 60, "7"},
		{"1000000000", 10, 6000, "100"},      // no more than 10^7 shards
		{"5000", 10, 6000, "1"},              // and no shard of nothing
		{"1000000", 10000, 0.001, "1000000"}, // one shard is enough
		{"1000000000000", 10000, 0.06, "10000000"},
		{"1000000000000", 10000, 0.001, "10000000"}, // as many times as large as a shard may become
		{"1000000000000", 10000, 1e-320, "10000000"},
		{"1000000000000", 1, 0.001, "100000"}, // but no more than 10^7 shards
	} {
		to, ok := new(big.Int).SetString(c.to, 10)
		require.True(t, ok)
		r := partition.Range{From: new(big.Int), To: to}
		require.Equal(t, c.want, Calibration{Seconds: 60}.Size(r, big.NewInt(c.integers), c.seconds).String(), "%v", c)
	}
}

func TestTheSelftestIsAWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../../examples/selftest/workflow.toml")
	require.NoError(t, err)
	d, err := Parse(text)
	require.NoError(t, err)
	require.Empty(t, d.Parameters, "a stranger runs it as it is")
	for _, s := range d.Steps {
		if s.Type == StepCheck {
			require.Regexp(t, `^row `, s.Check.Message, "%s names its row", s.Name)
		}
	}
}

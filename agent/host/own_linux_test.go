package host

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestBatteries(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	laptop := func(status, online string) fstest.MapFS {
		return fstest.MapFS{
			"AC/type": file("Mains"), "AC/online": file(online),
			"BAT0/type": file("Battery"), "BAT0/status": file(status), "BAT0/capacity": file("80"),
			"BAT1/type": file("Battery"), "BAT1/status": file("Full"), "BAT1/capacity": file("100"),
			"mouse/type": file("Battery"), "mouse/scope": file("Device"), "mouse/status": file("Discharging"), "mouse/capacity": file("3"),
		}
	}
	require.Equal(t, Battery{Known: true, On: true, Percent: 90}, batteryIn(laptop("Discharging", "0")))
	require.Equal(t, Battery{Known: true, Percent: 90}, batteryIn(laptop("Charging", "1")))
	require.Equal(t, Battery{Known: true, Percent: 90}, batteryIn(laptop("Discharging", "1")), "a weak charger is mains too")
	require.Equal(t, Battery{}, batteryIn(fstest.MapFS{"AC/type": file("Mains"), "AC/online": file("1")}))
	require.Equal(t, Battery{}, batteryIn(fstest.MapFS{"BAT0/type": file("Battery"), "BAT0/capacity": file("much")}))
	require.Equal(t, Battery{}, batteryIn(fstest.MapFS{}))
}

func TestStat(t *testing.T) {
	parent, seconds, err := parseStat("42 (a) b) (c) S 7 42 42 0 -1 4194560 1 2 3 4 100 50 25 25 20 0 1 0 100 1 1")
	require.NoError(t, err)
	require.Equal(t, 7, parent)
	require.InDelta(t, 2.0, seconds, 1e-9)
	for _, bad := range []string{"", "42 (a S 7", "42 (a) S 7", "42 (a) S x 42 42 0 -1 4194560 1 2 3 4 100 50 25 25", "42 (a) S 7 42 42 0 -1 4194560 1 2 3 4 x 50 25 25"} {
		_, _, err := parseStat(bad)
		require.Error(t, err, bad)
	}
}

func TestBelow(t *testing.T) {
	parents := map[int]int{1: 0, 10: 1, 11: 10, 12: 11, 20: 21, 21: 20}
	require.True(t, below(parents, 12, 10))
	require.True(t, below(parents, 10, 10))
	require.False(t, below(parents, 10, 11))
	require.False(t, below(parents, 20, 1), "a circle ends")
	require.False(t, below(parents, 99, 1))
}

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatFailsTheProgram holds a harm that is known apart from one that is new, and both from an attack that found nothing out.
func TestWhatFailsTheProgram(t *testing.T) {
	known, other := attack{name: "known", known: "a reason"}, attack{name: "other"}
	broken := errors.New("no connection")
	require.NoError(t, judge([]verdict{{attack: known}, {attack: other}}, true))
	require.NoError(t, judge([]verdict{{attack: known, err: harm("it hurts")}}, false))
	require.ErrorContains(t, judge([]verdict{{attack: known, err: harm("it hurts")}}, true), "known: harm: it hurts")
	require.ErrorIs(t, judge([]verdict{{attack: other, err: harm("it hurts")}}, false), errHarm)
	require.ErrorIs(t, judge([]verdict{{attack: known, err: broken}}, false), broken)
}

// TestEachAttackHasItsName keeps -only able to choose one.
func TestEachAttackHasItsName(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range attacks() {
		require.NotNil(t, a.run, a.name)
		require.False(t, seen[a.name], a.name)
		seen[a.name] = true
	}
}

// TestASeedSpoilsAlike makes a finding one that can be made again.
func TestASeedSpoilsAlike(t *testing.T) {
	const request = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
	made := func(seed uint64) string {
		random := rand.New(rand.NewPCG(seed, seed))
		var all strings.Builder
		for range 1000 {
			all.WriteString(spoil(random, request))
		}
		return all.String()
	}
	again := made(1)
	require.Equal(t, made(1), again)
	require.NotEqual(t, made(1), made(2))
}

// TestHarmThatMustShowAgain counts where it shows each time, and what found nothing out counts at once.
func TestHarmThatMustShowAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tries int
		came  []error
		want  error
		made  int
	}{
		"once is enough":        {0, []error{harm("it hurts")}, errHarm, 1},
		"each time":             {3, []error{harm("a"), harm("b"), harm("c")}, errHarm, 3},
		"not the last time":     {3, []error{harm("a"), harm("b"), nil}, nil, 3},
		"not the first time":    {3, []error{nil}, nil, 1},
		"nothing was found out": {3, []error{harm("a"), context.Canceled}, context.Canceled, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := 0
			_, err := again(c.tries, func() ([]figure, error) {
				made++
				return nil, c.came[made-1]
			})
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.made, made)
		})
	}
}

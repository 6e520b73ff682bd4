package codereader

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// readBy reads as fn does, and counts how often it is asked about each bundle.
func readBy(fn func(ctx context.Context, digest string) error) (*Reader, map[string]int) {
	asked := map[string]int{}
	return newReader(func(ctx context.Context, b *bundle.Bundle) (Reading, error) {
		asked[b.Digest]++
		return Reading{Whole: true}, fn(ctx, b.Digest)
	}, func() {}), asked
}

func of(digest string) *bundle.Bundle { return &bundle.Bundle{Digest: digest} }

// TestAHeavyBundleHoldsUpNobodyWhoIsKnown reads one for hours, which its author may have wanted.
func TestAHeavyBundleHoldsUpNobodyWhoIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, asked := readBy(func(ctx context.Context, digest string) error {
			if digest != "heavy" {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		_, err := r.Read(t.Context(), of("light"))
		require.NoError(t, err)
		began := time.Now()
		heavy := make(chan error)
		go func() { _, err := r.Read(t.Context(), of("heavy")); heavy <- err }()
		synctest.Wait()
		_, err = r.Read(t.Context(), of("light"))
		require.NoError(t, err)
		require.Zero(t, time.Since(began), "what is known waits for nobody")

		impatient, cancel := context.WithCancelCause(t.Context())
		other := make(chan error)
		go func() { _, err := r.Read(impatient, of("new")); other <- err }()
		synctest.Wait()
		cancel(errors.New("the lease is over"))
		require.Error(t, <-other, "who waits for a turn may leave")

		require.ErrorContains(t, <-heavy, "it takes longer than 2m0s to read")
		require.Equal(t, maxTime, time.Since(began))
		_, err = r.Read(t.Context(), of("heavy"))
		require.ErrorContains(t, err, "it takes longer than 2m0s to read")
		require.Equal(t, maxTime, time.Since(began), "a failure is remembered")
		<-time.After(failureStays)
		_, err = r.Read(t.Context(), of("heavy"))
		require.Error(t, err)
		require.Equal(t, map[string]int{"light": 1, "heavy": 2}, asked)
		r.Close()
	})
}

// TestOnlyABundlesOwnFaultIsRememberedForGood has a machine that fails, and a bundle that cannot be read.
func TestOnlyABundlesOwnFaultIsRememberedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := true
		r, asked := readBy(func(_ context.Context, digest string) error {
			switch {
			case digest == "broken":
				return fmt.Errorf("having it read: %w", fault{errors.New("it is no archive")})
			case full:
				return errors.New("no space left on device")
			default:
				return nil
			}
		})
		read := func(digest string) error { _, err := r.Read(t.Context(), of(digest)); return err }
		require.ErrorContains(t, read("fine"), "no space left")
		require.ErrorContains(t, read("broken"), "no archive")
		full = false
		<-time.After(failureStays - time.Nanosecond)
		require.ErrorContains(t, read("fine"), "no space left", "at the limit nobody waits for another reading")
		<-time.After(time.Nanosecond)
		require.NoError(t, read("fine"), "the machine has recovered")
		<-time.After(24 * time.Hour)
		require.ErrorContains(t, read("broken"), "no archive")
		require.NoError(t, read("fine"))
		require.Equal(t, map[string]int{"fine": 2, "broken": 1}, asked)
	})
}

func TestALeaseThatEndsSaysNothingAboutItsBundle(t *testing.T) {
	r, asked := readBy(func(ctx context.Context, _ string) error { return ctx.Err() })
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the lease is over"))
	for range 2 {
		_, err := r.Read(over, of("a"))
		require.ErrorContains(t, err, "the lease is over")
	}
	_, err := r.Read(t.Context(), of("a"))
	require.NoError(t, err)
	require.LessOrEqual(t, asked["a"], 3)
}

func TestReadingsAreBounded(t *testing.T) {
	r, asked := readBy(func(context.Context, string) error { return nil })
	for i := range maxKnown + 1 {
		_, err := r.Read(t.Context(), of(string(rune('A'+i))))
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(r.known), maxKnown)
	_, err := r.Read(t.Context(), of("A"))
	require.NoError(t, err)
	require.Equal(t, 2, asked["A"], "all were forgotten, and are read again")
}

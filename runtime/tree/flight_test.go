package tree

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// slow is a fetch that says nothing before it may, or before its context ends, and counts what it was asked for.
type slow struct {
	packed
	may   chan struct{}
	asked atomic.Int64
}

func (s *slow) fetch(ctx context.Context, digest string) (io.ReadCloser, error) {
	s.asked.Add(1)
	select {
	case <-s.may:
		return s.packed.fetch(ctx, digest)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// got is what a call of Get gives, in its own time.
type got struct {
	release func()
	err     error
}

func begin(ctx context.Context, c *Cache, digest string, fetch Fetch) <-chan got {
	result := make(chan got, 1)
	go func() {
		_, release, err := c.Get(ctx, digest, fetch)
		result <- got{release, err}
	}()
	return result
}

// TestOneFlightForEachDigest has several calls wait for one that fetches, and neither a call for another runtime nor one whose context ends.
func TestOneFlightForEachDigest(t *testing.T) {
	one, m, first := pack(t, folder(t, map[string]string{"lib/python3.11/a": "1"}))
	two, _, second := pack(t, folder(t, map[string]string{"lib/python3.11/a": "2"}))
	c := newTestCache(t, t.TempDir(), MaxTreeBytes)
	synctest.Test(t, func(t *testing.T) {
		from := &slow{packed: one, may: make(chan struct{})}
		var all []<-chan got
		for range 5 {
			all = append(all, begin(t.Context(), c, first, from.fetch))
		}
		synctest.Wait() // all wait by now: one for its fetch, the others for that one
		ctx, cancel := context.WithCancel(t.Context())
		impatient := begin(ctx, c, first, from.fetch)
		synctest.Wait()
		require.Equal(t, int64(1), from.asked.Load())
		cancel()
		require.ErrorIs(t, (<-impatient).err, context.Canceled)

		other := <-begin(t.Context(), c, second, two.fetch)
		require.NoError(t, other.err)
		other.release()

		close(from.may)
		for _, result := range all {
			require.NoError(t, (<-result).err)
		}
		require.Equal(t, int64(1+len(m.Pieces)), from.asked.Load())
		require.Equal(t, 5, c.used[first].users)
		require.Empty(t, c.flights)
	})
}

// TestTheNextFetchesWhereTheFirstFails has a call outlive the one that it waits for.
func TestTheNextFetchesWhereTheFirstFails(t *testing.T) {
	objects, _, digest := pack(t, folder(t, nil))
	c := newTestCache(t, t.TempDir(), MaxTreeBytes)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stuck := &slow{packed: objects, may: make(chan struct{})}
		first := begin(ctx, c, digest, stuck.fetch)
		synctest.Wait()
		next := begin(t.Context(), c, digest, objects.fetch)
		synctest.Wait()
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		require.NoError(t, (<-next).err)
	})
}

// TestWhatIsOnItsWayCounts has two calls at once share what one of them fills.
func TestWhatIsOnItsWayCounts(t *testing.T) {
	one, m, first := pack(t, folder(t, map[string]string{"lib/python3.11/a": "1"}))
	two, _, second := pack(t, folder(t, map[string]string{"lib/python3.11/a": "2"}))
	old, _, third := pack(t, folder(t, map[string]string{"lib/python3.11/a": "3"}))
	c := newTestCache(t, t.TempDir(), m.diskBytes())
	left := <-begin(t.Context(), c, third, old.fetch)
	require.NoError(t, left.err)
	left.release()
	synctest.Test(t, func(t *testing.T) {
		pieces := &slow{packed: one, may: make(chan struct{})}
		flying := begin(t.Context(), c, first, func(ctx context.Context, digest string) (io.ReadCloser, error) {
			if digest == first {
				return one.fetch(ctx, digest)
			}
			return pieces.fetch(ctx, digest)
		})
		synctest.Wait() // its manifest has come, and its pieces have not
		require.NoDirExists(t, filepath.Join(c.dir, third), "it was removed to make room")
		require.ErrorIs(t, (<-begin(t.Context(), c, second, two.fetch)).err, ErrNoRoom)
		close(pieces.may)
		require.NoError(t, (<-flying).err)
	})
	lies, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Len(t, lies, 1, "nothing is left of what was removed or refused")
}

// Package blobtest is the contract of an object store: every backend of blob
// passes it.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/blob"
)

// Backend is a store under test with the door behind it.
type Backend struct {
	Store *blob.Store
	// Overwrite puts content at a key behind the store's back.
	Overwrite func(key string, content []byte)
	// Keys lists every key there is.
	Keys func() []string
}

// plenty is a limit that the suite's objects do not reach.
const plenty = 8 << 20

// Run holds a backend to the contract. Each call of open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	for name, test := range map[string]func(*testing.T, Backend){
		"round trip":           testRoundTrip,
		"limit":                testLimit,
		"expected digest":      testExpectedDigest,
		"hostile names":        testHostileNames,
		"failing source":       testFailingSource,
		"corruption":           testCorruption,
		"corruption is mended": testMending,
		"missing":              testMissing,
		"tenants":              testTenants,
		"delete project":       testDeleteProject,
		"projects":             testProjects,
		"concurrency":          testConcurrency,
		"cancellation":         testCancellation,
		"parts":                testParts,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// content is reproducible and does not compress.
func content(size int) []byte {
	b := make([]byte, size)
	src := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8)})
	_, _ = src.Read(b)
	return b
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Key is where the design puts an object.
func Key(project uuid.UUID, digest string) string {
	return fmt.Sprintf("projects/%s/objects/sha256/%s/%s", project, digest[:2], digest)
}

func newProject(t *testing.T) uuid.UUID {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	return id
}

func put(t *testing.T, b Backend, project uuid.UUID, data []byte) string {
	t.Helper()
	digest, size, err := b.Store.Put(t.Context(), project, bytes.NewReader(data), plenty)
	require.NoError(t, err)
	require.Equal(t, int64(len(data)), size)
	require.Equal(t, digestOf(data), digest)
	return digest
}

func testRoundTrip(t *testing.T, b Backend) {
	require.NoError(t, b.Store.Ping(t.Context()))
	project := newProject(t)
	for _, size := range []int{0, 1, 100, 32<<10 - 1, 32 << 10, 32<<10 + 1, 1<<20 + 7} {
		data := content(size)
		digest := put(t, b, project, data)
		require.Contains(t, b.Keys(), Key(project, digest))

		got, err := b.Store.Get(t.Context(), project, digest, int64(size))
		require.NoError(t, err, size)
		require.True(t, bytes.Equal(data, got), size)

		n, err := b.Store.Stat(t.Context(), project, digest)
		require.NoError(t, err)
		require.Equal(t, int64(size), n)

		body, n, err := b.Store.Open(t.Context(), project, digest)
		require.NoError(t, err)
		require.Equal(t, int64(size), n)
		require.NoError(t, iotest.TestReader(body, data), size)
		require.NoError(t, body.Close())
	}
}

func testLimit(t *testing.T, b Backend) {
	project, data := newProject(t), content(1000)
	for _, max := range []int64{-1, 0, 999} {
		_, _, err := b.Store.Put(t.Context(), project, bytes.NewReader(data), max)
		require.ErrorIs(t, err, blob.ErrTooLarge)
		require.ErrorContains(t, err, fmt.Sprintf("the limit is %d bytes", max))
		_, err = b.Store.PutDigest(t.Context(), project, digestOf(data), bytes.NewReader(data), max)
		require.ErrorIs(t, err, blob.ErrTooLarge)
	}
	require.Empty(t, b.Keys(), "what was refused is not stored")
	endless := iotest.ErrReader(errors.New("read past the limit"))
	_, _, err := b.Store.Put(t.Context(), project, io.MultiReader(bytes.NewReader(data), endless), 999)
	require.ErrorIs(t, err, blob.ErrTooLarge, "no more than one byte past the limit is read")

	digest, _, err := b.Store.Put(t.Context(), project, bytes.NewReader(data), 1000)
	require.NoError(t, err)
	_, _, err = b.Store.Put(t.Context(), project, strings.NewReader(""), 0)
	require.NoError(t, err)
	_, err = b.Store.Get(t.Context(), project, digest, 999)
	require.ErrorIs(t, err, blob.ErrTooLarge)
	require.ErrorContains(t, err, "the limit is 999 bytes")
}

func testExpectedDigest(t *testing.T, b Backend) {
	project, data := newProject(t), content(5000)
	_, err := b.Store.PutDigest(t.Context(), project, digestOf([]byte("another")), bytes.NewReader(data), plenty)
	require.ErrorIs(t, err, blob.ErrMismatch)
	require.Empty(t, b.Keys(), "what was refused is not stored")

	size, err := b.Store.PutDigest(t.Context(), project, digestOf(data), bytes.NewReader(data), plenty)
	require.NoError(t, err)
	require.Equal(t, int64(5000), size)
	got, err := b.Store.Get(t.Context(), project, digestOf(data), plenty)
	require.NoError(t, err)
	require.Equal(t, data, got)
}

func testHostileNames(t *testing.T, b Backend) {
	project, good := newProject(t), digestOf(nil)
	for _, digest := range []string{
		"", "ab", good[1:], good + "0", strings.ToUpper(good), "g" + good[1:], "../" + good[3:],
		strings.Repeat("../", 21) + "x", good[:63] + "/", good[:63] + "\x00", good[:62] + "ä", " " + good[1:], "sha256:" + good,
	} {
		requireEvery(t, b, project, digest, blob.ErrBadDigest)
	}
	_, _, err := b.Store.Put(t.Context(), uuid.Nil, strings.NewReader(""), plenty)
	require.ErrorContains(t, err, "project is not set")
	require.ErrorContains(t, b.Store.DeleteProject(t.Context(), uuid.Nil), "project is not set")
	_, err = b.Store.Get(t.Context(), uuid.Nil, good, plenty)
	require.ErrorContains(t, err, "project is not set")
	require.Empty(t, b.Keys())
}

// requireEvery tries every operation that takes a digest.
func requireEvery(t *testing.T, b Backend, project uuid.UUID, digest string, want error) {
	t.Helper()
	_, err := b.Store.PutDigest(t.Context(), project, digest, strings.NewReader(""), plenty)
	require.ErrorIs(t, err, want, "%q", digest)
	_, _, err = b.Store.Open(t.Context(), project, digest)
	require.ErrorIs(t, err, want, "%q", digest)
	_, err = b.Store.Get(t.Context(), project, digest, plenty)
	require.ErrorIs(t, err, want, "%q", digest)
	_, err = b.Store.Stat(t.Context(), project, digest)
	require.ErrorIs(t, err, want, "%q", digest)
	require.ErrorIs(t, b.Store.Delete(t.Context(), project, digest), want, "%q", digest)
}

func testFailingSource(t *testing.T, b Backend) {
	torn := errors.New("connection torn")
	for _, read := range []int{0, 1, 100_000} {
		r := io.MultiReader(bytes.NewReader(content(read)), iotest.ErrReader(torn))
		_, _, err := b.Store.Put(t.Context(), newProject(t), r, plenty)
		require.ErrorIs(t, err, torn)
	}
	require.Empty(t, b.Keys())
}

func testCorruption(t *testing.T, b Backend) {
	project := newProject(t)
	for _, size := range []int{1, 1000, 200_000} {
		data := content(size)
		digest := put(t, b, project, data)
		for name, bad := range map[string][]byte{
			"first byte": flip(data, 0),
			"last byte":  flip(data, size-1),
			"cut":        data[:size-1],
			"emptied":    {},
			"extended":   append(bytes.Clone(data), 0),
			"doubled":    append(bytes.Clone(data), data...),
		} {
			b.Overwrite(Key(project, digest), bad)
			requireCorrupt(t, b, project, digest, len(bad), fmt.Sprintf("%s of %d", name, size))
		}
	}
}

func flip(data []byte, at int) []byte {
	bad := bytes.Clone(data)
	bad[at] ^= 1
	return bad
}

func requireCorrupt(t *testing.T, b Backend, project uuid.UUID, digest string, stored int, what string) {
	t.Helper()
	body, _, err := b.Store.Open(t.Context(), project, digest)
	require.NoError(t, err, what)
	defer body.Close()
	got, err := io.ReadAll(body)
	require.ErrorIs(t, err, blob.ErrCorrupt, what)
	if stored > 0 {
		require.Less(t, len(got), stored, "%s: the last bytes are not handed out", what)
	}
	_, again := body.Read(make([]byte, 1))
	require.ErrorIs(t, again, blob.ErrCorrupt, "%s: the error stays", what)

	_, err = b.Store.Get(t.Context(), project, digest, plenty)
	require.ErrorIs(t, err, blob.ErrCorrupt, what)
}

func testMending(t *testing.T, b Backend) {
	project, data := newProject(t), content(1000)
	digest := put(t, b, project, data)
	b.Overwrite(Key(project, digest), []byte("rot"))
	put(t, b, project, data)
	got, err := b.Store.Get(t.Context(), project, digest, plenty)
	require.NoError(t, err)
	require.Equal(t, data, got)
}

func testMissing(t *testing.T, b Backend) {
	project, digest := newProject(t), digestOf([]byte("never stored"))
	require.NoError(t, b.Store.Delete(t.Context(), project, digest), "deleting nothing is fine")
	_, _, err := b.Store.Open(t.Context(), project, digest)
	require.ErrorIs(t, err, blob.ErrNotFound)
	_, err = b.Store.Get(t.Context(), project, digest, plenty)
	require.ErrorIs(t, err, blob.ErrNotFound)
	_, err = b.Store.Stat(t.Context(), project, digest)
	require.ErrorIs(t, err, blob.ErrNotFound)

	digest = put(t, b, project, content(10))
	require.NoError(t, b.Store.Delete(t.Context(), project, digest))
	_, err = b.Store.Stat(t.Context(), project, digest)
	require.ErrorIs(t, err, blob.ErrNotFound)
	require.Empty(t, b.Keys())
}

func testTenants(t *testing.T, b Backend) {
	mine, theirs := newProject(t), newProject(t)
	digest := put(t, b, mine, content(10))
	_, err := b.Store.Get(t.Context(), theirs, digest, plenty)
	require.ErrorIs(t, err, blob.ErrNotFound, "knowing a digest does not open another project's object")
	put(t, b, theirs, content(10))
	require.NoError(t, b.Store.Delete(t.Context(), theirs, digest))
	_, err = b.Store.Get(t.Context(), mine, digest, plenty)
	require.NoError(t, err)
}

func testDeleteProject(t *testing.T, b Backend) {
	gone, stays := newProject(t), newProject(t)
	for size := range 40 {
		put(t, b, gone, content(size))
	}
	kept := put(t, b, stays, content(3))
	require.NoError(t, b.Store.DeleteProject(t.Context(), gone))
	require.Equal(t, []string{Key(stays, kept)}, b.Keys())
	require.NoError(t, b.Store.DeleteProject(t.Context(), gone), "deleting twice is fine")
	put(t, b, gone, content(1)) // and the project can begin anew
}

func testProjects(t *testing.T, b Backend) {
	there, err := b.Store.Projects(t.Context())
	require.NoError(t, err)
	require.Empty(t, there)
	one, two := newProject(t), newProject(t)
	put(t, b, one, content(1))
	put(t, b, one, content(2))
	put(t, b, two, content(1))
	there, err = b.Store.Projects(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{one, two}, there)
	require.NoError(t, b.Store.DeleteProject(t.Context(), one))
	there, err = b.Store.Projects(t.Context())
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{two}, there)
}

func testConcurrency(t *testing.T, b Backend) {
	project := newProject(t)
	var group errgroup.Group
	for i := range 16 {
		group.Go(func() error {
			data := content(40_000 + i%4) // four objects, four writers each
			digest, _, err := b.Store.Put(t.Context(), project, bytes.NewReader(data), plenty)
			if err != nil {
				return err
			}
			got, err := b.Store.Get(t.Context(), project, digest, plenty)
			if err == nil && !bytes.Equal(got, data) {
				err = errors.New("read something else than was written")
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Len(t, b.Keys(), 4)
}

func testCancellation(t *testing.T, b Backend) {
	project := newProject(t)
	digest := put(t, b, project, content(100_000))
	ctx, cancel := context.WithCancel(t.Context())
	body, _, err := b.Store.Open(ctx, project, digest)
	require.NoError(t, err)
	defer body.Close()
	cancel()
	_, err = io.ReadAll(body)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = b.Store.Put(ctx, project, bytes.NewReader(content(10)), plenty)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = b.Store.Open(ctx, project, digest)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, b.Store.DeleteProject(ctx, project), context.Canceled)
	require.Len(t, b.Keys(), 1)
}

// testParts reads an object from anywhere, and past its end.
func testParts(t *testing.T, b Backend) {
	t.Helper()
	ctx, project, whole := t.Context(), uuid.New(), content(300_000)
	digest, _, err := b.Store.Put(ctx, project, bytes.NewReader(whole), plenty)
	require.NoError(t, err)
	in, size, err := b.Store.OpenAt(ctx, project, digest)
	require.NoError(t, err)
	require.Equal(t, int64(len(whole)), size)
	for _, at := range []int{0, 1, 4096, 299_000, 299_999} {
		part := make([]byte, 1000)
		n, err := in.ReadAt(part, int64(at))
		require.Equal(t, whole[at:min(at+1000, len(whole))], part[:n])
		if at+1000 > len(whole) {
			require.ErrorIs(t, err, io.EOF)
		} else {
			require.NoError(t, err)
		}
	}
	n, err := in.ReadAt(make([]byte, 1), size)
	require.Zero(t, n)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, in.Close())
	_, _, err = b.Store.OpenAt(ctx, uuid.New(), digest)
	require.ErrorIs(t, err, blob.ErrNotFound)
	_, _, err = b.Store.OpenAt(ctx, project, "../"+digest)
	require.ErrorIs(t, err, blob.ErrBadDigest)
}

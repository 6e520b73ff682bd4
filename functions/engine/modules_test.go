package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/wasm/builtin"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// builtinBytes are the bytes of a module that works, with a custom section that makes it another one.
func builtinBytes(t testing.TB, custom ...byte) io.Reader {
	t.Helper()
	r, err := builtin.Module().Open(context.Background())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	for _, b := range custom {
		text = append(text, 0, 3, 1, 'x', b)
	}
	return bytes.NewReader(text)
}

func TestAModuleOfTheProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m, created, err := w.PushModule(ctx, w.by, w.project, "mine", "aggregator", builtinBytes(t, 1))
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, 1, m.Version)
	again, created, err := w.PushModule(ctx, w.by, w.project, "mine", "aggregator", builtinBytes(t, 1))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, m, again)

	job := w.submit(1030, func(j *functions.NewJob) { j.Quorum, j.Aggregator, j.Params = 1, "mine", []byte(`{"op":"sum"}`) })
	next, created, err := w.PushModule(ctx, w.by, w.project, "mine", "aggregator", builtinBytes(t, 2))
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, 2, next.Version)
	w.settleAll()
	a := w.agent(honest)
	for a.do(1024) > 0 {
		w.settleAll()
	}
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1030)))
	require.Equal(t, m.Digest, done.Aggregator.Digest, "the job keeps the version that it began with")
	list, err := w.ListModules(ctx, w.project, functions.ListPage{Limit: 5})
	require.NoError(t, err)
	require.Equal(t, []functions.Module{next}, list)
}

func TestModulesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		code, name, kind string
		body             io.Reader
	}{
		{"bad_name", "sum", "aggregator", builtinBytes(t)},
		{"bad_name", "none", "aggregator", builtinBytes(t)},
		{"bad_name", "Mine!", "aggregator", builtinBytes(t)},
		{"bad_kind", "mine", "oracle", builtinBytes(t)},
		{"module_exit", "mine", "validator", builtinBytes(t)},
		{"module_too_large", "mine", "aggregator", bytes.NewReader(make([]byte, precheck.MaxModuleBytes+1))},
	} {
		_, _, err := w.PushModule(t.Context(), w.by, w.project, c.name, c.kind, c.body)
		requireCode(t, err, c.code)
	}
	_, _, err := w.PushModule(t.Context(), w.by, w.project, "mine", "aggregator", strings.NewReader("no wasm"))
	var e *functions.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, functions.KindInvalid, e.Kind)
	require.True(t, strings.HasPrefix(e.Code, "module_"), e.Code)
	require.Zero(t, w.count("select count(*) from modules"))
}

// bareModule is a module with these sections before those that every module has, and a _start that traps.
func bareModule(first string) string {
	return "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00" + first + "\x03\x02\x01\x00\x05\x03\x01\x00\x01" +
		"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x00" + "\x0a\x05\x01\x03\x00\x00\x0b"
}

// TestARefusalSaysWhatToDo in words that fit its reason, once.
func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whole, err := io.ReadAll(builtinBytes(t))
	require.NoError(t, err)
	for name, c := range map[string]struct{ body, code, says, hint string }{
		"no module":      {"#!/bin/sh", "module_rejected", "not a WebAssembly module", "the .wasm file that the build makes"},
		"a component":    {"\x00asm\x0d\x00\x01\x00", "module_rejected", "component", "build for WASI preview 1"},
		"a part":         {string(whole[:1000]), "module_rejected", "offset", "cut off or damaged"},
		"unknown import": {bareModule("\x02\x0d\x01\x03env\x05abort\x00\x00"), "module_rejected", "env.abort", "wasi_snapshot_preview1"},
		"too large":      {string(make([]byte, precheck.MaxModuleBytes+1)), "module_too_large", "8388608 bytes", "debug sections"},
		"traps":          {bareModule(""), "module_trap", "trying the phase describe", "exit code 64"},
		"another kind":   {string(whole), "module_exit", "does not support this kind", "the right kind"},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "aggregator"
			if name == "another kind" {
				kind = "planner"
			}
			_, _, err := w.PushModule(t.Context(), w.by, w.project, "mine", kind, strings.NewReader(c.body))
			requireCode(t, err, c.code)
			var e *functions.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Message, c.says)
			require.Contains(t, e.Hint, c.hint)
			require.NotContains(t, e.Message, e.Hint)
		})
	}
}

func TestModulesPushedAtOnceAreNumbered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	versions := make([]int, 4)
	bodies := make([]io.Reader, len(versions))
	for i := range bodies {
		bodies[i] = builtinBytes(t, byte(i))
	}
	for i := range versions {
		all.Go(func() {
			m, _, err := w.PushModule(context.Background(), w.by, w.project, "mine", "aggregator", bodies[i])
			if err != nil {
				t.Error(fmt.Errorf("module %d: %w", i, err))
			}
			versions[i] = m.Version
		})
	}
	all.Wait()
	require.ElementsMatch(t, []int{1, 2, 3, 4}, versions)
}

// TestAJobFindsTheBuiltInModuleThatItPinned goes on with the bytes that the server shipped when the job was submitted.
func TestAJobFindsTheBuiltInModuleThatItPinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	kept, _, err := w.OpenObject(t.Context(), w.project, job.Aggregator.Digest)
	require.NoError(t, err, "the module that the job pins is among the project's objects")
	module, err := io.ReadAll(kept)
	require.NoError(t, err)
	require.NoError(t, kept.Close())

	// As if an older version of this program had shipped it: the same module with a section of its own.
	object, err := w.PutObject(t.Context(), w.project, "", io.MultiReader(bytes.NewReader(module), bytes.NewReader([]byte{0, 6, 5, 'o', 'l', 'd', 'e', 'r'})))
	require.NoError(t, err)
	_, shipped := builtin.ByDigest(object.Digest)
	require.False(t, shipped)
	w.exec(`update aggregations set aggregator = jsonb_set(aggregator, '{digest}', to_jsonb($2::text)) where job_id = $1`, job.ID, object.Digest)
	w.settleAll()
	w.agent(honest).do(4)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, object.Digest, done.Aggregator.Digest)
	requireTruth(t, done, truth(rangeOf(4)))
}

// pushHeuristic uploads the example of a heuristic.
func (w *world) pushHeuristic(name string) {
	w.t.Helper()
	body, err := os.ReadFile("../../examples/modules/outlier/outlier.wasm")
	require.NoError(w.t, err)
	_, _, err = w.PushModule(w.t.Context(), w.by, w.project, name, "heuristic", bytes.NewReader(body))
	require.NoError(w.t, err)
}

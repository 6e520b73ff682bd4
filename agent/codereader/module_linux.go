package codereader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
	"github.com/ostraka/ostraka/wasm/runner"
)

const (
	// MaxFile is the largest file that is read, in bytes: as JSON it may be four times as long, and a line of the contract holds it. A
	// function with a larger one is not read whole.
	MaxFile = wasm.MaxLine / 4
	// idleFor is how long the process is kept without work: an agent reads a function once.
	idleFor = 5 * time.Second
)

// module is code-risk in a process of its own, which is started when there is something to read.
type module struct {
	dir  string // of compiled modules
	log  *slog.Logger
	pool *wasm.Pool
}

// Open makes a reader that keeps the compiled module in a folder. The program must call runner.MaybeRun first thing in main.
func Open(dir string, log *slog.Logger) *Reader {
	m := &module{dir: dir, log: log}
	return newReader(m.read, m.close)
}

func (m *module) close() {
	if m.pool != nil {
		m.pool.Close()
	}
}

func (m *module) read(ctx context.Context, b *bundle.Bundle) (Reading, error) {
	reading := Reading{Whole: true}
	var files []wasm.Evidence
	err := b.Read(func(file bundle.File, content []byte) error {
		switch {
		case bundle.IsCompiled(file.Path), bundle.IsSource(file.Path) && len(content) > MaxFile:
			reading.Whole = false
		case !bundle.IsSource(file.Path):
		default:
			files = append(files, wasm.Evidence{ID: file.Path, Subject: wasm.SubjectCode, Name: file.Path, Text: string(bytes.ToValidUTF8(content, []byte("\uFFFD")))})
		}
		return nil
	})
	if err != nil {
		return Reading{}, fault{fmt.Errorf("reading the bundle: %w", err)} // the archive is in memory: nothing of the machine is in play
	}
	scores, err := m.score(ctx, files)
	if err != nil {
		return Reading{}, fmt.Errorf("having %s read the function: %w", guardian.CodeModule, err)
	}
	for i, s := range scores {
		places := make([]guardian.Finding, len(s.Places))
		for j, p := range s.Places {
			places[j] = guardian.Finding{Line: p.Line, Rule: p.Label, Weight: p.Weight, What: p.What, Text: p.Text}
		}
		reading.Findings = append(reading.Findings, guardian.OfFile(guardian.CodeModule, files[i].Name, s.Labels, places)...)
	}
	return reading, nil
}

func (m *module) score(ctx context.Context, files []wasm.Evidence) ([]wasm.Score, error) {
	if len(files) == 0 {
		return nil, nil
	}
	code, found := builtin.Find(wasm.KindHeuristic, guardian.CodeModule)
	if !found {
		return nil, fmt.Errorf("this program does not carry it")
	}
	if m.pool == nil {
		pool, err := wasm.NewPool(wasm.Options{CacheDir: m.dir, Log: m.log, Runners: 1, IdleFor: idleFor, Limits: wasm.Limits{Line: wasm.MaxLine}})
		if err != nil {
			return nil, err
		}
		m.pool = pool
	}
	// One file after the other: many large ones need no more memory than one.
	var all []wasm.Score
	for _, f := range files {
		scores, _, err := wasm.Heuristics{Use: wasm.Use{Pool: m.pool, Project: "agent", Job: "agent", Module: code}}.Score(ctx, wasm.Each([]wasm.Evidence{f}))
		if err != nil {
			return nil, blame(fmt.Errorf("%s: %w", f.Name, err))
		}
		all = append(all, scores...)
	}
	return all, nil
}

// blame makes a fault of an error where the module came to its end with the file and failed at it. A process that died, also for want of
// memory, and a module that could not be compiled say nothing about the file.
func blame(err error) error {
	var died *runner.Died
	var failed *wasm.Error
	if errors.As(err, &died) || !errors.As(err, &failed) || failed.Operational() {
		return err
	}
	if failed.Class == wasm.ClassRejected || failed.Class == wasm.ClassCompileLimit {
		return err
	}
	return fault{err}
}

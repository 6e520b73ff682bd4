package engine_test

import (
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
)

// firstStep is a step of five shards, each of which one agent is enough for.
const firstStep = `[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = 0, length = 50, size = 10 }
policy = { quorum = 1 }
`

// pinned are versions 1 of functions, under their own names.
func pinned(names ...string) (pins []workflow.Pin) {
	for _, name := range names {
		pins = append(pins, workflow.Pin{Name: name, Function: name, Version: 1})
	}
	return pins
}

// pushWorkflow pushes a workflow of functions in their first versions, which it pushes where they are not.
func (w *world) pushWorkflow(text string, names ...string) workflow.Workflow {
	w.t.Helper()
	for _, name := range names {
		w.pushFunction(name, "")
	}
	v, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned(names...)})
	require.NoError(w.t, err)
	return v
}

func (w *world) startWorkflow(name string) workflow.RunDetail {
	w.t.Helper()
	r, _, err := w.StartWorkflow(w.t.Context(), w.by, w.project, workflow.Start{Workflow: name}, functions.Idempotency{})
	require.NoError(w.t, err)
	return r
}

// drainUntil runs the steps of the queue one after the other until something holds.
func (w *world) drainUntil(holds func() bool) {
	w.t.Helper()
	for range 200 {
		if holds() {
			return
		}
		list := w.steps()
		require.NotEmpty(w.t, list, "nothing is left to do")
		require.NoError(w.t, w.step(list[0]))
		w.done(list[0])
	}
	require.Fail(w.t, "it never holds")
}

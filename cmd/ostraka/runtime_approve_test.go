package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// TestAYesIsForTheRuntimeThatWasRefused holds that of all that waits only what the refusal names is approved, and only by the built-in rule.
func TestAYesIsForTheRuntimeThatWasRefused(t *testing.T) {
	t.Parallel()
	const id = "01a20bd4-9844-7c71-aefa-0d10a75ed83d"
	for _, c := range []struct {
		name, detail, rule, layer, subject, digest string
		approved                                   int
	}{
		{"what was asked", "approval " + id + " waits for it", nativeCodeRule, "builtin", "mine", "d1", 1},
		{"nothing named", "it needs a yes", nativeCodeRule, "builtin", "mine", "d1", 0},
		{"a rule of the project of that name", "approval " + id + " waits for it", nativeCodeRule, "project", "mine", "d1", 0},
		{"another rule", "approval " + id + " waits for it", "ask-write-volume", "builtin", "mine", "d1", 0},
		{"another name", "approval " + id + " waits for it", nativeCodeRule, "builtin", "other", "d1", 0},
		{"other files", "approval " + id + " waits for it", nativeCodeRule, "builtin", "mine", "d2", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			approved := 0
			connection, terminal, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, id) {
					t.Errorf("%s is about something else", r.URL.Path)
				}
				if r.Method == http.MethodPost {
					approved++
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"id":%q,"rule":%q,"layer":%q,"subject":%q,"facts":{"runtime":{"digest":%q}}}`, id, c.rule, c.layer, c.subject, c.digest)
			})
			refused := &answer.Error{Problem: client.Problem{Code: "approval_needed", Detail: c.detail}, HTTPStatus: http.StatusConflict}
			require.NoError(t, approveRuntime(t.Context(), terminal, connection, "mine", "d1", "why", refused))
			require.Equal(t, c.approved, approved)
		})
	}
}

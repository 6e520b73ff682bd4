package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// TestAJobThatGoesOnMeanwhileIsShownOnce: the five lists of jobs are read one after the other, and a job can be in two of them.
func TestAJobThatGoesOnMeanwhileIsShownOnce(t *testing.T) {
	moved, other := uuid.New(), uuid.New()
	c, _, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		job := func(id uuid.UUID, state string) string {
			text, err := json.Marshal(client.Job{ID: id, Function: "sums", State: client.JobState(state)})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			return string(text)
		}
		switch state := r.URL.Query().Get("state"); {
		case state == "running":
			fmt.Fprintf(w, `{"items":[%s,%s]}`, job(moved, state), job(other, state))
		case state == "aggregating":
			fmt.Fprintf(w, `{"items":[%s]}`, job(moved, state))
		case strings.HasSuffix(r.URL.Path, "s") && !strings.HasSuffix(r.URL.Path, "projects"):
			fmt.Fprint(w, `{"items":[]}`)
		default:
			fmt.Fprint(w, `{"name":"dev"}`)
		}
	})
	s, err := readTop(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, s.Jobs, 2)
	require.Equal(t, []uuid.UUID{moved, other}, []uuid.UUID{s.Jobs[0].ID, s.Jobs[1].ID})
}

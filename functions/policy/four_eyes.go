package policy

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// What is changed about the guardian, in the words of its facts.
const (
	fourEyesOn  = "four_eyes_on"
	fourEyesOff = "four_eyes_off"
)

// SetFourEyes says whether who asks for an approval may give it. Switched on they are switched off with somebody else's yes only.
func (s *Service) SetFourEyes(ctx context.Context, by functions.Principal, project uuid.UUID, on bool) error {
	changed := fourEyesOff
	if on {
		changed = fourEyesOn
	}
	intent := base.Intent{By: by, Project: project, Kind: guardian.SettingChange, Subject: "guardian", Facts: guardian.SettingFacts{Setting: guardian.Setting{Name: "guardian", Changed: []string{changed}}}}
	return s.place(ctx, project, func(tx *store.Tx) error {
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		_, err := store.Exec(ctx, tx, sql.SetFourEyes, on)
		return err
	})
}

// fourEyesRule asks before four eyes are switched off where they are on. It is a built-in one that no override lifts.
var fourEyesRule = sync.OnceValues(func() (*guardian.Compiled, error) {
	return guardian.Compile(guardian.Rule{
		ID: "four-eyes", Name: "four-eyes", Version: 1, Layer: guardian.Builtin, On: []guardian.Kind{guardian.SettingChange}, Then: guardian.Ask,
		Reason: "four eyes are wanted, and they are not for one person to switch off", Enabled: true,
	})
})

// dropsFourEyes says whether an operation switches four eyes off that are on.
func dropsFourEyes(by inForce, op guardian.Operation) bool {
	place := by.operator
	if op.Project != "" {
		place = by.project
	}
	facts, is := op.Facts.(guardian.SettingFacts)
	return place.fourEyes && is && op.Kind == guardian.SettingChange && facts.Setting.Name == "guardian" && slices.Contains(facts.Setting.Changed, fourEyesOff)
}

// samePerson compares who two actors are, whatever roles they have: the ID of a key, or who signed in.
func samePerson(a, b string) bool {
	_, x, _ := strings.Cut(a, ":")
	_, y, _ := strings.Cut(b, ":")
	return x == y
}

package bulk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
)

// kind is something that can be done to many.
type kind struct {
	operation string // of the API that does it to one
	undo      string // the action that takes it back; "": none does
	ended     bool   // of jobs: it is for those that have ended
	outside   bool   // of a project's agents: it is for those that do not work for it
	from      []fleet.AgentState
	to        fleet.AgentState // in which it leaves an agent of the installation
	do        func(ctx context.Context, d Doers, r row, i item) (again bool, err error)
}

// Operations are those of the API that do to one what bulk actions do to many, by action: whoever may call one may begin the other.
// The nil project stands for the whole installation.
func Operations(project bool, subject BulkSubject) map[string]string {
	found := map[string]string{}
	for name, k := range kinds(project)[subject] {
		found[name] = k.operation
	}
	return found
}

// UndoOf is the action that takes back another one; "": none does.
func UndoOf(project bool, subject BulkSubject, action string) string {
	return kinds(project)[subject][action].undo
}

func find(project uuid.UUID, subject BulkSubject, action string) (kind, bool) {
	k, known := kinds(project != uuid.Nil)[subject][action]
	return k, known
}

func kinds(project bool) map[BulkSubject]map[string]kind {
	if project {
		return inProject
	}
	return inInstallation
}

var inProject = map[BulkSubject]map[string]kind{
	BulkFlags: {
		review.FlagReject:  {operation: "resolveFlag", do: resolve},
		review.FlagRerun:   {operation: "resolveFlag", do: resolve},
		review.FlagRecheck: {operation: "resolveFlag", do: resolve},
		review.FlagPardon:  {operation: "resolveFlag", do: resolve},
		review.FlagDismiss: {operation: "resolveFlag", do: resolve},
	},
	BulkJobs: {
		"cancel": {operation: "cancelJob", do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
			_, err := d.CancelJob(ctx, r.Principal.principal(), r.project(), i.Item)
			return false, err
		}},
		"delete": {operation: "deleteJob", ended: true, do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
			_, err := d.DeleteJob(ctx, r.Principal.principal(), r.project(), i.Item)
			return false, err
		}},
		"archive": {operation: "archiveJob", ended: true, do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
			_, err := d.ArchiveJob(ctx, r.Principal.principal(), r.project(), i.Item)
			return false, err
		}},
	},
	BulkAgents: {
		"admit": {operation: "admitAgent", undo: "exclude", outside: true, do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
			admit := d.AdmitAgentAsSeen
			if r.Undoes != nil { // one that is caught becomes that again
				admit = d.RestoreAgentAsSeen
			}
			_, err := admit(ctx, r.Principal.principal(), r.project(), i.Item, fleet.Seen(i.Revision), r.Reason)
			return false, err
		}},
		"exclude": {operation: "excludeAgent", undo: "admit", do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
			_, err := d.ExcludeAgentAsSeen(ctx, r.Principal.principal(), r.project(), i.Item, fleet.Seen(i.Revision), r.Reason)
			return false, err
		}},
	},
}

var inInstallation = map[BulkSubject]map[string]kind{
	BulkAgents: {
		string(fleet.ApproveAgent):    decide(fleet.ApproveAgent, "", fleet.AgentActive, fleet.AgentPending),
		string(fleet.DrainAgent):      decide(fleet.DrainAgent, fleet.ResumeAgent, fleet.AgentDraining, fleet.AgentActive),
		string(fleet.QuarantineAgent): decide(fleet.QuarantineAgent, fleet.ResumeAgent, fleet.AgentQuarantined, fleet.AgentActive, fleet.AgentDraining),
		string(fleet.ResumeAgent):     decide(fleet.ResumeAgent, "", fleet.AgentActive, fleet.AgentDraining, fleet.AgentQuarantined),
		string(fleet.RevokeAgent):     decide(fleet.RevokeAgent, "", fleet.AgentRevoked, fleet.AgentPending, fleet.AgentActive, fleet.AgentDraining, fleet.AgentQuarantined),
	},
}

// decide is a decision of operators about agents in some states. One that is in the state already was done by a step that was cut off.
func decide(action, undo fleet.AgentAction, to fleet.AgentState, from ...fleet.AgentState) kind {
	return kind{operation: string(action) + "Agent", undo: string(undo), to: to, from: from, do: func(ctx context.Context, d Doers, r row, i item) (bool, error) {
		_, err := d.DecideAgentAsSeen(ctx, r.Principal.principal(), i.Item, action, fleet.Seen(i.Revision), r.Reason)
		return false, err
	}}
}

// resolve decides about a flag. One decision settles a part of the shards of a flag that is about very many: then it is to be taken again.
func resolve(ctx context.Context, d Doers, r row, i item) (again bool, err error) {
	f, err := d.ResolveFlag(ctx, r.Principal.principal(), r.project(), i.Item, i.Revision, review.FlagResolution{Decision: r.Action, Reason: r.Reason})
	return err == nil && f.State == review.FlagOpen, err
}

// check refuses what no bulk action can be.
func (s Start) check(project uuid.UUID) (kind, error) {
	bad := func(message, hint string) error { return functions.Invalid("bad_bulk_action", message, hint) }
	of := kinds(project != uuid.Nil)[s.Subject]
	k, known := of[s.Action]
	f := s.Filter
	switch {
	case of == nil:
		return k, bad(fmt.Sprintf("there is no bulk action on %.40q here", s.Subject), "flags and jobs are those of a project; operators decide about agents of the installation")
	case !known:
		return k, bad(fmt.Sprintf("%.40q cannot be done to many %s", s.Action, s.Subject), "choose "+strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	case f.Empty() && !s.All:
		return k, bad(fmt.Sprintf("the filter is empty: that would be all %s", s.Subject), "say which, or \"all\": true")
	case !f.Empty() && s.All:
		return k, bad(fmt.Sprintf("it is about all %s, and has a filter too", s.Subject), "leave one of them out")
	case len(f.IDs) > MaxIDs:
		return k, bad(fmt.Sprintf("it names %d items, at most %d can be named", len(f.IDs), MaxIDs), "use a filter")
	case f.Like != nil && (f.Kind != "" || f.Rule != "" || f.Function != ""):
		return k, bad("like says of which kind, rule and function the flags are", "leave kind, rule and function out, or like")
	case s.Subject != BulkFlags && (f.Like != nil || f.Kind != "" || f.Rule != "" || f.Job != nil || f.Agent != nil):
		return k, bad("like, kind, rule, job and agent choose flags", "leave them out")
	case s.Subject != BulkAgents && f.Owner != "", s.Subject == BulkFlags && f.State != "", s.Subject == BulkAgents && f.Function != "":
		return k, bad(fmt.Sprintf("the filter does not choose %s", s.Subject), "state is of jobs and agents, owner of agents, function of flags and jobs")
	}
	if n := utf8.RuneCountInString(s.Reason); s.Subject == BulkAgents && n > fleet.MaxReason {
		return k, functions.Invalid("bad_reason", fmt.Sprintf("the reason has %d characters, at most %d are kept of a decision about an agent", n, fleet.MaxReason), "say it in fewer words")
	}
	return k, functions.CheckResolutionReason(s.Reason)
}

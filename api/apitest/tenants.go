package apitest

import (
	_ "embed"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tenants are what CheckTenants tries the operations with.
type Tenants struct {
	URL     string
	Project string // a project's ID

	// Keys of the project and of others. Each is to be valid.
	Viewer    string
	Submitter string
	Owner     string
	Stranger  string // of role owner, of another project
	Operator  string
	Agent     string
}

// publicOperations are the operations that need no key. The list may only get shorter.
//
//go:embed public_operations.txt
var publicOperations string

// mostPublicOperations is how long the list may be. Lower it when the list gets shorter. It was raised twice: for getEULA, which the owner of an
// agent reads before the agent has, or asks for, a key; and for getEnrolmentChallenge, which an agent signs when it asks for one, also where its
// token or its key is not valid any more: it says nothing of anybody, and the server keeps nothing of it. Never raise it for anything that a
// key could be had for.
const mostPublicOperations = 4

// CheckTenants tries every operation of the server without a key, with a key that does not exist, with a key of another project, and
// with a key of each role; the specification says who may call what. No request does anything: those that are let through name things
// that do not exist, or say nothing.
func CheckTenants(t *testing.T, with Tenants) {
	t.Helper()
	public := strings.Fields(publicOperations)
	require.LessOrEqual(t, len(public), mostPublicOperations, "the list of operations without a key may only get shorter")
	all := operations(t, with.URL)
	for _, id := range public {
		require.True(t, slices.ContainsFunc(all, func(op operation) bool { return op.ID == id }), "there is no operation %s any more: take it off public_operations.txt", id)
	}
	for _, op := range all {
		t.Run(op.ID, func(t *testing.T) {
			switch {
			case slices.Contains(public, op.ID):
				require.Empty(t, op.Security, "it has a key now: take it off public_operations.txt")
			case op.enrolment():
				checkEnrolment(t, op, with)
			default:
				checkOperation(t, op, with)
			}
		})
	}
}

func checkOperation(t *testing.T, op operation, with Tenants) {
	t.Helper()
	require.NotEmpty(t, op.Roles, "every operation states its roles, or is listed in public_operations.txt")
	target := op.target(with.URL, with.Project)
	for _, key := range []string{"", "nonsense", with.Viewer + "x", strings.ToUpper(with.Viewer)} {
		status, _ := op.call(t, target, key)
		require.Equal(t, http.StatusUnauthorized, status, "with the key %q", key)
	}
	if op.inProject() {
		checkStranger(t, op, with)
	}
	for role, key := range map[string]string{"viewer": with.Viewer, "submitter": with.Submitter, "owner": with.Owner, "operator": with.Operator, "agent": with.Agent} {
		checkRole(t, op, target, role, key)
	}
}

// checkRole lets only the roles through that the specification lists. What comes after that is not for this test, but the operation
// may neither refuse the key nor fail.
func checkRole(t *testing.T, op operation, target, role, key string) {
	t.Helper()
	status, p := op.call(t, target, key)
	if !slices.Contains(op.Roles, role) {
		require.Equal(t, http.StatusForbidden, status, "a key of role %s is not let through", role)
		require.Equal(t, "forbidden", p.Code, role)
		return
	}
	require.NotEqual(t, http.StatusUnauthorized, status, "a key of role %s is let through", role)
	require.NotEqual(t, "forbidden", p.Code, "a key of role %s is let through", role)
	require.Less(t, status, http.StatusInternalServerError, "%s: %s", role, p.Detail)
}

// checkStranger compares what a key of another project is told about this project with what it is told about one that does not exist.
func checkStranger(t *testing.T, op operation, with Tenants) {
	t.Helper()
	status, p := op.call(t, op.target(with.URL, with.Project), with.Stranger)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, "not_found", p.Code)
	status, none := op.call(t, op.target(with.URL, noSuchID), with.Stranger)
	require.Equal(t, http.StatusNotFound, status)
	p.Detail = strings.ReplaceAll(p.Detail, with.Project, noSuchID)
	p.RequestID, none.RequestID = "", ""
	require.Equal(t, none, p, "the two must not be told apart")
}

// checkEnrolment tries to join with everything but an enrolment token.
func checkEnrolment(t *testing.T, op operation, with Tenants) {
	t.Helper()
	for _, key := range []string{"", "nonsense", with.Viewer, with.Owner, with.Stranger, with.Operator, with.Agent} {
		status, _ := op.call(t, op.target(with.URL, ""), key)
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status)
	}
}

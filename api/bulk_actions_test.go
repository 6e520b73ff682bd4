package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoMayDoToOneMayDoToMany: the roles of a bulk action are those of the operation that does the same to one item.
func TestWhoMayDoToOneMayDoToMany(t *testing.T) {
	r := newRig(t)
	body := func(subject, action string) string {
		return `{"subject":"` + subject + `","action":"` + action + `","filter":{},"all":true,"reason":"r"}`
	}
	for _, c := range []struct {
		path, key, body string
		status          int
	}{
		{in("/bulk-actions"), ownerKey, body("flags", "dismiss"), 201},
		{in("/bulk-actions"), submitterKey, body("flags", "dismiss"), 403},
		{in("/bulk-actions"), submitterKey, body("jobs", "cancel"), 201},
		{in("/bulk-actions"), submitterKey, body("jobs", "delete"), 403},
		{in("/bulk-actions"), ownerKey, body("jobs", "delete"), 201},
		{in("/bulk-actions"), submitterKey, body("agents", "exclude"), 403},
		{in("/bulk-actions"), operatorKey, body("agents", "exclude"), 201},
		{in("/bulk-actions"), operatorKey, body("jobs", "delete"), 403},
		{in("/bulk-actions"), viewerKey, body("flags", "dismiss"), 403},
		{in("/bulk-action-plans"), submitterKey, body("flags", "dismiss"), 403},
		{in("/bulk-action-plans"), ownerKey, body("flags", "dismiss"), 200},
		{in("/bulk-actions/" + thingID.String() + "/cancel"), submitterKey, "", 403},
		{in("/bulk-actions/" + thingID.String() + "/cancel"), ownerKey, "", 200},
		{in("/bulk-actions/" + thingID.String() + "/retry"), submitterKey, "", 403},
		{in("/bulk-actions/" + thingID.String() + "/undo"), submitterKey, `{"reason":"r"}`, 403},
		{in("/bulk-actions/" + thingID.String() + "/undo"), ownerKey, `{"reason":"r"}`, 201},
		{"/v1/bulk-actions", ownerKey, body("agents", "drain"), 403},
		{"/v1/bulk-actions", operatorKey, body("agents", "drain"), 201},
		{"/v1/bulk-actions/" + thingID.String() + "/undo", operatorKey, `{"reason":"r"}`, 201},
	} {
		a := r.ask("POST", c.path, c.key, c.body)
		require.Equal(t, c.status, a.StatusCode, "%s %s %s: %s", c.path, c.key, c.body, a.body)
	}
	a := r.ask("POST", in("/bulk-actions"), ownerKey, `{"subject":"flags","action":"dismiss","filter":{"kind":"mismatch","ids":["`+thingID.String()+`"]},"reason":"r"}`)
	require.Equal(t, in("/bulk-actions/"+thingID.String()), a.Header.Get("Location"))
	require.Equal(t, "mismatch", r.fake.bulk.Filter.Kind)
	require.Len(t, r.fake.bulk.Filter.IDs, 1)
	require.False(t, r.fake.bulk.All)
	require.Equal(t, "/v1/bulk-actions/"+thingID.String(), r.ask("POST", "/v1/bulk-actions", operatorKey, body("agents", "drain")).Header.Get("Location"))
	require.True(t, r.fake.bulk.All)
}

// TestWhoBeginsABulkActionMayLookAtIt: operators too, who exclude agents from a project and read nothing else of it.
func TestWhoBeginsABulkActionMayLookAtIt(t *testing.T) {
	r := newRig(t)
	for _, key := range []string{ownerKey, submitterKey, viewerKey, operatorKey} {
		for _, path := range []string{in("/bulk-actions"), in("/bulk-actions/" + thingID.String())} {
			a := r.ask("GET", path, key, "")
			require.Equal(t, 200, a.StatusCode, "%s %s: %s", path, key, a.body)
		}
	}
	require.Equal(t, 403, r.ask("GET", in("/jobs"), operatorKey, "").StatusCode)
}

// TestARunningBulkActionIsNoWayAroundTheRole: who may undo one does not depend on how far it is.
func TestARunningBulkActionIsNoWayAroundTheRole(t *testing.T) {
	r := newRig(t)
	r.fake.bulkRuns = true
	for key, status := range map[string]int{submitterKey: 403, ownerKey: 201} {
		a := r.ask("POST", in("/bulk-actions/"+thingID.String()+"/undo"), key, `{"reason":"r"}`)
		require.Equal(t, status, a.StatusCode, "%s: %s", key, a.body)
	}
	a := r.ask("POST", in("/bulk-actions"), ownerKey, `{"subject":"flags","action":"dismiss","filter":{},"reason":"r","expected":7}`)
	require.Equal(t, 201, a.StatusCode, "%s", a.body)
	require.EqualValues(t, 7, *r.fake.bulk.Expected)
}

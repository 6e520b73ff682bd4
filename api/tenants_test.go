package api_test

import (
	"testing"

	"github.com/ostraka/ostraka/api/apitest"
)

func TestTenants(t *testing.T) {
	r := newRig(t)
	apitest.CheckTenants(t, apitest.Tenants{
		URL: r.url, Project: projectID.String(), Viewer: viewerKey, Submitter: submitterKey, Owner: ownerKey, Stranger: strangerKey,
		Operator: operatorKey, Agent: agentKey,
	})
}

package rest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/ostraka/ostraka/runtime/protocol"
)

// agentPaths begin the paths of the agent protocol.
const agentPaths = "/v1/agent/"

// understands refuses agents that speak a version of the agent protocol which this server does not.
func understands(op Operation, r *http.Request) error {
	if !strings.HasPrefix(op.Path, agentPaths) {
		return nil
	}
	var mismatch *protocol.Mismatch
	if !errors.As(protocol.Ours().Check(r.Header.Get(protocol.Header)), &mismatch) {
		return nil
	}
	which, hint := "too old", "install an agent of this server's version; /openapi.json and the header Ostraka-Version say which that is"
	if mismatch.Newer {
		which, hint = "too new", "ask the server's operator to update it, or install an agent of this server's version (header Ostraka-Version)"
	}
	p := NewProblem(http.StatusUpgradeRequired, CodeProtocol, "the agent is "+which+" for this server: "+mismatch.Error(), hint)
	p.headers = http.Header{"Upgrade": {"ostraka-agent/1"}} // a 426 must name something
	return p
}

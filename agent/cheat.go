package agent

import (
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
)

// Cheat makes an agent misbehave on purpose: package liar has the ways. Only the program that starts the agent can set it, from its own
// command line: no preference of an owner and nothing that a server sends does.
type Cheat struct {
	// Does says what it does, for the log.
	Does string
	// Sandbox wraps the sandbox, so that results change after they are made and before they are signed; nil: they are as they are.
	Sandbox func(isolation.Sandbox) isolation.Sandbox
	// Requests wraps what sends requests to the server; nil: they are sent as they are.
	Requests func(client.HttpRequestDoer) client.HttpRequestDoer
}

package main

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// agentNames is what the owners of agents call them.
type agentNames map[uuid.UUID]string

// lookUpNames asks for the names of the project's agents.
func lookUpNames(ctx context.Context, c *connection) (agentNames, error) {
	agents, err := projectAgents(ctx, c)
	if err != nil {
		return nil, err
	}
	return namesOf(agents), nil
}

// namesOf leaves out what would not tell one agent from another: a name that several have.
func namesOf(agents []client.ProjectAgent) agentNames {
	bearers := map[string]int{}
	for _, a := range agents {
		bearers[a.Name]++
	}
	names := agentNames{}
	for _, a := range agents {
		if bearers[a.Name] == 1 {
			names[a.ID] = a.Name
		}
	}
	return names
}

// of is the agent's name, or its ID where there is no name that tells it apart. The server's own attempts have no agent.
func (n agentNames) of(agent uuid.UUID) string {
	if agent == uuid.Nil {
		return "the server"
	}
	if name := n[agent]; name != "" {
		return name
	}
	return agent.String()
}

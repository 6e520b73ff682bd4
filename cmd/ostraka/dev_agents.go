//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/runtime/eula"
)

// devAgent is one of the agents that run beside the server.
type devAgent struct {
	name string
	liar liar.Kind // "": it is honest
}

// devAgents names the agents; the last ones lie, in ways that take turns.
func devAgents(agents, liars int, kinds []string) []devAgent {
	all := make([]devAgent, agents)
	for i := range all {
		all[i].name = "agent-" + strconv.Itoa(i+1)
		if i < agents-liars {
			continue
		}
		all[i].name, all[i].liar = all[i].name+"-liar", liar.Random
		if len(kinds) > 0 {
			all[i].liar = liar.Kind(kinds[(i-agents+liars)%len(kinds)])
		}
	}
	return all
}

// child makes the process that an agent runs in. Its token travels in the environment, which other users cannot see, and the
// environment holds nothing else that is secret.
func (a devAgent) child(dir *devDir, info devInfo, config devConfig) *child {
	return &child{
		name: a.name,
		log:  config.Log,
		// Usage and authorisation do not correct themselves: a revoked agent stays away.
		final: func(code int) bool { return code == exitOK || code == exitUsage || code == exitAuth },
		command: func() (*exec.Cmd, error) {
			program, err := os.Executable()
			if err != nil {
				return nil, fmt.Errorf("finding this program: %w", err)
			}
			out, err := a.openLog(dir)
			if err != nil {
				return nil, err
			}
			cmd := exec.Command(program, a.arguments(dir, info, config)...)
			cmd.Args[0] = "ostraka"
			cmd.Env = childEnvironment("OSTRAKA_TOKEN=" + info.AgentTokens[a.name])
			cmd.Stdout, cmd.Stderr = out, out
			return cmd, nil
		},
	}
}

func (a devAgent) arguments(dir *devDir, info devInfo, config devConfig) []string {
	// The user of ostraka dev lends this machine only to themselves.
	args := []string{
		"agent", "start", "--accept-eula", eula.Embedded().Version, "--url", info.URL, "--data", dir.agent(a.name), "--name", a.name, "--isolation", anyIsolation,
		"--lease-work", devLeaseWork.String(),
	}
	if !config.Sign {
		args = append(args, "--allow-unsigned") // the owner of the machine, the project and the server are one
	}
	if a.liar != "" {
		args = append(args, "--liar", "--liar-kind", string(a.liar), "--liar-probability", strconv.FormatFloat(config.LieProbability, 'g', -1, 64),
			"--liar-after", strconv.FormatInt(config.LieAfter, 10))
	}
	if config.PythonDir != "" {
		args = append(args, "--python-dir", config.PythonDir)
	}
	if config.Python != "" {
		args = append(args, "--python", config.Python)
	}
	return args
}

// maxAgentLog is the size, in bytes, from which an agent's log is put aside when the agent is started: one old log is kept.
const maxAgentLog = 1 << 20

func (a devAgent) openLog(dir *devDir) (*os.File, error) {
	path := dir.agentLog(a.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the agents' folder: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxAgentLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("putting the agent's old log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the agent's log: %w", err)
	}
	return f, nil
}

// childEnvironment is our environment without our secrets, and what is given besides.
func childEnvironment(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OSTRAKA_") && !strings.HasPrefix(v, "AWS_") {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

package main

import "github.com/spf13/pflag"

func agentConfigKind() configKind {
	return configKind{name: "agent", command: "ostraka agent start", keys: agentKeys(), open: func(t *terminal, flags *pflag.FlagSet) func() error {
		o := &agentStartOptions{terminal: t, server: &serverFlags{terminal: t}}
		o.server.register(flags) // of all commands, which the agent's address is among
		o.register(flags)
		return o.check
	}}
}

// agentKeys are the settings of an agent, in the order of the example. Each flag of `ostraka agent start` has one, but --config and those
// that make a liar of the agent: demonstrations and tests give them.
func agentKeys() []configKey {
	return []configKey{
		{name: "agent.url", flag: "url", env: "OSTRAKA_URL"},
		{name: "agent.insecure_http", flag: "insecure-http", env: "OSTRAKA_INSECURE_HTTP"},
		{name: "agent.token", flag: "token", env: tokenVariable, instead: []string{"--token-file"}, secret: true},
		{name: "agent.token_file", flag: "token-file", instead: []string{"--token", tokenVariable}},
		{name: "agent.accept_eula", flag: "accept-eula", env: "OSTRAKA_ACCEPT_EULA"},
		{name: "agent.data", flag: "data"},
		{name: "agent.name", flag: "name"},
		{name: "agent.workers", flag: "workers"},
		{name: "agent.lease_work", flag: "lease-work"},
		{name: "agent.cache", flag: "cache"},
		{name: "agent.allow_unsigned", flag: "allow-unsigned"},

		{name: "sandbox.isolation", flag: "isolation"},
		{name: "sandbox.python", flag: "python"},
		{name: "sandbox.python_dir", flag: "python-dir", env: pythonDirVariable},

		{name: "limits.memory", flag: "max-memory"},
		{name: "limits.disk", flag: "max-disk"},
		{name: "limits.wall_seconds", flag: "max-wall"},
		{name: "limits.cpu_seconds", flag: "max-cpu"},
		{name: "limits.pids", flag: "max-pids"},

		{name: "alerts.thresholds", flag: "threshold"},
		{name: "alerts.command", flag: "alert-command"},
		{name: "alerts.webhook", flag: "alert-webhook"},
		{name: "alerts.webhook_secret_file", flag: "alert-webhook-secret-file"},

		{name: "log.level", flag: "log-level"},
		{name: "log.format", flag: "log-format"},
	}
}

package service

import (
	_ "embed"
	"path/filepath"
	"text/template"
)

// Kind is what can be made a service.
type Kind struct {
	Name    string // of the service and its user
	Title   string // in sentences
	noun    string // of the command that installs it: ostraka NOUN install
	etc     string // folder of its environment file and manifest
	secrets string // what the environment file says of itself
	needs   string // what of it the next installation has to be given
	unit    *template.Template
	command func(o *Options) []string
}

//go:embed agent.tmpl
var agentUnit string

//go:embed server.tmpl
var serverUnit string

// The kinds.
var (
	Agent = &Kind{
		Name: "ostraka-agent", Title: "the agent", noun: "agent", etc: "/etc/ostraka-agent",
		secrets: "the token lets machines join the project. It may be deleted once the agent has joined.",
		needs:   "--url again, and a token if the agent is to join anew",
		unit:    template.Must(template.New("agent").Parse(agentUnit)),
		command: func(*Options) []string { return []string{"agent", "start", "--data", "/var/lib/ostraka-agent"} },
	}
	Server = &Kind{
		Name: "ostraka-server", Title: "the server", noun: "server", etc: "/etc/ostraka",
		secrets: "who reads this can read and change everything that the server keeps.",
		needs:   "the secrets again",
		unit:    template.Must(template.New("server").Parse(serverUnit)),
		command: func(o *Options) []string { return []string{"server", "--config", o.Config} },
	}
)

// ServerConfig is where a server's settings are, unless told.
const ServerConfig = "/etc/ostraka/server.toml"

// StateDir is the data directory.
func (k *Kind) StateDir() string { return "/var/lib/" + k.Name }

func (k *Kind) programPath() string     { return "/usr/local/lib/" + k.Name + "/ostraka" }
func (k *Kind) environmentPath() string { return k.etc + "/" + k.noun + ".env" }
func (k *Kind) manifestPath() string    { return k.etc + "/installed.json" }
func (k *Kind) unitPath() string        { return "/etc/systemd/system/" + k.Name + ".service" }

// known are the only files and folders that a manifest may name: an edited manifest cannot make uninstall remove something else.
func (k *Kind) knownFiles() []string {
	return []string{k.programPath(), k.environmentPath(), k.unitPath()}
}

func (k *Kind) knownFolders() []string {
	return []string{"/usr/local/lib", filepath.Dir(k.programPath()), k.etc, "/etc/systemd", "/etc/systemd/system", "/usr", "/usr/local", "/etc"}
}

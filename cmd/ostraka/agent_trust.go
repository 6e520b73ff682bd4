package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/runtime/signing"
)

// agentTrustOptions are the flags of `ostraka agent trust`.
type agentTrustOptions struct {
	outputFlag
	terminal *terminal
	data     dataFlag
	forget   bool
}

func newAgentTrust(t *terminal) *cobra.Command {
	o := &agentTrustOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "trust [PROJECT FINGERPRINT]",
		Short: "Say whose functions this agent executes, or list them",
		Long: `Without arguments: list the projects whose signing keys this agent trusts, and from where it knows them.

With a project and a fingerprint: trust that key, instead of another that was trusted before. Ask the
project's owner for the fingerprint (ostraka signing-key list), and not the server: it is the server
that this protects from. An agent that runs need not be restarted.

--forget PROJECT trusts no key of the project any more. What it signs is refused then.`,
		Example: "  ostraka agent trust 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		RunE:    func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	o.register(cmd.Flags())
	o.data.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.forget, "forget", false, "trust no key of the project any more")
	return cmd
}

func (o *agentTrustOptions) run(args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	dir, err := o.data.dir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("looking for the agent's folder: %w", err), hint: "name it with --data; ostraka agent start makes it"}
	}
	store := trust.Open(dir)
	switch {
	case len(args) == 0 && !o.forget:
		return o.list(store)
	case len(args) == 1 && o.forget:
		return o.forgetProject(store, args[0])
	case len(args) == 2 && !o.forget:
		return o.trust(store, args[0], args[1])
	default:
		return usageError("which key? ostraka agent trust PROJECT FINGERPRINT, or ostraka agent trust --forget PROJECT")
	}
}

func (o *agentTrustOptions) trust(store *trust.Store, project, fingerprint string) error {
	id, err := parseID("project", project)
	if err != nil {
		return err
	}
	if !signing.IsFingerprint(fingerprint) {
		return usageError("%q is no fingerprint: it has 64 lower-case hexadecimal characters", fingerprint)
	}
	if err := store.Set(id, fingerprint, trust.ByOwner); err != nil {
		return err
	}
	o.terminal.say("trusting the key %s of project %s", fingerprint, id)
	return nil
}

func (o *agentTrustOptions) forgetProject(store *trust.Store, project string) error {
	id, err := parseID("project", project)
	if err != nil {
		return err
	}
	known, err := store.Forget(id)
	if err != nil {
		return err
	}
	if !known {
		return &exitError{code: exitNotFound, err: errors.New("no key of that project is trusted"), hint: "ostraka agent trust lists those that are"}
	}
	o.terminal.say("trusting no key of project %s any more", id)
	return nil
}

func (o *agentTrustOptions) list(store *trust.Store) error {
	keys, err := store.Keys()
	if err != nil {
		return err
	}
	if o.json() {
		return writeValue(o.terminal.out, keys)
	}
	projects := make([]uuid.UUID, 0, len(keys))
	for project := range keys {
		projects = append(projects, project)
	}
	slices.SortFunc(projects, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return printRows(o.terminal, &o.outputFlag, projects, nil, []string{"PROJECT", "FINGERPRINT", "KNOWN FROM", "SINCE"}, func(p uuid.UUID) []string {
		return []string{p.String(), keys[p].Fingerprint, keys[p].How, shortTime(keys[p].At)}
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// flagResolveOptions are the flags of `ostraka flag resolve`.
type flagResolveOptions struct {
	flagOptions
	decisionFlags
	reject  bool
	rerun   bool
	recheck bool
	pardon  bool
	dismiss bool
}

func newFlagResolve(t *terminal, server *serverFlags) *cobra.Command {
	o := &flagResolveOptions{flagOptions: flagOptions{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use:   "resolve FLAG {--accept DIGEST | --reject | --rerun | --recheck | --pardon | --dismiss} --reason TEXT",
		Short: "Decide about a flag; takes an owner's key",
		Long: `Decide about a flag. "ostraka flag show" says what can be decided and what each decision will do. A shard
that was accepted wrongly is taken back with --rerun, as long as its job has not ended. The reason
goes into the audit log.`,
		Example: `  ostraka flag list
  ostraka flag show FLAG
  ostraka flag resolve FLAG --accept 32039837fe56 --reason "checked by hand"`,
		Args: arguments(1), ValidArgsFunction: server.complete(flagIDs), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	o.register(f)
	o.registerDecision(f, "take the output with this digest, or the start of it, as the shard's result")
	f.BoolVar(&o.reject, "reject", false, "give the shard up, and the job with it")
	f.BoolVar(&o.rerun, "rerun", false, "lease the shard again")
	f.BoolVar(&o.recheck, "recheck", false, "have the server execute the shard itself")
	f.BoolVar(&o.pardon, "pardon", false, "take back what the project holds against the agent")
	f.BoolVar(&o.dismiss, "dismiss", false, "close a flag that needs no decision")
	return cmd
}

func (o *flagResolveOptions) run(ctx context.Context, flag string) error {
	if err := o.check(); err != nil {
		return err
	}
	decision, err := o.decision()
	if err != nil {
		return err
	}
	c, id, err := o.server.connectAbout(ctx, "flag", flag)
	if err != nil {
		return err
	}
	read, err := getFlag(ctx, c, id)
	if err != nil {
		return err
	}
	if o.accept != "" {
		if decision.Digest, err = chooseGroup(read.Value, o.accept); err != nil {
			return err
		}
	}
	doc, err := resolveFlag(ctx, c, read, decision)
	if err != nil {
		return err
	}
	return o.printFlag(ctx, c, doc)
}

// resolveFlag sends a decision, again and again where one settles a part of the shards that it is about.
func resolveFlag(ctx context.Context, c *connection, read answer.Document[client.FlagDetail], decision client.FlagResolution) (answer.Document[client.FlagDetail], error) {
	tag := read.Header.Get("ETag")
	if tag == "" {
		return read, errors.New("the server sent no ETag with the flag")
	}
	for {
		key := uuid.NewString()
		doc, err := answer.Read[client.FlagDetail](c.ResolveFlag(ctx, c.project, read.Value.ID, &client.ResolveFlagParams{IdempotencyKey: &key, IfMatch: &tag}, decision))
		if err != nil {
			return doc, explain("deciding about the flag", err)
		}
		if doc.Header.Get("ETag") != tag {
			return doc, nil
		}
	}
}

// decision is what the flags say.
func (o *flagResolveOptions) decision() (client.FlagResolution, error) {
	decision, err := o.decisionFlags.decision("choose one of --accept DIGEST, --reject, --rerun, --recheck, --pardon and --dismiss",
		choice{"reject", o.reject}, choice{"rerun", o.rerun}, choice{"recheck", o.recheck}, choice{"pardon", o.pardon}, choice{"dismiss", o.dismiss})
	return client.FlagResolution{Decision: client.FlagResolutionDecision(decision), Reason: o.reason}, err
}

// chooseGroup finds the one group whose output's digest begins like that.
func chooseGroup(f client.FlagDetail, start string) (string, error) {
	if f.Item == nil {
		return "", &exitError{code: exitRefused, err: errors.New("the flag is not about one shard, so that no output can be accepted"), hint: "ostraka flag show says what can be decided"}
	}
	var found []string
	for _, g := range f.Item.Groups {
		if g.Digest != "" && strings.HasPrefix(g.Digest, start) {
			found = append(found, g.Digest)
		}
	}
	if len(found) != 1 {
		return "", &exitError{
			code: exitRefused, err: fmt.Errorf("%s of the shard have digests that begin with %s", count(int64(len(found)), "output"), start),
			hint: "ostraka flag show FLAG -o json shows the outputs with their whole digests",
		}
	}
	return found[0], nil
}

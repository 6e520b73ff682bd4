package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
)

// policyFlags say how a job's results are verified.
type policyFlags struct {
	quorum        int64
	noVerify      bool
	targetError   float64
	assumeHostile float64
	answerError   float64
	exact         bool
	recheck       string
	confirm       string
	set           *pflag.FlagSet
}

func (o *policyFlags) register(f *pflag.FlagSet) {
	o.set = f
	f.Int64Var(&o.quorum, "quorum", 0, "how many different agents must give the same answer")
	f.BoolVar(&o.noVerify, "no-verify", false, "believe the first answer")
	f.Float64Var(&o.targetError, "target-error", 0, "the share of accepted results that may be wrong: results are audited until it holds; left out, with the other ways: what the function says, or else 0.001")
	f.Float64Var(&o.assumeHostile, "assume-hostile", 0, "beside --target-error: the share of the results that hostile agents may give together (default 0.1)")
	f.Float64Var(&o.answerError, "answer-error", 0, "the probability with which any result of the job may be wrong: the cheapest way to it is chosen")
	f.BoolVar(&o.exact, "exact", false, "the same as --answer-error 0.000001; ostraka job plan says what it costs")
	f.StringVar(&o.recheck, "recheck", "", "all: the server executes every shard as well")
	f.StringVar(&o.confirm, "confirm", "", "a condition over output, in CEL: results that fulfil it are executed again before they count; not with --quorum and --no-verify")
}

// request is what the flags ask for; nil: what the function says.
func (o *policyFlags) request() (*client.PolicyRequest, error) {
	var ways []string
	for _, name := range []string{"quorum", "no-verify", "target-error", "answer-error", "exact", "recheck"} {
		if o.set.Changed(name) {
			ways = append(ways, "--"+name)
		}
	}
	switch {
	case len(ways) > 1:
		return nil, usageError("%s exclude one another", strings.Join(ways, " and "))
	case o.set.Changed("quorum") && o.quorum < 1:
		return nil, usageError("--quorum and --version count from 1")
	case o.set.Changed("assume-hostile") && !o.set.Changed("target-error") && !o.set.Changed("answer-error") && !o.exact:
		return nil, usageError("--assume-hostile is part of a --target-error: give that, too")
	case o.set.Changed("answer-error") && !(o.answerError >= 1e-6 && o.answerError <= 0.5):
		return nil, usageError("--answer-error is %v: the probability of any wrong result is 0.000001 to 0.5", o.answerError)
	case o.set.Changed("target-error") && !(o.targetError >= 1e-6 && o.targetError <= 0.5):
		return nil, usageError("--target-error is %v: the share of wrong results is 0.000001 to 0.5", o.targetError)
	case o.set.Changed("assume-hostile") && !(o.assumeHostile >= 0.001 && o.assumeHostile <= 0.49):
		return nil, usageError("--assume-hostile is %v: the share of hostile results is 0.001 to 0.49", o.assumeHostile)
	case o.set.Changed("recheck") && o.recheck != "all":
		return nil, usageError("--recheck is %q: there is only --recheck all", o.recheck)
	case o.confirm != "" && (o.quorum > 0 || o.noVerify):
		return nil, usageError("--confirm has results executed once more, and --quorum and --no-verify execute nothing once more: leave them out, or --confirm")
	case o.set.Changed("confirm") && o.confirm == "":
		return nil, usageError(`--confirm is empty: write a condition such as "output.longest > 500", or "false" where none of the results matters`)
	case o.confirm == "" && (len(ways) == 0 || ways[0] == "--no-verify" && !o.noVerify || ways[0] == "--exact" && !o.exact):
		return nil, nil
	}
	return &client.PolicyRequest{
		Quorum: o.quorum, None: o.noVerify, TargetError: o.targetError, AssumeHostile: o.assumeHostile,
		AnswerError: o.answerError, Exact: o.exact, Recheck: client.PolicyRequestRecheck(o.recheck), Confirm: o.confirm,
	}, nil
}

// policyText says in a line how results are verified.
func policyText(p client.Policy) string {
	text := wayText(p)
	if p.Confirm != "" {
		text += "; results are executed once more where " + plain(p.Confirm)
	}
	return text
}

func wayText(p client.Policy) string {
	switch {
	case p.None:
		return "none: the first answer is believed"
	case p.AnswerError > 0 && p.Recheck != "":
		return fmt.Sprintf("any result is wrong with a probability of at most %g: the server executes every shard as well", p.AnswerError)
	case p.AnswerError > 0:
		return fmt.Sprintf("any result is wrong with a probability of at most %g, with %g of the results hostile", p.AnswerError, p.AssumeHostile)
	case p.Recheck != "":
		return "every shard is executed by the server as well"
	case p.TargetError > 0:
		text := fmt.Sprintf("at most %g of the accepted results are wrong", p.TargetError)
		if p.AssumeHostile > 0 {
			text += fmt.Sprintf(", with %g of the results hostile", p.AssumeHostile)
		}
		return text
	case p.Quorum == 1:
		return "quorum of 1: the first output is believed"
	default:
		return fmt.Sprintf("quorum of %d", p.Quorum)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

const about = `Ostraka runs a Python function over a million shards on machines you do not trust,
and gives you an answer that you can.

Try it:     ostraka demo                 four agents, one of them a liar, and a known answer
            ostraka dev                  everything on this machine, until Ctrl-C
Use it:     ostraka function push DIR    then: ostraka job run NAME --range FROM:TO --wait
Lend it:    ostraka agent start          this machine works for a server`

const environmentHelp = `

Environment:
  OSTRAKA_URL      the server, as --url
  OSTRAKA_KEY      your key; it has no flag, since others can see command lines (--key-file names a file)
  OSTRAKA_PROJECT  the project's ID, as --project
  OSTRAKA_CONTEXT  what ostraka login has kept under this name, as --context

Exit codes:
`

// run is the whole program: it runs a command line and returns the exit code.
func run(ctx context.Context, t *terminal, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// After the first signal the second one kills, whatever the command is doing.
	context.AfterFunc(ctx, stop)
	out := &outputWriter{Writer: t.out}
	t.out = out
	root := newRoot(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = out.check(adviseHelp(cmd, inFlags(cmd, err)))
	if err != nil && !errors.Is(err, errSaid) {
		t.complain(err)
	}
	return exitCode(err)
}

// negativeNumber matches a negative number that pflag reported as an unknown flag.
var negativeNumber = regexp.MustCompile(`-\d[0-9.]*$`)

// errSaid marks an error that the command has explained already.
var errSaid = errors.New("explained already")

func newRoot(t *terminal) *cobra.Command {
	root := noun("ostraka", "Run Python on machines you do not trust, and get answers that you can")
	root.Long = about + environmentHelp + exitCodeHelp()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version
	root.SetVersionTemplate(versionLine())
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.talk)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
			return unknownCommand(cmd, words[0]) // the flag may be right for the command that was meant
		}
		if number := negativeNumber.FindString(err.Error()); number != "" {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s is read as a flag", number), hint: "no number below 0 is meant to stand there; write -- before it if you mean it all the same"}
		}
		return &exitError{code: exitUsage, err: errors.New(withoutParser(err)), hint: helpOf(cmd)}
	})

	server := &serverFlags{terminal: t}
	server.register(root.PersistentFlags())
	addCommands(root, t, server)
	checkHelp(root)
	return root
}

// parserWords are those of Go's own parsers in what is wrong with a flag's value, which stands before them already.
var parserWords = regexp.MustCompile(`^(invalid argument .* flag: )(?:strconv\.\w+: parsing "(?:[^"\\]|\\.)*": |time: )`)

// withoutParser is what is wrong with a flag, in words for people.
func withoutParser(err error) string { return parserWords.ReplaceAllString(err.Error(), "$1") }

// noun makes the command that holds the verbs of one noun.
func noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ArbitraryArgs,

		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// checkHelp makes `ostraka help` refuse commands that there are not; by itself it shows the help of something else.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			return unknownCommand(cmd, rest[0])
		}
		if err != nil {
			return &exitError{code: exitUsage, err: err, hint: "see ostraka --help"}
		}
		cmd.InitDefaultHelpFlag()
		return cmd.Help()
	}
}

func unknownCommand(cmd *cobra.Command, word string) error {
	hint := helpOf(cmd)
	cmd.SuggestionsMinimumDistance = 2 // letters; cobra sets it only for its own message
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or "+cmd.CommandPath()+" ") + "?"
	}
	return &exitError{code: exitUsage, err: errors.New("there is no command " + cmd.CommandPath() + " " + word), hint: hint}
}

// arguments checks how many arguments a command got.
func arguments(n int) cobra.PositionalArgs { return argumentsBetween(n, n) }

// anyNumber is a number of arguments without a limit.
const anyNumber = math.MaxInt

// argumentsBetween refuses another number of arguments than least to most.
func argumentsBetween(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return &exitError{code: exitUsage, err: errors.New("usage: " + cmd.UseLine()), hint: helpOf(cmd)}
	}
}

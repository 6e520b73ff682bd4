package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// maxTypedKey bounds what is read as a key.
const maxTypedKey = 1024

// loginOptions are the flags of `ostraka login`.
type loginOptions struct {
	terminal *terminal
	server   *serverFlags
}

func newLogin(t *terminal, server *serverFlags) *cobra.Command {
	o := &loginOptions{terminal: t, server: server}
	return &cobra.Command{
		Use:   "login [NAME]",
		Short: "Keep a server and your key, so that commands find both",
		Long: `Keep a server, your key and its project under a name, so that commands need neither environment nor flags.
The server is that of --url or OSTRAKA_URL; the key that of --key-file or OSTRAKA_KEY, or what you type. Both are tried first.
They are kept in a file that only you can read, and the key is sent to that server alone.
NAME is the host of the server when it is left out. A server, key or project that is given otherwise is used instead.`,
		Example: `  ostraka login --url https://ostraka.example.org
  ostraka login lab --url https://a.example.org,https://b.example.org --key-file ./key
  ostraka job list --context lab`,
		Args: argumentsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
}

func (o *loginOptions) run(ctx context.Context, args []string) error {
	if o.server.context != "" {
		return usageError("ostraka login makes a context: give its name as an argument, and not as --context")
	}
	servers, err := o.server.addresses()
	if err != nil {
		return err
	}
	name, err := loginName(args, servers)
	if err != nil {
		return err
	}
	key, err := o.key(ctx)
	if err != nil {
		return err
	}
	c, err := dial(servers, key)
	if err != nil {
		return err
	}
	who, err := answer.Read[client.Identity](c.GetSession(ctx))
	if err != nil {
		return explain("logging in at "+c.url, err)
	}
	saved := savedContext{Name: name, URL: servers, Key: key, Project: firstOf(o.server.project, o.terminal.env("OSTRAKA_PROJECT"))}
	if who.Value.Project != nil {
		saved.Project = who.Value.Project.String() // a key is good for one project only
	}
	if err := o.keep(saved); err != nil {
		return err
	}
	o.terminal.say("logged in at %s as %s; commands use the context %s from now on", c.url, plain(string(who.Value.Role)), name)
	if o.server.addressFromEnvironment() {
		o.terminal.say("OSTRAKA_URL is set, and is used before any context: unset it, or give --context %s", name)
	}
	return nil
}

func (o *loginOptions) keep(saved savedContext) error {
	file, all, err := o.terminal.contexts()
	if err != nil {
		return err
	}
	if err := all.put(saved); err != nil {
		return err
	}
	return all.write(file)
}

// loginName is the name of the new context.
func loginName(args []string, servers string) (string, error) {
	if len(args) == 0 {
		first, _, _ := strings.Cut(servers, ",")
		u, err := url.Parse(first)
		if err != nil {
			return "", usageError("%q is not the URL of a server", first)
		}
		return strings.NewReplacer(":", "-", "[", "", "]", "").Replace(strings.ToLower(u.Host)), nil
	}
	if !contextName.MatchString(args[0]) {
		return "", usageError("%q is no name for a context: lower-case letters, digits, dots, hyphens and underscores, 63 at most", args[0])
	}
	return args[0], nil
}

// key is the key to keep: one that is given, or one that is typed without being shown, or the first line of the input.
func (o *loginOptions) key(ctx context.Context) (string, error) {
	if o.server.keyGiven() {
		return o.server.key()
	}
	text, err := o.typedKey(ctx)
	if err != nil {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", &exitError{code: exitAuth, err: errors.New("there is no key"), hint: "type it, give it on standard input, or name a file that holds it with --key-file"}
	}
	return text, nil
}

func (o *loginOptions) typedKey(ctx context.Context) (string, error) {
	if !o.terminal.asks {
		line, err := bufio.NewReader(io.LimitReader(o.terminal.in, maxTypedKey)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the key: %w", err)
		}
		return line, nil
	}
	fmt.Fprint(o.terminal.talk, "Key (it is not shown): ")
	defer fmt.Fprintln(o.terminal.talk)
	return hidden(ctx)
}

// hidden reads a line from the terminal without showing it, or gives up when the context ends, and leaves the terminal as it was.
func hidden(ctx context.Context) (string, error) {
	stdin := int(os.Stdin.Fd())
	before, err := term.GetState(stdin)
	if err != nil {
		return "", fmt.Errorf("reading the key: %w", err)
	}
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := term.ReadPassword(stdin)
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("reading the key: %w", r.err)
		}
		return string(r.text), nil
	case <-ctx.Done():
		_ = term.Restore(stdin, before)
		return "", &exitError{code: exitInterrupted, err: errors.New("interrupted: nothing was kept")}
	}
}

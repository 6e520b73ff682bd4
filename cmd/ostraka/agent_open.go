package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/ownerpage"
	"github.com/ostraka/ostraka/api/limit"
)

const (
	// ownerPageQuiet is how long the page is served without readers: an open page asks every two seconds.
	ownerPageQuiet = time.Hour
	// ownerPageTimeout bounds how long a request may take to come: the browser is on the same machine.
	ownerPageTimeout = 10 * time.Second
	// ownerPageConnections is how many connections the page has at a time, one too many is closed: a browser opens six, and others on
	// the machine who open many shall cost its owner little.
	ownerPageConnections = 64
)

// agentOpenOptions are the flags of `ostraka agent open`.
type agentOpenOptions struct {
	terminal  *terminal
	data      dataFlag
	port      int
	noBrowser bool
}

func newAgentOpen(t *terminal) *cobra.Command {
	o := &agentOpenOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Show the page about the agent on this machine in a browser",
		Long: `Show the page about the agent on this machine in a browser: what runs now and for whom, what was done and
refused, and why it is idle. It pauses and resumes the agent and changes its preferences.

The command serves the page on 127.0.0.1 until Ctrl-C, or after an hour without a reader, to the
one tab of a browser that opens the link. No server is asked, and the agent opens no port.`,
		Example: "  ostraka agent open\n  sudo ostraka agent open --data /var/lib/ostraka-agent --no-browser",
		Args:    arguments(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.data.register(cmd.Flags())
	cmd.Flags().IntVar(&o.port, "port", 0, "of 127.0.0.1; left out: one that is free")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "only print the link")
	return cmd
}

func (o *agentOpenOptions) run(ctx context.Context) error {
	dir, err := o.data.dir()
	if err != nil {
		return err
	}
	if o.port < 0 || o.port > 65535 {
		return usageError("--port %d: choose 0 to 65535", o.port)
	}
	if _, err := agent.ReadStatus(dir); err != nil { // says when there is no agent
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", o.port))
	if err != nil {
		return fmt.Errorf("serving the page: %w", err)
	}
	page, err := ownerpage.New(ownerpage.Options{Dir: dir, Host: listener.Addr().String(), Say: func(what string) { o.terminal.say("%s", plain(what)) }})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	o.terminal.put("%s\n", page.Link())
	o.terminal.say("The link works once. Ctrl-C ends the page; the agent continues.")
	if !o.noBrowser && o.terminal.asks {
		forget, err := openOwnerPage(ctx, o.terminal, page.Link())
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer forget()
	}
	return serveOwnerPage(ctx, page, listener)
}

// openOwnerPage has the browser go to the link by a file that no other user may read: everybody on the machine sees the arguments of its
// programs, and the link is for the first who uses it. forget deletes the file.
func openOwnerPage(ctx context.Context, t *terminal, link string) (forget func(), err error) {
	dir, err := os.MkdirTemp("", "ostraka-open-") // closed to others
	if err != nil {
		return nil, fmt.Errorf("opening the page: %w", err)
	}
	forget = func() { _ = os.RemoveAll(dir) } // the link in it was used, or ends with this command
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, redirectTo(link), 0o600); err != nil {
		forget()
		return nil, fmt.Errorf("opening the page: %w", err)
	}
	// Some systems' openers end with the browser: the page is served meanwhile, and its end is not the browser's.
	go openBrowser(context.WithoutCancel(ctx), t, file)
	return forget, nil
}

// serveOwnerPage serves until the context ends, or the page has no readers.
func serveOwnerPage(ctx context.Context, page *ownerpage.Page, listener net.Listener) error {
	server := &http.Server{Handler: page.Handler(), ReadTimeout: ownerPageTimeout, WriteTimeout: ownerPageTimeout, IdleTimeout: ownerPageTimeout, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	bounded := limit.Listener(listener, limit.Connections{All: ownerPageConnections}, nil)
	go func() { ended <- server.Serve(bounded) }()
	look := time.NewTicker(time.Minute)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("serving the page: %w", err)
		case <-ctx.Done():
			return server.Close()
		case <-look.C:
			if page.Quiet() >= ownerPageQuiet {
				return server.Close()
			}
		}
	}
}

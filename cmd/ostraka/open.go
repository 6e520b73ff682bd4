package main

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/wholefile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newOpen(t *terminal, server *serverFlags) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "open [OBJECT]",
		Short: "Open the portal, signed in",
		Long: `Print a link that signs one browser in as your key, and open it where there is a browser.
The link works once, and for ten minutes. OBJECT is the ID of a job, a flag or an agent, or the name of a function.`,
		Example: `  ostraka open
  ostraka open 0190a5d4-0000-7000-8000-000000000003
  ostraka open --no-browser bpsw`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connect()
			if err != nil {
				return err
			}
			page := ""
			if len(args) == 1 {
				if err := server.choose(c); err != nil {
					return err
				}
				if page, err = portalPage(cmd.Context(), c, args[0]); err != nil {
					return err
				}
			}
			link, err := answer.Read[client.SignInLink](c.CreateSignInLink(cmd.Context(), &client.CreateSignInLinkParams{}))
			if err != nil {
				return explain("making a sign-in link", err)
			}
			address := c.url + linkTo(link.Value.Path, page)
			t.put("%s\n", address)
			if !noBrowser && t.asks {
				openPortal(cmd.Context(), t, address)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the link")
	return cmd
}

// openPortal has the browser go to a link by a file that no other user may read: everybody on the machine sees the arguments of its programs.
// The file stays, since the browser may come to it after this command has ended; the link in it works once and for minutes, and the next
// one takes its place.
func openPortal(ctx context.Context, t *terminal, link string) {
	file, err := keepRedirect(link)
	if err != nil {
		t.say("no browser was opened (%s): open the link yourself", plain(err.Error()))
		return
	}
	openBrowser(ctx, t, file)
}

// keepRedirect writes the page that leads on to a link.
func keepRedirect(link string) (file string, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "ostraka")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file = filepath.Join(dir, "open.html")
	return file, wholefile.Write(file, redirectTo(link), 0o600)
}

// redirectTo is a page that leads on to a link.
func redirectTo(link string) []byte {
	return []byte(`<!doctype html><meta charset="utf-8"><title>Ostraka</title><meta http-equiv="refresh" content="0; url=` + html.EscapeString(link) + `">` + "\n")
}

// linkTo is the path of a sign-in link that continues to a page.
func linkTo(path, page string) string {
	if page == "" {
		return path
	}
	return path + "&to=" + url.QueryEscape(page)
}

// portalPage is the page about a thing of the project.
func portalPage(ctx context.Context, c *connection, object string) (string, error) {
	project := "/p/" + c.project.String()
	id, err := uuid.Parse(object)
	if err != nil {
		if _, err := answer.Read[client.FunctionVersion](c.GetFunction(ctx, c.project, object)); err != nil {
			return "", explain("looking for the function "+object, err)
		}
		return project + "/functions/" + url.PathEscape(object), nil
	}
	for _, kind := range []struct {
		page string
		get  func() (*http.Response, error)
	}{
		{"/jobs/", func() (*http.Response, error) { return c.GetJob(ctx, c.project, id, &client.GetJobParams{}) }},
		{"/review/", func() (*http.Response, error) { return c.GetFlag(ctx, c.project, id) }},
		{"/agents/", func() (*http.Response, error) { return c.GetProjectAgent(ctx, c.project, id) }},
	} {
		_, err := answer.Read[struct{}](kind.get())
		if err == nil {
			return project + kind.page + id.String(), nil
		}
		if !errors.Is(err, answer.Code("not_found")) {
			return "", explain("looking for "+object, err)
		}
	}
	return "", &exitError{code: exitNotFound, err: errors.New("there is no job, flag or agent " + object), hint: "check the ID and the project: ostraka job list"}
}

// openBrowser opens the link where the system knows how to. The link is printed anyway.
func openBrowser(ctx context.Context, t *terminal, address string) {
	var program []string
	switch {
	case runtime.GOOS == "darwin":
		program = []string{"open"}
	case runtime.GOOS == "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case t.env("DISPLAY") != "" || t.env("WAYLAND_DISPLAY") != "":
		program = []string{"xdg-open"}
	default:
		return
	}
	if err := exec.CommandContext(ctx, program[0], append(program[1:], address)...).Run(); err != nil {
		t.say("no browser was opened (%s): open the link yourself", strings.TrimSpace(err.Error()))
	}
}

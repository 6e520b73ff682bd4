//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ostraka/ostraka/api/tenant"
)

// banner tells a person what runs and what to type next, program being this program.
func (d *dev) banner(program string) string {
	var b strings.Builder
	liars := ""
	if d.config.Liars > 0 {
		liars = fmt.Sprintf(", %d of them lying", d.config.Liars)
	}
	fmt.Fprintf(&b, "\n  Ostraka runs here with %s%s. Ctrl-C stops everything", count(int64(d.config.Agents), "agent"), liars)
	if d.dir.temporary {
		b.WriteString(" and forgets it (--data DIR keeps it)")
	} else {
		b.WriteString("; jobs go on when it is started again")
	}
	fmt.Fprintf(&b, ".\n\n  In another terminal:\n    . %s\n", d.shown(d.dir.environment()))
	fmt.Fprintf(&b, "    %s function push examples/bpsw\n"+
		"    %s job run bpsw --range 2^64:2^64+10^6 --shard-size 5000 --wait\n", program, program)
	b.WriteString("    curl -H \"Authorization: Bearer $OSTRAKA_KEY\" $OSTRAKA_URL/v1/projects/$OSTRAKA_PROJECT/jobs\n\n")
	if d.portal != "" {
		fmt.Fprintf(&b, "  Portal    %s\n            (signs in once, within 10 minutes; `%s open` makes another link)\n", d.portal, program)
	}
	fmt.Fprintf(&b, "  API docs  %s/docs\n", d.info.URL)
	fmt.Fprintf(&b, "  River UI  %s/ops/river/  (the password is operator_key in %s)\n", d.info.URL, d.shown(d.dir.info()))
	fmt.Fprintf(&b, "  Agents    log to %s\n", d.shown(d.dir.agentLog("*")))
	return b.String()
}

// signInLink makes the link that the banner shows.
func (d *dev) signInLink(ctx context.Context) (string, error) {
	owner, err := d.server.service.Authenticate(ctx, d.info.OwnerKey)
	if err != nil {
		return "", err
	}
	secret, _, err := d.server.service.CreateSignInLink(ctx, owner)
	if err != nil {
		return "", err
	}
	return d.info.URL + tenant.SignInPath(secret), nil
}

// shown is a path as a person would type it from here.
func (d *dev) shown(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || strings.HasPrefix(relative, "..") {
		return path
	}
	return "./" + relative
}

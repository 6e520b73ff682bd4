package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
)

// serverFlags say which server a command talks to, and as whom.
type serverFlags struct {
	terminal *terminal
	url      string
	project  string
	keyFile  string
	insecure bool // plain HTTP to any host
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "url", "", "the server (or OSTRAKA_URL)")
	flags.StringVar(&f.project, "project", "", "the project's ID (or OSTRAKA_PROJECT)")
	flags.BoolVar(&f.insecure, "insecure-http", false, "send keys in clear text to a server that is not on this machine and has no HTTPS (or OSTRAKA_INSECURE_HTTP=1)")
	flags.StringVar(&f.keyFile, "key-file", "", "file that holds your key (or OSTRAKA_KEY)")
}

// connection is a server with the key and the project to use there.
type connection struct {
	*client.Client
	url     string
	key     string
	project uuid.UUID
}

// connect finds the server and the key. It sends nothing yet.
func (f *serverFlags) connect() (*connection, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	return dial(address, key)
}

// connectProject is connect for commands that work in a project.
func (f *serverFlags) connectProject() (*connection, error) {
	c, err := f.connect()
	if err != nil {
		return nil, err
	}
	return c, f.choose(c)
}

// connectAbout is connectProject for a command about one thing of the project, which text names.
func (f *serverFlags) connectAbout(what, text string) (*connection, uuid.UUID, error) {
	id, err := parseID(what, text)
	if err != nil {
		return nil, id, err
	}
	c, err := f.connectProject()
	return c, id, err
}

// choose finds the project.
func (f *serverFlags) choose(c *connection) (err error) {
	text := firstOf(f.project, f.terminal.env("OSTRAKA_PROJECT"))
	if text == "" {
		return &exitError{code: exitUsage, err: errors.New("which project?"), hint: "set OSTRAKA_PROJECT to its ID, or give --project"}
	}
	if c.project, err = uuid.Parse(text); err != nil {
		return usageError("the project %q is not an ID like 0190a5d4-…", text)
	}
	return nil
}

func (f *serverFlags) address() (string, error) {
	address := firstOf(f.url, f.terminal.env("OSTRAKA_URL"))
	if address == "" {
		return "", &exitError{
			code: exitUsage, err: errors.New("which server?"),
			hint: "set OSTRAKA_URL or give --url; `ostraka dev` runs one on this machine and says what to set",
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", usageError("%q is not the URL of a server: write https://HOST or http://HOST:PORT", address)
	}
	if u.User != nil {
		return "", usageError("the server's URL holds a password: leave it out and set OSTRAKA_KEY")
	}
	if u.Scheme == "http" && !loopbackHost(u.Hostname()) && !f.insecureHTTP() {
		return "", &exitError{
			code: exitUsage, err: fmt.Errorf("%s is plain HTTP: keys and functions would pass in clear text, for anybody on the way to read and change", address),
			hint: "write https://, or say with --insecure-http (or OSTRAKA_INSECURE_HTTP=1) that nobody else is on the way",
		}
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

func (f *serverFlags) insecureHTTP() bool {
	told, err := strconv.ParseBool(f.terminal.env("OSTRAKA_INSECURE_HTTP"))
	return f.insecure || err == nil && told
}

// loopbackHost says whether a host is this machine, so that nobody else is on the way.
func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (f *serverFlags) key() (string, error) {
	if f.keyFile == "" {
		key := f.terminal.env("OSTRAKA_KEY")
		if key == "" {
			return "", &exitError{code: exitAuth, err: errors.New("there is no key"), hint: "set OSTRAKA_KEY, or name a file that holds it with --key-file"}
		}
		return key, nil
	}
	text, err := os.ReadFile(f.keyFile)
	if err != nil {
		return "", fmt.Errorf("reading the key: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// dial makes a connection.
func dial(address, key string) (*connection, error) {
	c, err := client.Connect(address, key, "ostraka-cli/"+version)
	if err != nil {
		return nil, err
	}
	return &connection{Client: c, url: address, key: key}, nil
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

package main

import (
	"context"
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
	context  string
	insecure bool // plain HTTP to any host
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "url", "", "the server (or OSTRAKA_URL); several with commas between them: the first that can be reached is asked")
	flags.StringVar(&f.project, "project", "", "the project's ID (or OSTRAKA_PROJECT)")
	flags.BoolVar(&f.insecure, "insecure-http", false, "send keys in clear text to a server that is not on this machine and has no HTTPS (or OSTRAKA_INSECURE_HTTP=1)")
	flags.StringVar(&f.keyFile, "key-file", "", "file that holds your key (or OSTRAKA_KEY)")
	flags.StringVar(&f.context, "context", "", "what ostraka login has kept under this name (or OSTRAKA_CONTEXT)")
}

// connection is a server with the key and the project to use there.
type connection struct {
	*client.Client
	url     string // the first server's
	key     string
	project uuid.UUID
	// context is what the server and the key were found in; "" where they were given.
	context string
	// usual is the project of that context, for where none is named.
	usual string
}

// connect finds the server and the key. It sends nothing yet.
//
// A key goes only to the server that it was given for: the key of a context is used only where the server is that context's, too.
func (f *serverFlags) connect() (*connection, error) {
	saved, err := f.saved()
	if err != nil {
		return nil, err
	}
	if saved.Name != "" && !f.keyGiven() {
		if err := f.mayTalkTo(saved.URL); err != nil {
			return nil, err
		}
		c, err := dial(saved.URL, saved.Key)
		if err != nil {
			return nil, err
		}
		c.context, c.usual = saved.Name, saved.Project
		return c, nil
	}
	address := saved.URL
	if address == "" {
		if address, err = f.addresses(); err != nil {
			return nil, err
		}
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	return dial(address, key)
}

// saved is the context that a command uses: the one that is named, or the current one where no server is given. It is empty where there is none.
func (f *serverFlags) saved() (savedContext, error) {
	if f.context != "" && f.url != "" {
		return savedContext{}, usageError("--context and --url both say which server: give one of them")
	}
	name := f.namedContext()
	if name == "" && f.addressGiven() != "" {
		return savedContext{}, nil
	}
	_, all, err := f.terminal.contexts()
	if err != nil {
		return savedContext{}, err
	}
	if name = firstOf(name, all.Current); name == "" {
		return savedContext{}, nil
	}
	return all.find(name)
}

// namedContext is the context that was named by hand. A server that is given on the command line is nearer than a name in the environment.
func (f *serverFlags) namedContext() string {
	if f.url != "" {
		return ""
	}
	return firstOf(f.context, f.terminal.env("OSTRAKA_CONTEXT"))
}

func (f *serverFlags) addressGiven() string { return firstOf(f.url, f.terminal.env("OSTRAKA_URL")) }

// addressFrom is where the address that is used was written.
func (f *serverFlags) addressFrom() string {
	if f.url != "" {
		return "--url"
	}
	return "OSTRAKA_URL"
}

// addressFromEnvironment says whether the environment names a server.
func (f *serverFlags) addressFromEnvironment() bool { return f.terminal.env("OSTRAKA_URL") != "" }

// keyGiven says whether a key was given by hand. Naming a context means its key and its project, whatever the environment says.
func (f *serverFlags) keyGiven() bool {
	return f.keyFile != "" || f.namedContext() == "" && f.terminal.env("OSTRAKA_KEY") != ""
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
func (f *serverFlags) connectAbout(ctx context.Context, what, text string) (*connection, uuid.UUID, error) {
	if what != "job" {
		id, err := parseID(what, text)
		if err != nil {
			return nil, id, err
		}
		c, err := f.connectProject()
		return c, id, err
	}
	reference, err := parseJobReference(text)
	if err != nil {
		return nil, uuid.Nil, err
	}
	c, err := f.connectProject()
	if err != nil {
		return nil, uuid.Nil, err
	}
	id, err := reference.find(ctx, c)
	return c, id, err
}

// choose finds the project.
func (f *serverFlags) choose(c *connection) (err error) {
	text := firstOf(f.project, f.projectOfEnvironment(), c.usual)
	if text == "" {
		return &exitError{code: exitUsage, err: errors.New("which project?"), hint: "set OSTRAKA_PROJECT to its name or ID, or give --project; ostraka login keeps it with the key"}
	}
	if c.project, err = uuid.Parse(text); err != nil {
		c.project, err = projectNamed(context.Background(), c, text) // a request like any other, which ends by itself
	}
	return err
}

// projectOfEnvironment is the project that the environment names.
func (f *serverFlags) projectOfEnvironment() string {
	if f.namedContext() != "" {
		return ""
	}
	return f.terminal.env("OSTRAKA_PROJECT")
}

// address is the one server that was given by hand.
func (f *serverFlags) address() (string, error) {
	if f.addressGiven() == "" {
		return "", whichServer("set OSTRAKA_URL or give --url")
	}
	return f.cleanAddress(f.addressGiven())
}

// addresses are the servers that were given by hand, with commas between them.
func (f *serverFlags) addresses() (string, error) {
	if f.addressGiven() == "" {
		return "", whichServer("set OSTRAKA_URL or give --url; ostraka login keeps it, with your key")
	}
	given := strings.Split(f.addressGiven(), ",")
	if len(given) > client.MaxServers {
		return "", usageError("--url names %d servers; %d are as many as it may", len(given), client.MaxServers)
	}
	for i, address := range given {
		clean, err := f.cleanAddress(strings.TrimSpace(address))
		if err != nil {
			return "", err
		}
		given[i] = clean
	}
	return strings.Join(given, ","), nil
}

func whichServer(hint string) error {
	return &exitError{code: exitUsage, err: errors.New("which server?"), hint: hint + "; `ostraka dev` runs one on this machine and says what to set"}
}

func (f *serverFlags) cleanAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &exitError{
			code: exitUsage, err: fmt.Errorf("%q is not the URL of a server", address), hint: "write https://HOST or http://HOST:PORT, in " + f.addressFrom(),
		}
	}
	if u.User != nil {
		return "", usageError("the server's URL holds a password: leave it out and set OSTRAKA_KEY")
	}
	return strings.TrimSuffix(u.String(), "/"), f.mayTalkTo(u.String())
}

// mayTalkTo refuses to send keys in clear text to other machines, unless told to.
func (f *serverFlags) mayTalkTo(addresses string) error {
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(address)
		if err != nil {
			return usageError("%q is not the URL of a server: write https://HOST or http://HOST:PORT", address)
		}
		if u.Scheme == "http" && !loopbackHost(u.Hostname()) && !f.insecureHTTP() {
			return &exitError{
				code: exitUsage, err: fmt.Errorf("%s is plain HTTP: keys and functions would pass in clear text, for anybody on the way to read and change", address),
				hint: "write https://, or say with --insecure-http (or OSTRAKA_INSECURE_HTTP=1) that nobody else is on the way",
			}
		}
	}
	return nil
}

func (f *serverFlags) insecureHTTP() bool {
	told, err := strconv.ParseBool(f.terminal.env("OSTRAKA_INSECURE_HTTP"))
	return f.insecure || err == nil && told
}

// loopbackHost says whether a host is this machine, so that no other is on the way.
func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (f *serverFlags) key() (string, error) {
	if f.keyFile == "" {
		key := f.terminal.env("OSTRAKA_KEY")
		if key == "" {
			return "", &exitError{code: exitAuth, err: errors.New("there is no key"), hint: "set OSTRAKA_KEY, name a file that holds it with --key-file, or keep it with ostraka login"}
		}
		return key, nil
	}
	text, err := os.ReadFile(f.keyFile)
	if err != nil {
		return "", &exitError{code: exitUsage, err: fmt.Errorf("reading the key: %w", err), hint: "name a file that holds the key with --key-file, or set OSTRAKA_KEY"}
	}
	return strings.TrimSpace(string(text)), nil
}

// dial makes a connection to one server, or to several with commas between them.
func dial(addresses, key string) (*connection, error) {
	servers := strings.Split(addresses, ",")
	c, err := client.ConnectAny(servers, key, "ostraka-cli/"+version)
	if err != nil {
		return nil, err
	}
	return &connection{Client: c, url: servers[0], key: key}, nil
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

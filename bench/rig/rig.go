// Package rig sets up a whole installation on this machine for programs that attack it or break it: a Postgres of its own, servers as
// processes of the real program, tenants, and agents that speak the whole protocol and execute nothing.
package rig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/devdb"
)

// stopLimit bounds how long Postgres may take to stop.
const stopLimit = 30 * time.Second

// Rig is an installation. What it keeps is in a folder that Close removes.
type Rig struct {
	Dir    string
	Binary string // bin/ostraka
	DB     *devdb.Server

	mu        sync.Mutex
	processes []*Process
}

// Open starts a Postgres for the program.
func Open(ctx context.Context, binary string) (*Rig, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("looking for the program (make build makes it): %w", err)
	}
	dir, err := os.MkdirTemp("", "ostraka-rig-")
	if err != nil {
		return nil, err
	}
	r := &Rig{Dir: dir, Binary: binary}
	r.DB, err = devdb.Start(ctx, devdb.Options{Dir: filepath.Join(dir, "postgres"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

// Close ends everything and removes what it kept.
func (r *Rig) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.processes {
		p.Kill()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	return errors.Join(r.DB.Stop(ctx), os.RemoveAll(r.Dir))
}

// Database makes an empty database and returns its URL: an attack must not be judged by what the one before has left.
func (r *Rig) Database(ctx context.Context, name string) (url string, err error) {
	conn, err := pgx.Connect(ctx, r.DB.URL())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", fmt.Errorf("making the database %s: %w", name, err)
	}
	return databaseURL(r.DB.URL(), conn.Config().Database, name), nil
}

// databaseURL is the URL with another database: it is the last part of its path.
func databaseURL(url, old, name string) string {
	path, query, _ := strings.Cut(url, "?")
	return strings.TrimSuffix(path, "/"+old) + "/" + name + "?" + query
}

// Run runs the program to its end and returns what it printed.
func (r *Rig) Run(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.Binary, args...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running ostraka %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// FreeAddress is an address that was free a moment ago; servers that are killed come back to it. Others listen on 127.0.0.1, so it is on a
// loopback address of its own: nobody takes it while it is not in use.
func FreeAddress(ctx context.Context) (string, error) {
	host := net.IPv4(127, 1, byte(rand.IntN(256)), byte(1+rand.IntN(254))).String() //nolint:gosec // an address is no secret
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("looking for a free address: %w", err)
	}
	return l.Addr().String(), l.Close()
}

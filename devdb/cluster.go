package devdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// clusterFD is where every child finds the cluster: exec.Cmd.ExtraFiles begins
// at descriptor 3. Reaching it as an open directory spares the server's account
// the way through its parents.
const clusterFD = "/proc/self/fd/3"

// maxReport bounds, in bytes, how much of a failed program's output or of the
// log an error quotes; the whole is in the log.
const maxReport = 4 << 10

// childEnv is the whole environment of the programs: no PG* variable of the
// user's shell may steer them.
var childEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}

// initialise makes the cluster unless there is one. It is built beside its final
// place and moved there when finished, so a kill never leaves half a cluster.
func (s *Server) initialise(ctx context.Context, lock *os.File) error {
	if err := os.RemoveAll(s.layout.unfinished()); err != nil {
		return fmt.Errorf("removing an unfinished cluster: %w", err)
	}
	if s.layout.version() != 0 {
		return nil
	}
	if _, err := os.Lstat(s.layout.data()); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists but holds no Postgres cluster: move it away, or choose another directory", s.layout.data())
	}
	if err := os.Mkdir(s.layout.unfinished(), 0o700); err != nil {
		return fmt.Errorf("making the cluster's directory: %w", err)
	}
	if err := s.initdb(ctx, lock); err != nil {
		return err
	}
	if err := os.Rename(s.layout.unfinished(), s.layout.data()); err != nil {
		return fmt.Errorf("moving the new cluster into place: %w", err)
	}
	return syncDir(s.layout.dir)
}

func (s *Server) initdb(ctx context.Context, lock *os.File) error {
	dir, err := openDir(s.layout.unfinished())
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := s.acct.give(dir); err != nil {
		return fmt.Errorf("giving the cluster to %s: %w", s.acct.name, err)
	}
	cmd := exec.CommandContext(ctx, s.bins.initdb(), s.initdbArgs()...)
	cmd.ExtraFiles = []*os.File{dir, lock}
	cmd.Dir = "/"
	cmd.Env = childEnv
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.acct.credential(), Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = logDrainLimit
	out, err := onOwnThread(cmd.CombinedOutput)
	if err != nil {
		return fmt.Errorf("running %s as %s: %w: %s", s.bins.initdb(), s.acct.name, err, lastBytes(out))
	}
	return nil
}

func (s *Server) initdbArgs() []string {
	args := []string{
		"--pgdata=" + clusterFD,
		"--username=" + User,
		"--auth-local=peer", "--auth-host=reject",
		"--encoding=UTF8", "--locale=C", // the same order of text on every machine
		"--data-checksums",
	}
	if s.opts.Disposable {
		args = append(args, "--no-sync")
	}
	return args
}

// accessRules is pg_hba.conf and identityMap pg_ident.conf: the kernel vouches
// for who is at the other end of the socket, and only our own account may be
// the database's user.
const (
	accessRules = "# Written by ostraka at every start.\nlocal all " + User + " peer map=ostraka\n"
	identityMap = "# Written by ostraka at every start.\nostraka %s " + User + "\n"
)

// writeAccess lets this process's account in, which may be another than last
// time. The directory belongs to the server's account, so its links are not
// followed.
func writeAccess(data string, acct account) error {
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return fmt.Errorf("finding the name of this process's account: %w", err)
	}
	quoted := `"` + strings.ReplaceAll(me.Username, `"`, `""`) + `"`
	root, err := os.OpenRoot(data)
	if err != nil {
		return fmt.Errorf("opening the cluster: %w", err)
	}
	defer root.Close()
	if err := replaceFile(root, acct, "pg_hba.conf", accessRules); err != nil {
		return err
	}
	return replaceFile(root, acct, "pg_ident.conf", fmt.Sprintf(identityMap, quoted))
}

func replaceFile(root *os.Root, acct account, name, text string) error {
	temp := name + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing %s: %w", name, err)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("replacing %s: %w", name, err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, acct.give(f), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("replacing %s: %w", name, err)
	}
	return nil
}

// openDir opens a directory that must not be a link to another.
func openDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the cluster: %w", err)
	}
	return f, nil
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("flushing %s: %w", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("flushing %s: %w", path, err)
	}
	return nil
}

func lastBytes(b []byte) string {
	if len(b) > maxReport {
		return "[…]" + string(b[len(b)-maxReport:])
	}
	return string(b)
}

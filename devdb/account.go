package devdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the operating system's user that the server runs as.
type account struct {
	name     string
	uid, gid uint32
	// switched is true when that is not the user we run as ourselves.
	switched bool
}

// chooseAccount picks the account: our own, unless we are root, which Postgres
// refuses to run as. Data that exists stays with its owner.
func chooseAccount(data string) (account, error) {
	owner, exists, err := ownerOf(data)
	if err != nil {
		return account{}, err
	}
	euid := uint32(os.Geteuid())
	switch {
	case exists && owner == 0:
		return account{}, fmt.Errorf("choosing the account to run Postgres as: %s belongs to root, as which Postgres does not run; give it to another user with `chown -R postgres: %s`", data, data)
	case exists && euid != 0 && owner != euid:
		return account{}, fmt.Errorf("choosing the account to run Postgres as: %s belongs to user id %d and this process runs as %d; run it as the owner, or choose another directory", data, owner, euid)
	case exists:
		return lookUp(strconv.Itoa(int(owner)), user.LookupId)
	case euid != 0:
		return lookUp(strconv.Itoa(int(euid)), user.LookupId)
	}
	acct, err := lookUp("postgres", user.Lookup)
	if err != nil {
		acct, err = lookUp("nobody", user.Lookup)
	}
	return acct, err
}

// lookUp reads an account from the user database. Postgres does the same and
// will not start for a user id without a name.
func lookUp(key string, find func(string) (*user.User, error)) (account, error) {
	u, err := find(key)
	if err != nil {
		return account{}, fmt.Errorf("choosing the account to run Postgres as (it needs an entry in /etc/passwd): %w", err)
	}
	uid, errU := strconv.ParseUint(u.Uid, 10, 32)
	gid, errG := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(errU, errG); err != nil {
		return account{}, fmt.Errorf("choosing the account to run Postgres as: reading the ids of %s: %w", u.Username, err)
	}
	return account{name: u.Username, uid: uint32(uid), gid: uint32(gid), switched: int(uid) != os.Geteuid()}, nil
}

// credential is what the child's process attributes need; nil means "as we are".
func (a account) credential() *syscall.Credential {
	if !a.switched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// chowner is *os.File.
type chowner interface{ Chown(uid, gid int) error }

// give hands an open file or directory to the account.
func (a account) give(f chowner) error {
	if !a.switched {
		return nil
	}
	return f.Chown(int(a.uid), int(a.gid))
}

func ownerOf(path string) (uid uint32, exists bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("looking at the database's data: %w", err)
	}
	if !info.IsDir() {
		return 0, false, fmt.Errorf("looking at the database's data: %s is not a directory", path)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false, fmt.Errorf("looking at the database's data: the owner of %s is not known", path)
	}
	return stat.Uid, true, nil
}

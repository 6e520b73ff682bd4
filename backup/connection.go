package backup

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// understood are the parameters of a URL that Postgres' own programs take; those of pools are for us alone.
var understood = []string{
	"host", "port", "user", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslsni", "sslnegotiation", "channel_binding", "passfile",
	"connect_timeout", "target_session_attrs", "options", "krbsrvname", "gssencmode", "require_auth", "keepalives", "keepalives_idle", "keepalives_interval",
}

// errURL does not quote the URL, which may hold a password.
var errURL = errors.New("write the database as postgres://user:password@host:port/database: Postgres' own programs are started with it")

// target is a database in words that Postgres' programs take: a name for the command line, which others can see, and what they must not see
// for the environment.
type target struct {
	url      string
	password string
}

// targetOf makes a target of the URL that servers are started with.
func targetOf(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return target{}, errURL
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return target{}, errURL
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	if query.Has("sslpassword") {
		return target{}, errors.New("the database's URL has sslpassword, which Postgres' own programs take from no environment: use a key without a password")
	}
	for name := range query {
		if !slices.Contains(understood, name) {
			query.Del(name)
		}
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // Postgres takes a plus for a plus
	return target{url: u.String(), password: config.Password}, nil
}

// environment is what a program is told besides its command line.
func (t target) environment() []string {
	env := []string{"LC_ALL=C", "PGAPPNAME=ostraka backup"}
	if t.password != "" {
		env = append(env, "PGPASSWORD="+t.password)
	}
	return env
}

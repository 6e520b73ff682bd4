//go:build linux

package main

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/backup"
	"github.com/ostraka/ostraka/migrations"
)

func TestWhatADoctorSays(t *testing.T) {
	t.Parallel()
	may := migrations.Rights{Role: "r", CreateRoles: true, CreateSchemas: true}
	schema := func(version, latest int) []migrations.Schema {
		return []migrations.Schema{{Name: "ostraka", Version: version, Latest: latest}}
	}
	for name, c := range map[string]struct {
		is    diagnosis
		state string
		says  string
		fix   string
	}{
		"version":                  {judgeVersion("16.4 (Debian 16.4-1)"), healthOK, "PostgreSQL 16.4", ""},
		"the oldest version":       {judgeVersion("14.0"), healthOK, "PostgreSQL 14.0", ""},
		"a version too old":        {judgeVersion("13.9"), healthFail, "PostgreSQL 13.9", "upgrade to PostgreSQL 14"},
		"a version to come":        {judgeVersion("18beta1"), healthOK, "18beta1", ""},
		"no version":               {judgeVersion(""), healthFail, "does not say", "upgrade"},
		"rights":                   {judgeRights(may, "d"), healthOK, "may create roles", ""},
		"no roles":                 {judgeRights(migrations.Rights{Role: "r", CreateSchemas: true}, "d"), healthFail, "may not create roles", `alter role "r" createrole`},
		"no schemas":               {judgeRights(migrations.Rights{Role: "r", CreateRoles: true}, "d"), healthFail, "may not create schemas", `grant create on database "d" to "r"`},
		"near":                     {judgeLatency(slowDatabase), healthOK, "10ms", ""},
		"far":                      {judgeLatency(slowDatabase + time.Microsecond), healthWarn, "10.001ms", "near their database"},
		"schemas":                  {judgeSchemas(schema(3, 3)), healthOK, "ostraka 3 of 3", ""},
		"schemas behind":           {judgeSchemas(schema(2, 3)), healthWarn, "ostraka 2 of 3", "migrate up"},
		"schemas ahead":            {judgeSchemas(schema(4, 3)), healthWarn, "newer ostraka", "upgrade this program"},
		"clocks agree":             {judgeClock(-clockTolerance), healthOK, "2s apart", ""},
		"a clock is behind":        {judgeClock(-clockTolerance - time.Millisecond), healthWarn, "-2.001s ahead", "NTP"},
		"a clock is ahead":         {judgeClock(clockTolerance + time.Millisecond), healthWarn, "2.001s ahead", "NTP"},
		"a backup":                 {judgeBackup(backup.Last{Known: true, Program: "v1", Age: oldBackup}), healthOK, "72h0m0s ago", ""},
		"an old backup":            {judgeBackup(backup.Last{Known: true, Program: "v1", Age: oldBackup + time.Hour}), healthWarn, "73h0m0s ago", "ostraka backup"},
		"no backup":                {judgeBackup(backup.Last{Known: true}), healthWarn, "has made none", "ostraka backup"},
		"archives":                 {judgeBackup(backup.Last{Known: true, Archived: time.Minute}), healthOK, "archived 1m0s ago", ""},
		"archives that stand":      {judgeBackup(backup.Last{Known: true, Archived: oldBackup + time.Hour}), healthWarn, "has made none", "ostraka backup"},
		"a schema of before":       {judgeBackup(backup.Last{}), healthOK, "of before", ""},
		"room":                     {judgeDisk("disk", "/d", diskTight), healthOK, "/d", ""},
		"little room":              {judgeDisk("disk", "/d", diskTight-1), healthWarn, "/d", "make room"},
		"the last of the room":     {judgeDisk("disk", "/d", diskFull), healthWarn, "/d", "make room"},
		"no room":                  {judgeDisk("disk", "/d", diskFull-1), healthFail, "/d", "make room"},
		"nothing in front":         {examineTLS(doorConfig{}, defaultListen, time.Time{})[0], healthOK, "only this machine", ""},
		"a proxy in front":         {examineTLS(doorConfig{behindProxy: true}, ":1", time.Time{})[0], healthOK, "a proxy in front", ""},
		"certificates on demand":   {examineTLS(doorConfig{acmeHosts: []string{"a.example"}}, ":1", time.Time{})[0], healthOK, "a.example", ""},
		"no files of certificates": {examineTLS(doorConfig{cert: "none", key: "none"}, ":1", time.Time{})[0], healthFail, "none", "--tls-cert"},
	} {
		require.Equal(t, c.state, c.is.State, name)
		require.Contains(t, c.is.Detail, c.says, name)
		require.Contains(t, c.is.Fix, c.fix, name)
		require.Equal(t, c.state == healthOK, c.is.Fix == "", "%s: who is told that something is wrong is told what to do", name)
	}
}

func TestCertificatesEnd(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	leaf := &x509.Certificate{NotBefore: from, NotAfter: from.AddDate(0, 3, 0), DNSNames: []string{"a.example"}}
	for at, state := range map[time.Time]string{
		from.Add(-time.Second): healthFail, from: healthOK, leaf.NotAfter.Add(-certificateSoon): healthOK,
		leaf.NotAfter.Add(-certificateSoon + time.Second): healthWarn, leaf.NotAfter: healthWarn, leaf.NotAfter.Add(time.Second): healthFail,
	} {
		require.Equal(t, state, judgeCertificate(leaf, at).State, at)
	}
	leaf.DNSNames = nil
	require.Contains(t, judgeCertificate(leaf, from).Detail, "names no host")
}

func TestAKeyThatEverybodyCanRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCertificate(t, dir, "server")
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	found := examineCertificate(cert, key, time.Now())
	require.Equal(t, []string{healthWarn, healthOK}, []string{found[0].State, found[1].State}, "the test's certificate lives for an hour")
	require.NoError(t, os.Chmod(key, 0o644))
	require.Equal(t, healthWarn, examineCertificate(cert, key, time.Now())[1].State)
}

func TestTheSpaceOfAFolderToCome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, err := freeBytes(dir)
	require.NoError(t, err)
	require.Positive(t, here)
	_, err = freeBytes(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	_, err = freeBytes("/dev/null/x")
	require.Error(t, err)
}

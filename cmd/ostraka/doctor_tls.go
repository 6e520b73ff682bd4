//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"
)

// certificateSoon is how long before its end a certificate is warned about: who renews by hand needs to hear of it in time, and programs
// that renew have done so by then.
const certificateSoon = 14 * 24 * time.Hour

// examineTLS looks at how the server would be reached.
func examineTLS(c doorConfig, listen string, now time.Time) []diagnosis {
	const check = "TLS"
	switch {
	case c.cert != "":
		return examineCertificate(c.cert, c.key, now)
	case len(c.acmeHosts) > 0:
		return []diagnosis{fine(check, "certificates for %s come from Let's Encrypt when they are asked for, and are kept in %s", strings.Join(c.acmeHosts, ", "), c.acmeDir)}
	case c.behindProxy:
		return []diagnosis{fine(check, "a proxy in front ends it; plain HTTP on %s", listen)}
	}
	return []diagnosis{fine(check, "none is needed on %s, which only this machine can reach", listen)}
}

// certificateCheck is what a doctor calls a certificate.
const certificateCheck = "TLS certificate"

func examineCertificate(cert, key string, now time.Time) []diagnosis {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return []diagnosis{failed(certificateCheck, "give the certificate with its chain as --tls-cert and its key as --tls-key, both as PEM", "%v", err)}
	}
	found := []diagnosis{judgeCertificate(pair.Leaf, now)}
	info, err := os.Stat(key)
	switch {
	case err != nil:
		return append(found, failed("TLS key", "give this user the file", "%v", err))
	case info.Mode().Perm()&0o004 != 0:
		return append(found, warned("TLS key", "chmod 600 "+shellWord(key), "everybody on this machine can read %s", key))
	}
	return append(found, fine("TLS key", "%s is not for everybody to read", key))
}

func judgeCertificate(leaf *x509.Certificate, now time.Time) diagnosis {
	names := append([]string{}, leaf.DNSNames...)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	about := fmt.Sprintf("for %s, from %s to %s", firstOf(strings.Join(names, ", "), "no name"), shortTime(leaf.NotBefore), shortTime(leaf.NotAfter))
	switch {
	case now.After(leaf.NotAfter):
		return failed(certificateCheck, "renew it; a server reads the files again by itself", "it has ended: %s", about)
	case now.Before(leaf.NotBefore):
		return failed(certificateCheck, "check this machine's clock, or wait", "it is not valid yet: %s", about)
	case len(names) == 0:
		return failed(certificateCheck, "get one with the server's host name as a subject alternative name", "it names no host: %s", about)
	case leaf.NotAfter.Sub(now) < certificateSoon:
		return warned(certificateCheck, "renew it; a server reads the files again by itself", "it ends soon: %s", about)
	}
	return fine(certificateCheck, "%s", about)
}

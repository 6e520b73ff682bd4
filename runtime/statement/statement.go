// Package statement builds the byte strings that agents and projects' owners sign. Agent and server build them alike, and a third party can rebuild
// them from stored data, so each field is on a line of its own and no field can hold a line feed.
package statement

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Line is what a submission states about one shard.
type Line struct {
	Shard   int64
	Status  string
	Outcome string // of its claim
}

// Claim is what a result comes to: all that agents must agree on.
type Claim struct {
	Status           string
	OutputDigest     string // of a result that is ok
	StdoutDigest     string // of a plain script that is ok: its result is what it prints
	Files            []File // its artifacts, in any order
	ExceptionType    string // of an error
	ExceptionMessage string
}

// File is an artifact: its path holds no line feed.
type File struct {
	Path   string
	Size   int64
	Digest string
}

// Outcome is the digest that votes: of the output's bytes when the status is ok, together with the artifacts where there are some and with
// all that was printed where that is the result; of the exception when the function raised one, so that a deterministic error can be agreed on; of the status alone otherwise.
func (c Claim) Outcome() string {
	switch {
	case c.Status == "ok" && len(c.Files) == 0 && c.StdoutDigest == "":
		return c.OutputDigest
	case c.Status == "ok":
		printed := ""
		if c.StdoutDigest != "" {
			printed = "stdout " + c.StdoutDigest + "\n"
		}
		lines := make([]string, len(c.Files))
		for i, f := range c.Files {
			lines[i] = f.Digest + " " + strconv.FormatInt(f.Size, 10) + " " + f.Path + "\n"
		}
		slices.Sort(lines)
		return digest("ok\n" + c.OutputDigest + "\n" + printed + strings.Join(lines, ""))
	case c.Status == "error":
		return digest("error\n" + c.ExceptionType + "\n" + c.ExceptionMessage)
	default:
		return digest(c.Status + "\n")
	}
}

// Results is what an agent signs with each post of results, its lines in the order of the shards.
func Results(lease uuid.UUID, lines []Line) []byte {
	b := make([]byte, 0, 64+len(lines)*90)
	b = append(b, "ostraka-results/1\n"...)
	b = append(b, lease.String()...)
	b = append(b, '\n')
	for _, l := range lines {
		b = strconv.AppendInt(b, l.Shard, 10)
		b = append(b, ' ')
		b = append(b, l.Status...)
		b = append(b, ' ')
		b = append(b, l.Outcome...)
		b = append(b, '\n')
	}
	return b
}

// Enrolment is what an agent signs to show that it holds the private key. The token's digest ties it to one token, so that the
// proof cannot be shown to another server. Without a token (it is empty then) the agent only gets to wait for approval, or is known.
func Enrolment(publicKey []byte, token string) []byte {
	return []byte("ostraka-enrolment/1\n" + hex.EncodeToString(publicKey) + "\n" + digest(token) + "\n")
}

// EnrolmentAnew is what an agent signs to show that it holds the private key, here and now: server is the origin of the URL by which it knows
// the server, nonce and at are the challenge that the server gave it. Enrolment is what agents of before signed.
func EnrolmentAnew(publicKey []byte, token, server, nonce string, at time.Time) []byte {
	return []byte("ostraka-enrolment/2\n" + hex.EncodeToString(publicKey) + "\n" + digest(token) + "\n" + server + "\n" + nonce + "\n" + at.UTC().Format(time.RFC3339) + "\n")
}

// Origin is the part of a URL by which agents and servers name a server: scheme, host and, where it is not the scheme's own, port, in lower
// case; "" where there is none.
func Origin(of string) string {
	u, err := url.Parse(of)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && (scheme != "https" || port != "443") && (scheme != "http" || port != "80") {
		host += ":" + port
	}
	return scheme + "://" + host
}

// Bundle is what a project's owner signs to say that this bundle is a function of the project.
func Bundle(project uuid.UUID, function, digest string) []byte {
	return []byte("ostraka-bundle/1\n" + project.String() + "\n" + function + "\n" + digest + "\n")
}

// SigningKey is what makes a key the project's: signed by the key before it, or by itself where it is the first.
func SigningKey(project uuid.UUID, generation int, publicKey []byte) []byte {
	return []byte("ostraka-signing-key/1\n" + project.String() + "\n" + strconv.Itoa(generation) + "\n" + hex.EncodeToString(publicKey) + "\n")
}

// Acceptance is what an agent signs when its owner accepts an agreement. The time is the agent's, to the second.
func Acceptance(publicKey []byte, version, textDigest string, at time.Time) []byte {
	return []byte("ostraka-eula/1\n" + hex.EncodeToString(publicKey) + "\n" + version + "\n" + textDigest + "\n" + at.UTC().Format(time.RFC3339) + "\n")
}

// WitnessKey is what an agent signs with its identity key to say that it co-signs the heads of logs with another one.
func WitnessKey(publicKey, witnessKey []byte) []byte {
	return []byte("ostraka-witness-key/1\n" + hex.EncodeToString(publicKey) + "\n" + hex.EncodeToString(witnessKey) + "\n")
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

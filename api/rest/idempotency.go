package rest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions"
)

// MaxIdempotencyKey is the largest length of an Idempotency-Key, in characters: room for any scheme of naming requests, and short
// enough for an index.
const MaxIdempotencyKey = 255

const idempotencyHeader = "Idempotency-Key"

// Replayed is a header of the answers to requests that may carry an Idempotency-Key.
type Replayed struct {
	Replayed string `header:"Idempotency-Replayed" enum:"true" doc:"Sent when this is what an earlier request with the same Idempotency-Key made."`
}

// ReplayedAs says whether the answer is that of an earlier request.
func ReplayedAs(yes bool) Replayed {
	if !yes {
		return Replayed{}
	}
	return Replayed{Replayed: "true"}
}

func idempotencyKeyParam() *huma.Param {
	least, most := 1, MaxIdempotencyKey
	return &huma.Param{
		Name: idempotencyHeader, In: "header",
		Description: "Names the request, so that sending it again repeats nothing: 1 to 255 visible ASCII characters. The same key with another method, path or body is refused.",
		Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: "^[!-~]+$"},
	}
}

// idempotencyOf reads the Idempotency-Key of a POST. The digest covers all that the request says.
func idempotencyOf(r *http.Request, body []byte) (functions.Idempotency, *Problem) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 || r.Method != http.MethodPost {
		return functions.Idempotency{}, nil
	}
	key := values[0]
	if len(values) > 1 || len(key) == 0 || len(key) > MaxIdempotencyKey || strings.IndexFunc(key, invisible) >= 0 {
		return functions.Idempotency{}, NewProblem(http.StatusUnprocessableEntity, CodeBadIdemKey,
			"the Idempotency-Key is not one value of 1 to 255 visible ASCII characters", "use a random UUID for each new request, and the same one to repeat it")
	}
	return functions.Idempotency{Key: key, RequestDigest: DigestOf(r.Method, r.URL.RequestURI(), body)}, nil
}

// DigestOf is the digest of what a request says.
func DigestOf(method, uri string, body []byte) [32]byte {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", method, uri)
	sum.Write(body)
	return [32]byte(sum.Sum(nil))
}

func invisible(c rune) bool { return c < '!' || c > '~' }

// ShownOnce is the answer to a repeated request whose answer was a secret: only its digest is stored.
func ShownOnce(what, hint string) *Problem {
	return NewProblem(http.StatusConflict, CodeSecretShownOnce, "this request was done before, and "+what+" was shown then; it cannot be shown again", hint)
}

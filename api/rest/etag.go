package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Conditional is the header of a request that changes a document which people edit.
type Conditional struct {
	IfMatch string `header:"If-Match" required:"false" doc:"The ETag of the document as you read it. Required: without it two people would overwrite each other's changes." example:"\"3\""`
}

// RevisionTag is the ETag of a document with a revision.
func RevisionTag(revision int64) string { return fmt.Sprintf("%q", strconv.FormatInt(revision, 10)) }

// Revision reads the revision that the client has read.
func (c Conditional) Revision() (int64, error) {
	if c.IfMatch == "" {
		return 0, NewProblem(http.StatusPreconditionRequired, CodeIfMatchRequired, "the If-Match header is missing",
			"read the document with GET and send its ETag in If-Match")
	}
	text := strings.TrimPrefix(c.IfMatch, "W/") // proxies that compress make a tag weak
	n, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil || n < 1 || text != RevisionTag(n) {
		return 0, NewProblem(http.StatusUnprocessableEntity, CodeBadIfMatch, "the If-Match header is not an ETag of this document",
			"read the document with GET and send its ETag in If-Match as it is, with the quotation marks")
	}
	return n, nil
}

// ContentTag is the ETag of an answer without a revision: a digest of what it says.
func ContentTag(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("making an ETag: %w", err)
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:16]) + `"`, nil
}

// TagMatches says whether an If-None-Match header names the tag.
func TagMatches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}

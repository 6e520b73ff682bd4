package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
)

// ResultsRequest is a post of results.
type ResultsRequest struct {
	Results   []functions.Result `json:"results" minItems:"1" maxItems:"1024" doc:"In the order of the shards."`
	Signature []byte             `json:"signature" doc:"Ed25519, 64 bytes, by the key that the agent enrolled with."`
	Statement int                `json:"statement,omitempty" enum:"1,2" doc:"Which statement is signed. Left out: 1."`
}

// decodeResults reads a post of results. It is on the hottest path of the server, so it decodes once and strictly instead of twice
// like huma, which validates a generic form first. What the results say is for functions.Record to judge.
func decodeResults(text []byte) (dispatch.Submission, error) {
	var request ResultsRequest
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&request); err != nil {
		return dispatch.Submission{}, badResults(strings.TrimPrefix(rest.InJSONWords(err).Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return dispatch.Submission{}, badResults("something follows the JSON object")
	}
	switch n := len(request.Results); {
	case n == 0:
		return dispatch.Submission{}, badResults("there are no results")
	case n > dispatch.MaxLeaseShards:
		return dispatch.Submission{}, badResults(fmt.Sprintf("there are %d results, and at most %d may be posted at once", n, dispatch.MaxLeaseShards))
	}
	if n := request.Statement; n < 0 || n > audit.StatementOfWork {
		return dispatch.Submission{}, badResults(fmt.Sprintf("statement %d is signed, and this server knows 1 and 2", n))
	}
	return dispatch.Submission{Results: request.Results, Signature: request.Signature, Statement: max(request.Statement, audit.StatementOfLease)}, nil
}

func badResults(detail string) *rest.Problem {
	return rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadResults, detail, "nothing was recorded; correct the body and send it again, see postResults in /docs")
}

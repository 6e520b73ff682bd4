package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/protocol"
)

// versioned says in every request which protocol the agent speaks, and refuses a server that speaks one which it does not understand.
type versioned struct {
	client.HttpRequestDoer
	ours protocol.Range
}

// Do implements client.HttpRequestDoer.
func (v *versioned) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(protocol.Header, strconv.Itoa(v.ours.Current))
	answer, err := v.HttpRequestDoer.Do(r)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError { // what stands in between answers for itself
		return answer, err
	}
	if mismatch := v.ours.CheckServer(answer.Header.Get(protocol.Header)); mismatch != nil {
		_ = answer.Body.Close() // it is not read
		return refusal426(mismatch), nil
	}
	return answer, nil
}

// refusal426 is what a server would answer to an agent that it does not understand.
func refusal426(why error) *http.Response {
	body, err := json.Marshal(client.Problem{
		Status: http.StatusUpgradeRequired, Title: http.StatusText(http.StatusUpgradeRequired), Code: protocol.Code,
		Detail: fmt.Sprintf("the server is too old for this agent: %v", why),
		Hint:   "ask the server's operator to update it, or install an agent of the server's version",
	})
	if err != nil { // it is made of texts and numbers
		body = nil
	}
	return &http.Response{
		StatusCode: http.StatusUpgradeRequired, Status: strconv.Itoa(http.StatusUpgradeRequired), Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

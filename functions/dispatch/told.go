package dispatch

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/result"
)

// told is what the log says of a post of results. The signature commits to each of them, so that they need not stand there.
func (g recordGate) told(job, agent uuid.UUID, fresh []result.Checked, sub Submission) (json.RawMessage, error) {
	detail := result.Used(fresh)
	detail["agent"], detail["job"], detail["function"], detail["version"] = agent, job, g.Function, g.Version
	detail["signature"] = base64.StdEncoding.EncodeToString(sub.Signature)
	text, err := json.Marshal(detail)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of a post of results: %w", err)
	}
	return text, nil
}

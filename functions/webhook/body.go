package webhook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/runtime/webhook"
)

// shortText is up to which size in bytes a text is not cut: it is a name, an ID or a path, and means nothing by half.
const shortText = 200

// body is what is sent: the same for each try.
func (r deliveryRow) body() ([]byte, error) {
	m := message{Type: r.Kind, Timestamp: r.At.UTC(), Data: r.Data}
	for {
		text, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encoding the event %s: %w", r.EventID, err)
		}
		if len(text) <= webhook.MaxBody {
			return text, nil
		}
		if m.Data, err = shorter(m.Data); err != nil {
			return nil, fmt.Errorf("cutting the event %s: %w", r.EventID, err)
		}
	}
}

// shorter halves the longest member of what is too long, or leaves it out if it is no text. Who wants all asks the API.
func shorter(data json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("reading its data: %w", err)
	}
	longest := ""
	for name, value := range members {
		if n := len(members[longest]); len(value) > n || len(value) == n && name < longest {
			longest = name
		}
	}
	var text string
	if err := json.Unmarshal(members[longest], &text); err != nil || len(text) <= shortText {
		delete(members, longest)
		return json.Marshal(members)
	}
	half, err := json.Marshal(strings.ToValidUTF8(text[:len(text)/2], "") + "…")
	if err != nil {
		return nil, fmt.Errorf("encoding half of %s: %w", longest, err)
	}
	members[longest] = half
	return json.Marshal(members)
}

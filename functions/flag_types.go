package functions

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// FlagSample is one further occurrence of what a flag is about.
type FlagSample struct {
	Shard    *int64          `json:"shard,omitempty"`
	Agent    *uuid.UUID      `json:"agent,omitempty"`
	Decision string          `json:"decision,omitempty"`
	At       time.Time       `json:"at"`
	Detail   json.RawMessage `json:"detail"`
}

package functions

import (
	"time"

	"github.com/google/uuid"
)

// ServerAgent is the agent of attempts that the server made itself. They have no lease and no submission.
var ServerAgent = uuid.Nil

// RecheckerGone is how long ago a server that rechecks was seen at most, and able to, for audits to wait for it. Without one, agents
// are asked instead, also for what it was asked before. It is long enough that a host that restarts does not cause extra replicas.
const RecheckerGone = 10 * time.Minute

// StartRechecker says how to get a server that executes shards.
const StartRechecker = "start a server that can: ostraka server --queues recheck, with a Docker daemon or --recheck-sandbox linux"

package harness

import "errors"

func badArtifacts(err error) verdict {
	if errors.Is(err, errTooMuch) {
		return failed(StatusArtifactLimit, ExceptionLimit, "%v", err)
	}
	return failed(StatusError, ExceptionArtifact, "%v", err)
}

// outputBytes is the size of the output, also of one that is over its limit.
func outputBytes(f frame) int64 {
	if f.kind != frameOutput || f.problem != "" {
		return 0
	}
	return int64(min(f.size, 1<<62))
}

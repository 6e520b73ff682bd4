package execution

import (
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/harness"
)

// unkept stands for a result that cannot be kept, whatever it is: the server has no answer.
func unkept(r harness.Result, why error) functions.Result {
	return functions.Result{
		Shard: r.Shard, Status: string(verify.Denied), Exception: &functions.Exception{Type: harness.ExceptionLimit, Message: "the result cannot be kept: " + why.Error()},
		CPUMicros: max(r.CPUMicros, 0), WallMicros: max(r.WallMicros, 0), PeakRSS: max(r.PeakRSSBytes, 0), InputBytes: max(r.InputBytes, 0),
	}
}

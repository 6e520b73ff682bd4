//go:build !linux

package host

import (
	"context"
	"fmt"

	"github.com/shirou/gopsutil/v4/process"
)

// ownTimes are the seconds that a process and its children have computed.
func ownTimes(ctx context.Context, root int) (map[int32]float64, error) {
	self, err := process.NewProcessWithContext(ctx, int32(root))
	if err != nil {
		return nil, fmt.Errorf("looking at the agent's process: %w", err)
	}
	own := map[int32]float64{}
	for queue := []*process.Process{self}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		times, err := p.TimesWithContext(ctx)
		if err != nil {
			continue // it has ended
		}
		own[p.Pid] = times.User + times.System
		if children, err := p.ChildrenWithContext(ctx); err == nil {
			queue = append(queue, children...)
		}
	}
	return own, nil
}

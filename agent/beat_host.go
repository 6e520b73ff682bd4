package agent

import (
	"time"

	"github.com/ostraka/ostraka/agent/host"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/wasm"
)

// hostOf is what the server is told of the machine.
func (a *agent) hostOf(s host.Sample) *client.Host {
	h := &client.Host{
		Cpus: int64(s.CPUs), CPUPercent: s.CPUPercent, AgentCPUPercent: s.AgentPercent,
		Load1: s.Load[0], Load5: s.Load[1], Load15: s.Load[2],
		MemoryTotalBytes: s.MemoryTotal, MemoryFreeBytes: s.MemoryFree, SwapUsedBytes: s.SwapUsed,
		DiskTotalBytes: s.DiskTotal, DiskFreeBytes: s.DiskFree, SentBytes: s.Sent, ReceivedBytes: s.Received,
		UptimeSeconds: s.UptimeSeconds, AgentSeconds: int64(time.Since(a.started) / time.Second), AgentMemoryBytes: s.Resident,
		Sandboxes: int64(a.leases.count()), SpoolBytes: a.spool.Used(), Version: a.options.Version,
	}
	if s.Battery.Known {
		h.BatteryPercent, h.OnBattery = new(s.Battery.Percent), new(s.Battery.On)
	}
	return h
}

// wishes are what the owner allows, as the server may know it: it then offers nothing else.
func (a *agent) wishes() *client.AgentWishes {
	p := a.keeper.current()
	w := &client.AgentWishes{
		Isolation:    client.AgentWishesIsolation(a.sandbox.Level()),
		MinIsolation: client.AgentWishesMinIsolation(p.Function.MinIsolation),
	}
	w.Meter, w.Runtimes, w.Volumes = a.meter(), a.runtimes(), a.offeredVolumes()
	if len(p.Projects) <= maxWishedProjects { // more are enforced here
		w.Projects = p.Projects
	}
	return w
}

// meter is the version of the meter with which the agent executes functions in WebAssembly; 0 where its owner lets none run.
func (a *agent) meter() int64 {
	if p := a.keeper.current(); p.WasmDenied {
		return 0
	}
	return wasm.Meter
}

// maxWishedProjects is how many projects the server can be told of, as it has it.
const maxWishedProjects = 256

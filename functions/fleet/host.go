package fleet

// Host is what an agent measures of its machine, at one moment. It describes and decides nothing: an agent may say what it likes.
// What the machine does not tell is left out.
type Host struct {
	CPUs             int      `json:"cpus,omitempty" minimum:"0" maximum:"65536" doc:"Processors that the agent may use."`
	CPUPercent       float64  `json:"cpu_percent,omitempty" minimum:"0" maximum:"100" doc:"How busy all processors together were since the sample before."`
	AgentCPUPercent  float64  `json:"agent_cpu_percent,omitempty" minimum:"0" maximum:"100" doc:"The part of cpu_percent that the agent and its sandboxes took."`
	Load1            float64  `json:"load1,omitempty" minimum:"0" maximum:"1000000" doc:"Load average of the last minute."`
	Load5            float64  `json:"load5,omitempty" minimum:"0" maximum:"1000000" doc:"Load average of five minutes."`
	Load15           float64  `json:"load15,omitempty" minimum:"0" maximum:"1000000" doc:"Load average of fifteen minutes."`
	MemoryTotalBytes int64    `json:"memory_total_bytes,omitempty" minimum:"0" maximum:"9007199254740991"`
	MemoryFreeBytes  int64    `json:"memory_free_bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"What programs can still get."`
	SwapUsedBytes    int64    `json:"swap_used_bytes,omitempty" minimum:"0" maximum:"9007199254740991"`
	DiskTotalBytes   int64    `json:"disk_total_bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Of the file system that holds the agent's data."`
	DiskFreeBytes    int64    `json:"disk_free_bytes,omitempty" minimum:"0" maximum:"9007199254740991"`
	SentBytes        int64    `json:"sent_bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Over all network interfaces but loopback, since the machine started."`
	ReceivedBytes    int64    `json:"received_bytes,omitempty" minimum:"0" maximum:"9007199254740991"`
	BatteryPercent   *float64 `json:"battery_percent,omitempty" minimum:"0" maximum:"100" doc:"Left out where there is no battery, or the platform does not tell."`
	OnBattery        *bool    `json:"on_battery,omitempty" doc:"Left out where the platform does not tell."`
	UptimeSeconds    int64    `json:"uptime_seconds,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Of the machine."`
	AgentSeconds     int64    `json:"agent_seconds,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Since the agent was started."`
	AgentMemoryBytes int64    `json:"agent_memory_bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Resident, of the agent itself."`
	Sandboxes        int      `json:"sandboxes,omitempty" minimum:"0" maximum:"65536" doc:"Sandboxes that are open."`
	SpoolBytes       int64    `json:"spool_bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Finished results that wait to be sent, on disk."`
	Version          string   `json:"version,omitempty" maxLength:"100" doc:"Of the agent."`
}

// Idle is why an agent has no work.
type Idle struct {
	Code    string `json:"code" pattern:"^[a-z][a-z_]{0,39}$" doc:"For programs; stable."`
	Text    string `json:"text" maxLength:"300" doc:"For people."`
	Seconds int64  `json:"seconds" minimum:"0" maximum:"9007199254740991" doc:"How long it has been so."`
}

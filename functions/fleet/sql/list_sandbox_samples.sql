select at, coarse, cpu_percent, memory_bytes, workspace_bytes, network_bytes, network, processes, output_bytes
from sandbox_samples where sandbox_id = $1 and at > $2 order by at limit $3

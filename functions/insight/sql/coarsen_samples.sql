-- What is older than $1 becomes one row of peaks for each five minutes.
with fine as (
    delete from sandbox_samples where not coarse and at < now() - $1::interval
    returning sandbox_id, date_bin('5 minutes', at, 'epoch') as bucket, cpu_percent, memory_bytes, workspace_bytes, network_bytes, network, processes, output_bytes
)
insert into sandbox_samples as s (sandbox_id, at, coarse, cpu_percent, memory_bytes, workspace_bytes, network_bytes, network, processes, output_bytes)
select sandbox_id, bucket, true, max(cpu_percent), max(memory_bytes), max(workspace_bytes), max(network_bytes), max(network), max(processes), max(output_bytes)
from fine group by sandbox_id, bucket
on conflict (sandbox_id, at) do update set coarse = true, cpu_percent = greatest(s.cpu_percent, excluded.cpu_percent),
    memory_bytes = greatest(s.memory_bytes, excluded.memory_bytes), workspace_bytes = greatest(s.workspace_bytes, excluded.workspace_bytes),
    network_bytes = greatest(s.network_bytes, excluded.network_bytes), processes = greatest(s.processes, excluded.processes),
    output_bytes = greatest(s.output_bytes, excluded.output_bytes)

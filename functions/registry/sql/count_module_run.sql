insert into module_runs (id, module, version, digest, kind, phase, job_id, aggregation, started_at, ended_at,
    wall_ns, fuel, fuel_most, memory, in_lines, in_bytes, out_lines, out_bytes)
values ($1, $2, (select version from modules where name = $2 and digest = $3), $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16)
on conflict (job_id, aggregation, module, digest, phase) where class = 'ok' do update set
    times = module_runs.times + 1, ended_at = greatest(module_runs.ended_at, excluded.ended_at),
    wall_ns = module_runs.wall_ns + excluded.wall_ns, fuel = module_runs.fuel + excluded.fuel,
    fuel_most = greatest(module_runs.fuel_most, excluded.fuel_most), memory = greatest(module_runs.memory, excluded.memory),
    in_lines = module_runs.in_lines + excluded.in_lines, in_bytes = module_runs.in_bytes + excluded.in_bytes,
    out_lines = module_runs.out_lines + excluded.out_lines, out_bytes = module_runs.out_bytes + excluded.out_bytes
returning times

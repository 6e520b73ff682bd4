insert into module_runs (id, module, version, digest, kind, phase, job_id, aggregation, started_at, ended_at,
    wall_ns, fuel, fuel_most, memory, in_lines, in_bytes, out_lines, out_bytes,
    step, class, exit_code, message, hint, trap, frames, stderr, input, input_bytes, input_missing)
values ($1, $2, (select version from modules where name = $2 and digest = $3), $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16,
    $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)

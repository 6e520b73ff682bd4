insert into cosignatures as c (agent_id, project_id, size, at, note, line) values ($1, $2, $3, $4, $5, $6)
on conflict (project_id, agent_id) do update set size = excluded.size, at = excluded.at, note = excluded.note, line = excluded.line
where (c.size, c.at) <= (excluded.size, excluded.at)

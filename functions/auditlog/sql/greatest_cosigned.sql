select note from cosignatures where project_id is not distinct from $1 order by size desc, at desc limit $2

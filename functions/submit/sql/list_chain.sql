-- The jobs of a chain, in the order in which they were made.
select j.id, j.parent_job as parent, j.rule_id as rule, j.depth, j.state, f.name as function, j.function_version as version, j.shards_total as shards, j.created_by, j.created_at
from jobs j join functions f on f.id = j.function_id where j.root_job = $1 and j.state <> 'deleting' order by j.id limit $2

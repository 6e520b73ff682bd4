select number, first::text, until::text, size::text, shards, ahead, next::text, aggregator, answer, answer_count, folded, lost, marks, waits
from workflow_rolling where run_id = $1 order by number

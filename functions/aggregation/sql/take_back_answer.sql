-- The answer of a job that has not ended by it: some shard was opened again. Its partials that still hold stay.
update aggregations a set state = 'folding', finished_at = null, value = null, object = null, count = null, summary = '', left_out = 0,
    rows = null, rows_object = null
from jobs j where j.id = $1 and a.job_id = j.id and a.run = j.run and a.state = 'finished'

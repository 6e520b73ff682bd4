select a.run, a.run = j.run as current, a.aggregator, a.state, a.error, a.pages_folded, j.pages_total,
    a.value as aggregate_value, a.object as aggregate_object, a.count as aggregate_count, a.summary as aggregate_summary,
    a.left_out, a.rows as aggregate_rows, a.rows_object,
    a.preview_value, a.preview_count, a.preview_pages, a.preview_at, a.created_by, a.created_at, a.finished_at
from aggregations a join jobs j on j.id = a.job_id
where a.job_id = $1 and a.run > $2 order by a.run limit $3

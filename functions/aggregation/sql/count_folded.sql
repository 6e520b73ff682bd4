-- The last page also moves the job on: from here on nothing but the answer is missing.
with folded as (
    update aggregations set pages_folded = pages_folded + 1 where job_id = $1 and run = $2 returning run, pages_folded
),
moved as (
    update jobs j set state = 'aggregating' from folded f
    where j.id = $1 and j.run = f.run and f.pages_folded = j.pages_total and j.state in ('splitting', 'running', 'review', 'held')
)
select pages_folded from folded

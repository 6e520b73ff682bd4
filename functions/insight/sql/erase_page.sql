-- What belongs to the shards of a page, and the page.
with gone_attempts as (
    delete from attempts where job_id = $1 and shard >= $2 and shard < $3
),
gone_packed as (
    delete from attempt_pages where job_id = $1 and number = $4
),
gone_audits as (
    delete from audits where job_id = $1 and shard >= $2 and shard < $3
),
gone_rechecks as (
    delete from rechecks where job_id = $1 and shard >= $2 and shard < $3
),
gone_classes as (
    delete from answer_classes where job_id = $1 and shard >= $2 and shard < $3
),
gone_failures as (
    delete from comparison_failures where job_id = $1 and shard >= $2 and shard < $3
)
delete from pages where job_id = $1 and number = $4

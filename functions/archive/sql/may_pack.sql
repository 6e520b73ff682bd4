-- Whether all servers read packed attempts. It makes servers that do not refuse to start: $1 is the migration that they do not know.
with due as (
    select true from packing where from_at <= now()
),
noted as (
    update schema_needs set oldest = greatest(oldest, $1), newest = greatest(newest, $1)
    where kind = 'project' and oldest < $1 and exists (select from due)
)
select exists (select from due)

-- Says whether anything is left to be split. The step that makes chunks ends where nothing is.
with more as materialized (
    select exists (select from jobs where state = 'splitting' and split_at < 'infinity') as yes
),
gone as (
    delete from split_turns where not (select yes from more)
)
select yes from more

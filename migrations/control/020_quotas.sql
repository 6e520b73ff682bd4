-- What a project may have at a time: an operator's own values by name; what is not named is the server's default.
alter table projects add column quotas jsonb not null default '{}';

-- What it has. Triggers keep the counts, so that no step can forget them; whoever checks a limit reads the row that its own transaction has
-- just changed, and holds: two at the limit come one after the other.
create table project_usage (
    project_id   uuid primary key references projects on delete cascade,
    open_jobs    bigint not null default 0,
    open_shards  bigint not null default 0, -- shards of open jobs
    results      bigint not null default 0, -- shards of all jobs that were ever submitted: each keeps a row, and its results
    events       bigint not null default 0, -- as of the last count, and one for each job since
    open_uploads bigint not null default 0  -- granted and not completed
) with (fillfactor = 50);

alter table open_jobs add column shards bigint not null default 0; -- jobs of before count as none

create function count_open_job() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into ostraka.project_usage as u (project_id, open_jobs, open_shards, results, events) values (new.project_id, 1, new.shards, new.shards, 1)
        on conflict (project_id) do update
            set open_jobs = u.open_jobs + 1, open_shards = u.open_shards + new.shards, results = u.results + new.shards, events = u.events + 1;
    else
        update ostraka.project_usage set open_jobs = open_jobs - 1, open_shards = open_shards - old.shards where project_id = old.project_id;
    end if;
    return null;
end $$;
create trigger count_open_job after insert or delete on open_jobs for each row execute function count_open_job();

create function count_upload() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into ostraka.project_usage as u (project_id, open_uploads) values (new.project_id, 1)
        on conflict (project_id) do update set open_uploads = u.open_uploads + 1;
    elsif old.completed_at is null and (tg_op = 'DELETE' or new.completed_at is not null) then
        update ostraka.project_usage set open_uploads = open_uploads - 1 where project_id = old.project_id;
    end if;
    return null;
end $$;
create trigger count_upload after insert or delete or update of completed_at on uploads for each row execute function count_upload();

insert into project_usage (project_id, open_jobs, open_uploads)
select id, (select count(*) from open_jobs where project_id = id), (select count(*) from uploads where project_id = id and completed_at is null) from projects;

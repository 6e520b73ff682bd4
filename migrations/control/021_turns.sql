-- Projects take turns by their weights, and the jobs of one project by their priorities: see functions/turns.
alter table projects add column weight integer not null default 100 check (weight between 1 and 1000);

-- Where a project stands: when its last turn began, and where it ends, on the clock that all projects have in common.
create table project_turns (
    project_id uuid primary key references projects on delete cascade,
    turn_start double precision not null,
    turn_end   double precision not null
) with (fillfactor = 50);

-- The same for jobs, on the clock of their project. The stride is how far a turn takes the job: the smaller, the more often.
alter table open_jobs
    add column stride     double precision not null default 1,
    add column turn_start double precision not null default 0,
    add column turn_end   double precision not null default 0;
alter table open_jobs set (fillfactor = 50);

-- A lease that is held for long counts as several turns.
alter table leases add column lent_at timestamptz not null default now();
create table turns_charged (
    one boolean primary key default true check (one),
    at  timestamptz not null
);
insert into turns_charged (at) values (now());

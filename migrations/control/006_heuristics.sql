-- What looks at a project's code and results, and what follows from that; null: what the server does by default.
alter table projects add column heuristics jsonb;

-- Why a job is not dispatched though it is open: its code has not been scored yet, or a person must look at it first.
alter table open_jobs add column held text check (held in ('scoring', 'review'));

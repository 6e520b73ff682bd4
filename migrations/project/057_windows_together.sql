-- Windows that are left at a job's end may be closed together: the same share of each is audited, and all pass when all of these audits do.
alter table windows
    add column together double precision not null default 0, -- the part of the target error that they may spend together; 0: the window is closed by itself
    add column share    double precision not null default 0; -- of its results that is audited; 0 also when an audit of the others has failed
create index windows_together on windows (job_id) where share > 0;

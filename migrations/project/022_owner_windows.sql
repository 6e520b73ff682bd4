-- How many wrong results of a window are expected to become final at most, as it was closed.
alter table windows add column risk double precision not null default 0;

-- Which control of those that a job brought it is, from 1: what people are told of it, since nothing else of their file says where it is lent. 0: it is
-- of before, when that was not kept.
alter table controls add column number integer not null default 0 check (number >= 0);

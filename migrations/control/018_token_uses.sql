-- How many agents may join with a token; null for tokens of before, which have no end either.
alter table enrolment_tokens
    add column max_uses integer check (max_uses > 0),
    add column uses     integer not null default 0;
-- The block of addresses that an agent without a token asked from, so that one stranger does not take all the room there is to wait.
alter table agents add column asked_from text not null default '';

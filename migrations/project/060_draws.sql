-- What is needed to draw a job's audits again: the SHA-256 of its secret, which the record of its submission has too, and the rates. Null: the job
-- is of before, and its audits are drawn by the secret of the project.
alter table jobs add column draws_sha256 bytea check (octet_length(draws_sha256) = 32);

-- Both fit into what the row of an accepted shard is padded with anyway.
alter table shards
    add column draw_rate smallint check (draw_rate between 1 and 10000), -- with which it was drawn whether the accepted result is audited at once, in 1/10000
    add column in_window integer check (in_window > 0);                  -- the window that made it final, or is going to; null: no window

alter table audits add column rate smallint check (rate between 1 and 10000); -- the same of a result that is audited; null: it was not drawn, but asked for

-- The record with the SHA-256 of the secret, as it was sealed: the log may be pruned.
alter table receipts
    add column draws_seq    bigint,
    add column draws_record text;

-- When a key was used last, to some minutes. Keys of agents are left out: agents have last_seen.
alter table api_keys add column used_at timestamptz;

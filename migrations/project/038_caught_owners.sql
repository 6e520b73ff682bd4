-- Every lease asks which owners are caught: few are, and they are found without reading about all agents.
create index trust_caught_owners on trust (owner) where caught_at is not null and owner <> '';

-- Which agents do not take which version of a function, why, and until when they are not asked again. What is over is forgotten when
-- the agent refuses next; there is at most one row for an agent and a version.
create table refusals (
    agent_id         uuid not null,
    function_id      uuid not null,
    function_version integer not null,
    code             text not null,
    reason           text not null,
    times            integer not null default 1, -- one after the other
    refused_at       timestamptz not null default now(),
    until            timestamptz not null,
    primary key (function_id, function_version, agent_id),
    foreign key (function_id, function_version) references function_versions
) with (fillfactor = 70);

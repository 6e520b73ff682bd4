-- What people look for in the log: each filter of the list has an index to go by. What is longer than
-- the API asks for would not fit into one.
create index audit_by_actor on audit (actor, seq) where length(actor) <= 200;
create index audit_by_action on audit (action text_pattern_ops, seq);
create index audit_by_subject on audit (subject text_pattern_ops, seq) where length(subject) <= 300;
create index audit_by_agent on audit ((detail ->> 'agent'), seq) where detail ->> 'agent' is not null;
create index audit_by_job on audit ((detail ->> 'job'), seq) where detail ->> 'job' is not null;
create index audit_by_sandbox on audit ((detail ->> 'sandbox'), seq) where detail ->> 'sandbox' is not null;
create index audit_by_function on audit ((detail ->> 'function'), seq) where detail ->> 'function' is not null;
create index audit_by_decision on audit ((detail ->> 'decision'), seq) where detail ->> 'decision' is not null;
create index audit_by_time on audit (at, seq);

-- Of an index that holds some rows only the planner has no statistics to go by.
create statistics audit_of_agent on (detail ->> 'agent') from audit;
create statistics audit_of_job on (detail ->> 'job') from audit;
create statistics audit_of_sandbox on (detail ->> 'sandbox') from audit;
create statistics audit_of_function on (detail ->> 'function') from audit;
create statistics audit_of_decision on (detail ->> 'decision') from audit;

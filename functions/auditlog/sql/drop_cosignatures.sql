-- What agents have co-signed of a log before it began anew: what they sign of it since may be shorter.
delete from cosignatures where project_id is not distinct from $1

-- What the agent has co-signed with the key goes with it: nobody could verify it any more. A key stays for $2 at least.
delete from witness_keys where agent_id = $1 and registered_at <= now() - $2::interval

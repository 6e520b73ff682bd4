insert into ostraka.kill_confirmations (switch_id, agent_id) select unnest($2::uuid[]), $1 on conflict do nothing

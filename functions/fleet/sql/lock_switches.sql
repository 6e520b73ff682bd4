-- Leases that are being made hold the same lock, shared: a switch waits for them and then finds them, or they see the switch.
select pg_advisory_xact_lock(hashtextextended('ostraka.kill_switches', 0))

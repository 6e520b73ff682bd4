-- The lock of restores into this database, for as long as the session lasts. There is no table yet whose number could name it.
select pg_try_advisory_lock(hashtextextended('ostraka restore', 0))

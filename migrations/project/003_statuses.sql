-- Each limit that a shard breaks is a status of its own.
alter table attempts drop constraint attempts_status_check;
alter table attempts add constraint attempts_status_check check (status in (
    'ok', 'error', 'timeout', 'cpu_limit', 'memory', 'process_limit', 'file_limit', 'output_limit',
    'log_limit', 'disk_limit', 'inode_limit', 'artifact_limit', 'killed', 'denied'));

select to_regclass('ostraka.backups') is not null

select count(*) from runtimes

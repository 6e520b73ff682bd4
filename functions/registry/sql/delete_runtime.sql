delete from runtimes where digest = $1

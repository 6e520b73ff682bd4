-- A database of our own, so that `postgres` stays free for maintenance.
create database ostraka

-- Runs beside: 0001-initial
-- The table has no key: an event may be set aside twice. Copies by logical replication know a changed row by the whole of it.
alter table event_log.set_aside replica identity full;

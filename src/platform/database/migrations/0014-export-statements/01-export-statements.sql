-- Runs beside: 0001-initial
-- A package may state for what it was made, and by whom. The column is under the row seal: a worker writes it into a
-- package that the ledger's key signs. It is null for exports that were requested before.
alter table export_jobs add column stated jsonb;
comment on column export_jobs.stated is
  'What the package states of the export: role and, if asked for, name of the user, and the reason; null: nothing.';
-- It can hold a name, of which PostgreSQL must keep no sample (src/platform/database/secret-columns.ts).
alter table export_jobs alter column stated set statistics 0;

-- Runs beside: 0001-initial
-- The runner of the migrations makes the column with the table in a new database.

alter table schema_migrations add column if not exists runs_beside text;
comment on column schema_migrations.runs_beside is 'The oldest schema whose programs may run with this step; null: none. Older programs refuse to start.';

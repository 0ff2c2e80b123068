-- Runs beside: nothing
-- The runner of the migrations creates this table before the first step. Only its description is here.

comment on table schema_migrations is 'Steps of the schema that are applied.';
comment on column schema_migrations.id is 'The step: the path of its file in the program.';
comment on column schema_migrations.sha256 is 'SHA-256 of the file when it was applied. The program refuses a database where it differs.';
comment on column schema_migrations.applied_at is 'Time at which the step was applied.';

-- Runs beside: 0001-initial
-- The rows of files that were imported (docs/import.md), so that no row is imported twice. An erasure leaves
-- them: the same file must not bring an erased person back.

create table imported_rows (
  site_id uuid not null references sites,
  digest bytea not null,
  primary key (site_id, digest)
);
alter table imported_rows alter column digest set statistics 0;

comment on table imported_rows is 'Rows of files that were imported, so that each is imported once.';
comment on column imported_rows.site_id is 'Site that the row was imported to.';
comment on column imported_rows.digest is
  'Keyed hash of the record''s id at the former tool, or of the file and the place of the row in it.';

grant select, insert on imported_rows to consent_ledger_admin;
-- An import creates the keys of records, and reads none.
grant insert on record_keys to consent_ledger_admin;
grant select on imported_rows to consent_ledger_auditor;

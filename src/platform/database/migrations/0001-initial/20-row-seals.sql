-- Runs beside: nothing
-- Seals of rows that no other record binds: those that grant rights, and those that say what the
-- service and its users did. The seal is a keyed hash under a key that the database holds only encrypted.
-- A person who can only write to the database can make no valid one. The service computes it before the
-- commit of each transaction that changes such a row (src/platform/keys/row-seals.ts), and checks it when
-- it reads a row that grants something. `consent-ledger audit` checks all of them.
--
-- Which tables and columns are sealed is declared in src/platform/database/sealed-tables.ts. Each migration
-- makes the triggers `changes_are_sealed` of these tables from it.
--
-- The trigger lists the changes in a setting that lives as long as the transaction. Its argument names
-- the primary key.

create function note_changed_row() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('consent_ledger.changed_rows',
    coalesce(current_setting('consent_ledger.changed_rows', true), '')
      || jsonb_build_object('table', tg_table_name, 'id', to_jsonb(new) ->> tg_argv[0], 'before', case tg_op when 'UPDATE' then old::text end)::text
      || e'\n',
    true);
  return null;
end
$$;
comment on function note_changed_row() is 'Lists a changed row for its seal, with the row as it was before.';

-- Runs beside: 0001-initial
-- A file or a tag of a page proves a domain without its subdomains, and the service looks at both again. All three
-- columns are under the row seal: whoever could clear a failure or move a look could keep a right that has lapsed.
-- They are null for domains that were verified before: the DNS or an operator proved them.
alter table sites
  add column proof text check (proof in ('dns', 'file', 'meta', 'operator')),
  add column proof_looked_at timestamptz,
  add column proof_failing_since timestamptz;
comment on column sites.proof is
  'How the domain was proved: by a TXT record (dns), a file below /.well-known/ (file), a tag of the start page (meta), '
  'or by an operator. Null: not verified, or verified before this column.';
comment on column sites.proof_looked_at is
  'Last look at the file or tag that counts; null: the domain is proved in another way.';
comment on column sites.proof_failing_since is
  'Start of the failed looks without a success since. Null: the last look found the proof.';
comment on column sites.verified_at is 'Time at which the proof in force was found; null: not verified.';

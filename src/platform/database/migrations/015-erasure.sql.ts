import { admitGroupWithSealedDigestsSql } from './004-admit-group.sql.js';

/**
 * Erasures asked for in the panel and by backends: by which way, and what tells a repeated request. When the database's files were scrubbed. And
 * digests of request bodies that an erasure makes useless.
 */
export const erasureSql = `
alter table erasure_requests
  add column channel text not null default 'operator' check (channel in ('panel', 's2s', 'operator', 'service')),
  -- Keyed hash of the caller's idempotency key and of what is to be erased: the same request again finds its erasure.
  add column request_digest bytea,
  -- Finished packages that the service kept, and whose keys were destroyed.
  add column destroyed_package_count bigint not null default 0;
update erasure_requests set channel = 'service' where reason = 'retention';
create unique index erasure_requests_once on erasure_requests (request_digest) where request_digest is not null;
create index erasure_requests_by_site on erasure_requests (site_id, id);

-- Each time that deleted rows were removed from the database's files (admin scrub, as the tables' owner).
create table scrubs (
  started_at timestamptz primary key,
  finished_at timestamptz not null
);

grant select, insert on erasure_requests to consent_ledger_admin;
grant select on scrubs to consent_ledger_api, consent_ledger_worker;

${admitGroupWithSealedDigestsSql}`;

import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { SECRET_COLUMNS } from '../../../src/platform/database/secret-columns.js';
import { type LedgerWorld, openLedgerWorld } from '../../evidence/package/ledger-world.js';

/** Types whose values are no secrets and name no person: identifiers, times, numbers, flags. */
const PLAIN_TYPES = new Set(['uuid', 'timestamp with time zone', 'date', 'boolean', 'smallint', 'integer', 'bigint']);

/** Every other column that holds neither a secret nor a personal value of a data subject or user. */
const HARMLESS = `
  schema_migrations.id schema_migrations.sha256 schema_migrations.runs_beside tenants.name subscriptions.plan users.role sign_ins.end_reason
  invitations.role mails.kind sites.proof sites.name sites.domain sites.verification_token sites.allowed_origins sites.allowed_ips
  sites.site_config_hash api_keys.name api_keys.prefix api_keys.scope api_keys.restriction
  api_keys.publishable_key
  test_records.proof_hash test_approval_tokens.id test_erasures.channel test_erasures.reason test_erasures.index_kind live_hosts.host api_keys.live_host webhooks.description webhooks.events
  webhooks.disabled_reason webhook_progress.last_error webhook_deliveries.message_id webhook_deliveries.type webhook_deliveries.status
  webhook_deliveries.error rate_limit_windows.granted documents.slug documents.kind
  notice_contents.sha256 notice_contents.content document_versions.language document_versions.title
  document_versions.media_type document_versions.content_sha256 document_versions.state site_configs.sha256
  site_configs.record site_scans.record site_config_drafts.content keyring.key_id keyring.purpose keyring.public_key approval_tokens.id
  quarantined_sites.reason admission_generations.kind nonces.digest
  idempotency.proof_hash idempotency.record_digest event_log.streams.name event_log.set_aside.stream event_log.set_aside.type event_log.events.type
  event_log.events.metadata projections.name projections.state projections.problem projection_generations.name
  projection_generations.position projection_views.view projection_views.name batches.header batches.root batches.leaves batches.nodes
  sealed_events.person_tag ledger_nodes.hash sealed_streams.stream sealed_streams.leaf
  sealer_state.compared_on sealer_state.log_position ledger_events.type ledger_policies.type ledger_policies.body
  checkpoints.note checkpoints.authorities checkpoints.certificates checkpoints.crls checkpoints.ocsp
  checkpoint_tokens.note checkpoint_tokens.tsr checkpoint_tokens.tsr_sha256 checkpoint_tokens.authority
  checkpoint_tokens.organization checkpoint_tokens.certificates checkpoint_tokens.crls checkpoint_tokens.ocsp
  evidence_parts.sha256 evidence_parts.kind evidence_parts.bytes ledger_keys.key ledger_keys.ml_dsa_key ledger_keys.replaces
  witnesses.name cosignatures.witness cosignatures.line erasure_requests.channel erasure_requests.reason
  erasure_requests.index_kind erased_records.reason erasure_progress.log_kind erasure_progress.log_position
  exports.state exports.reason exports.requested_by export_jobs.channel export_jobs.filter export_jobs.disclose export_jobs.step
  export_jobs.sha256 export_jobs.counts manifest_certificates.manifest_key
  manifest_certificates.ledger_key manifest_certificates.certificate audit_log.actor_kind audit_log.action
  audit_log.subject_kind audit_log.subject_id audit_log.details users.seal sites.seal api_keys.seal webhooks.seal
  users.passkey_ids passkeys.rp_id passkeys.transports passkeys.seal sign_ins.seal invitations.seal password_resets.seal tenants.seal subscriptions.seal documents.seal
  document_attachments.seal document_versions.seal site_config_drafts.seal approval_tokens.seal erasure_requests.seal exports.seal
  export_jobs.seal audit_log.seal keyring.seal`
  .trim()
  .split(/\s+/);

const SECRET = Object.entries(SECRET_COLUMNS).flatMap(([table, columns]) => columns.map((name) => `${table}.${name}`));

let world: LedgerWorld;
let owner: pg.Pool;
beforeAll(async () => {
  world = await openLedgerWorld();
  ({ owner } = world.pipeline);
});
afterAll(() => world.close());

const NAMED = `case n.nspname when 'public' then '' else n.nspname || '.' end || coalesce(parent.relname, c.relname) || '.' || a.attname`;
const FROM = `pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  left join pg_inherits h on h.inhrelid = c.oid left join pg_class parent on parent.oid = h.inhparent`;

async function columnsWhere(condition: string): Promise<string[]> {
  const { rows } = await owner.query(
    `select ${NAMED} as name from ${FROM} where a.attnum > 0 and c.relkind in ('r', 'p') and ${condition}`,
  );
  return z
    .array(z.object({ name: z.string() }))
    .parse(rows)
    .map(({ name }) => name);
}

it('declares every column that can hold a secret or a personal value as secret or as harmless', async () => {
  const plain = [...PLAIN_TYPES].map((type) => `'${type}'`).join();
  const found = await columnsWhere(
    `n.nspname in ('public', 'event_log') and not c.relispartition and not a.attisdropped
       and format_type(a.atttypid, a.atttypmod) not in (${plain})`,
  );
  expect([...SECRET, ...HARMLESS].sort()).toEqual(found.sort());
});

it('collects no statistics on secret columns, also not in partitions', async () => {
  const without = await columnsWhere(`a.attstattarget = 0 and n.nspname in ('public', 'event_log')`);
  expect([...new Set(without)].sort()).toEqual([...SECRET].sort());
  const all = await columnsWhere(`n.nspname in ('public', 'event_log')`);
  const secret = new Set(SECRET);
  expect(all.filter((name) => secret.has(name))).toHaveLength(without.length);
});

it('keeps no seed and no index in pg_statistic after ANALYZE', async () => {
  const visitors = Array.from({ length: 40 }, (_, i) => ({ visitorId: `visitor-${i % 20}` }));
  await world.record(world.site, visitors);
  await world.seal();
  await owner.query('analyze');
  const analyzed = await columnsWhere(
    'exists (select from pg_statistic s where s.starelid = c.oid and s.staattnum = a.attnum)',
  );
  expect(analyzed).toContain('record_keys.event_id');
  const secret = new Set(SECRET);
  expect(analyzed.filter((name) => secret.has(name))).toEqual([]);

  const { rows } = await owner.query(
    `select encode(seed, 'hex') as hex from record_keys union select encode(visitor_index, 'hex') from record_keys
     union select encode(seed, 'hex') from persons`,
  );
  const values = z.array(z.object({ hex: z.string() })).parse(rows);
  expect(values.length).toBe(80);
  const samples = await owner.query('select s::text as text from pg_statistic s');
  const text = JSON.stringify(samples.rows);
  expect(values.filter(({ hex }) => text.includes(hex))).toEqual([]);
});

import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ErasureReceipt, ErasureReceiptResponse } from '../../schemas/api/erasures.js';
import { ConsentRecordedBody } from '../../schemas/events/consent-recorded.js';
import { exportKey, openChunk } from '../../src/evidence/exports/export-key.js';
import { bodyDigest } from '../../src/pipeline/admission/submission.js';
import {
  approvalTokenKey,
  blindIndex,
  createKeyring,
  decryptForRecord,
  decryptForToken,
  loadMasterKey,
  recordKey,
} from '../../src/platform/keys/index.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';
const Bytes = z.instanceof(Buffer);

/** All personal values that a backend can send about one person. */
function everythingOf(name: string) {
  const id = randomUUID();
  return {
    visitor_id: `visitor-${name}-${id}`,
    signer_name: `${name} Lovelace-${id}`,
    signer_email: `${name}.${id}@person.example`,
    signer_phone: `+44 ${id}`,
    signer_id_number: `ID-${name}-${id}`,
    ip_address: '198.51.100.77',
    user_agent: `Browser of ${name} ${id}`,
    otp_reference: `otp ${name} ${id}`,
    metadata: { note: `note on ${name} ${id}` },
    extra_fields: { maiden_name: `née ${name} ${id}` },
    declaration_text: `I, ${name} ${id}, agree`,
    custom_document_content: `Contract with ${name} ${id}`,
    custom_document_mime_type: 'text/plain',
    signature_image: PNG,
    signature_mime_type: 'image/png',
    idempotency_key: `order-of-${name}-${id}`,
  };
}
type Person = ReturnType<typeof everythingOf>;

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/**
 * The encodings of a text that a dump can contain, without the media types and the signature, which
 * both persons share.
 */
function formsOf(person: Person): string[] {
  return textsOf(person)
    .filter((text) => text.length > 30 && text !== PNG)
    .flatMap((text) => {
      const bytes = Buffer.from(text);
      // The end of a base64 text depends on the bytes that follow.
      const base64 = bytes.toString('base64').replace(/=+$/, '').slice(0, -2);
      return [text, text.toLowerCase(), bytes.toString('hex'), base64, bytes.toString('base64url').slice(0, -2)];
    });
}

describe.each(['panel', 's2s'] as const)('an erasure requested by %s', (channel) => {
  let app: RunningApp;
  let shop: RecordingTenant;
  const [ada, bob] = [everythingOf('Ada'), everythingOf('Bob')];
  beforeAll(async () => {
    app = await startApp('serve', { LOG_LEVEL: 'trace' });
    shop = await RecordingTenant.of(app);
  });
  afterAll(() => app.stop());

  /** Every row of every table, and every sample of the planner, as text. */
  async function dump(): Promise<string> {
    const { rows } = await app.superuser.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const parts: string[] = [];
    const tables = z.array(z.object({ name: z.string() })).parse(rows);
    for (const { name } of [...tables, { name: 'pg_statistic' }, { name: 'pg_statistic_ext_data' }]) {
      const table = await app.superuser.query(`select t::text as row from ${name} t`);
      for (const { row } of z.array(z.object({ row: z.string() })).parse(table.rows)) parts.push(row);
    }
    return parts.join('\n');
  }

  async function dataFolder(): Promise<string> {
    const folder = app.service.installation.config.dataDir;
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
    return texts.join('\n');
  }

  /** A ciphertext, and its decryption with a seed. */
  interface Ciphertext {
    readonly what: string;
    open(siteKey: Uint8Array, seed: Uint8Array): Buffer;
  }

  /** Every ciphertext of personal data, as an attacker could have copied it before the erasure. */
  async function ciphertexts(recordIds: readonly string[], tokenIds: readonly string[]): Promise<Ciphertext[]> {
    const { superuser } = app;
    const events = await superuser.query('select id::text as id, data from event_log.events where id = any($1)', [
      recordIds,
    ]);
    const attachments = await superuser.query(
      'select id, event_id, ciphertext from attachments where event_id = any($1)',
      [recordIds],
    );
    const tokens = await superuser.query('select id, identity from approval_tokens where id = any($1)', [tokenIds]);
    const chunks = await superuser.query(
      `select c.export_id, c.index, c.ciphertext, c.index = j.chunks - 1 as is_last
         from export_chunks c join export_jobs j on j.export_id = c.export_id`,
    );
    return [
      ...z
        .array(z.object({ id: z.string(), data: Bytes }))
        .parse(events.rows)
        .map(({ id, data }) => {
          const { disclosures } = ConsentRecordedBody.parse(JSON.parse(data.toString()));
          const blob = Buffer.from(disclosures ?? '', 'base64');
          const open: Ciphertext['open'] = (siteKey, seed) =>
            decryptForRecord(recordKey(siteKey, seed, id), id, 'disclosures', blob);
          return { what: 'disclosures', open };
        }),
      ...z
        .array(z.object({ id: z.string(), event_id: z.string(), ciphertext: Bytes }))
        .parse(attachments.rows)
        .map(({ id, event_id: eventId, ciphertext }) => {
          const open: Ciphertext['open'] = (siteKey, seed) =>
            decryptForRecord(recordKey(siteKey, seed, eventId), eventId, `attachment:${id}`, ciphertext);
          return { what: 'attachment', open };
        }),
      ...z
        .array(z.object({ id: z.string(), identity: Bytes }))
        .parse(tokens.rows)
        .map(({ id, identity }) => {
          const open: Ciphertext['open'] = (siteKey, seed) =>
            decryptForToken(approvalTokenKey(siteKey, seed, id), id, identity);
          return { what: 'approval token', open };
        }),
      ...z
        .array(z.object({ export_id: z.string(), index: z.int(), ciphertext: Bytes, is_last: z.boolean() }))
        .parse(chunks.rows)
        .map(({ export_id: id, index, ciphertext, is_last: isLast }) => {
          const open: Ciphertext['open'] = (siteKey, seed) =>
            openChunk(exportKey(siteKey, seed, id), id, { index, isLast }, ciphertext);
          return { what: 'export', open };
        }),
    ];
  }

  /** The ciphertexts that decrypt with the master key and any 16 bytes of any table. */
  async function opened(tables: string, blobs: readonly Ciphertext[]): Promise<string[]> {
    const { installation } = app.service;
    const keyring = await createKeyring(installation.workerPool, await loadMasterKey(installation.config.masterKey));
    const siteKey = await keyring.siteKey(shop.siteId);
    const seeds = seedsIn(tables);
    expect(seeds.length).toBeGreaterThan(0);
    return blobs.filter(({ open }) => seeds.some((seed) => opens(() => open(siteKey, seed)))).map(({ what }) => what);
  }

  function opens(attempt: () => Buffer): boolean {
    try {
      return attempt().length > 0;
    } catch {
      return false;
    }
  }

  function seedsIn(tables: string): Buffer[] {
    const found = new Set([...tables.matchAll(/\\x([0-9a-f]{32})(?![0-9a-f])/g)].map(([, hex]) => hex ?? ''));
    return [...found].map((hex) => Buffer.from(hex, 'hex'));
  }

  it('leaves no value of the person in tables, data folder and logs, and no key that decrypts a ciphertext', async () => {
    const record = await shop.record(ada);
    const bystander = await shop.record(bob);
    const used = await shop.backend.mint({
      document_slug: 'explicit-consent',
      subject: ada.visitor_id,
      signer_email: ada.signer_email,
    });
    const approval = await shop.record({
      consent_type: 'document_approval',
      document_version_id: shop.backend.version('consent_form'),
      approval_token: used.approval_token,
    });
    const unused = await shop.backend.mint({ document_slug: 'explicit-consent', subject: ada.visitor_id });
    const others = await shop.backend.mint({ document_slug: 'explicit-consent', subject: bob.visitor_id });
    const asked = await shop.inSite('dpo', 'POST', '/exports', { disclose: 'all', reason: 'for the test' });
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(asked.body);
    const ExportState = z.object({ state: z.string(), reason: z.string().nullable() });
    await shop.until(ExportState, `/exports/${data.id}`, ({ state }) => state === 'finished');
    await shop.inSite('dpo', 'POST', '/consents/search', {
      person: { by: 'signer_email', value: ada.signer_email },
      reason: 'for the test',
    });
    await shop.inSite('dpo', 'POST', `/consents/${record.id}/disclose`, {
      fields: 'all',
      reason: `${ada.signer_email} asks`,
    });

    const { installation } = app.service;
    const siteKey = await installation.keyring.siteKey(shop.siteId);
    const version = shop.backend.version('cookie_policy');
    const { idempotency_key, ...fields } = ada;
    // As sent, in this order.
    const sent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: version,
      idempotency_key,
      ...fields,
    };
    const digest = bodyDigest(siteKey, sent, null);
    const keptDigests = (tables: string) =>
      seedsIn(tables).filter((seed) => tables.includes(createHash('sha256').update(digest).update(seed).digest('hex')))
        .length;
    const indexes = (['visitor', 'email', 'phone', 'id_number'] as const).map((kind, at) => {
      const value = [ada.visitor_id, ada.signer_email, ada.signer_phone, ada.signer_id_number][at] ?? '';
      return blindIndex(siteKey, kind, value).toString('hex');
    });

    // Before the erasure, all values exist encrypted and decrypt: the same check after the erasure
    // can therefore fail.
    await app.superuser.query('analyze');
    const before = await dump();
    const adas = await ciphertexts([record.id, approval.id], [used.approval_token_id, unused.approval_token_id]);
    const bobs = await ciphertexts([bystander.id], [others.approval_token_id]);
    const ofBob = bobs.filter(({ what }) => what !== 'export');
    expect(new Set(adas.map(({ what }) => what)).size).toBe(4);
    expect(await opened(before, adas)).toHaveLength(adas.length);
    for (const index of indexes) expect(before).toContain(index);
    expect(keptDigests(before)).toBe(1);

    const subject = { by: 'visitor_id', value: ada.visitor_id };
    const answer =
      channel === 'panel'
        ? await shop.inSite('owner', 'POST', '/erasures', { subject })
        : await shop.post('/tool/v1/s2s/erasures', { subject, idempotency_key: randomUUID() });
    const { id } = ErasureReceiptResponse.parse(answer.body).data;
    const receipt = await shop.until(ErasureReceipt, `/erasures/${id}`, ({ state }) => state === 'finished');
    expect(receipt).toMatchObject({ erased_records: 2, deleted_approval_tokens: 2, destroyed_packages: 1 });

    const tables = await dump();
    const places = { tables, folder: await dataFolder(), log: app.log() };
    expect(places.folder).toContain(record.id);
    expect(places.log).toContain('request');
    for (const [place, text] of Object.entries(places)) {
      for (const form of [...formsOf(ada), ...indexes, digest.toString('hex'), used.approval_token]) {
        expect(text.includes(form), `${form} in ${place}`).toBe(false);
      }
      for (const form of formsOf(bob)) expect(text.includes(form), `${form} in ${place}`).toBe(false);
    }
    expect(await opened(tables, adas)).toEqual([]);
    expect(keptDigests(tables)).toBe(0);
    expect(await opened(tables, ofBob)).toHaveLength(ofBob.length);
    const state = await shop.until(ExportState, `/exports/${data.id}`, () => true);
    expect(state).toEqual({ state: 'cancelled', reason: 'erasure' });

    // A retry of the request gets the same response and restores nothing.
    const count = async () => (await app.superuser.query('select from record_keys')).rowCount;
    const keys = await count();
    const retried = await shop.post('/tool/v1/s2s/consents', sent);
    expect(retried).toMatchObject({ status: 202, body: { data: { consent_token: record.consent_token } } });
    expect(retried.headers.get('idempotency-mismatch')).toBeNull();
    const changed = await shop.post('/tool/v1/s2s/consents', { ...sent, signer_name: 'somebody else' });
    expect(changed).toMatchObject({ status: 202, body: { data: { consent_token: record.consent_token } } });
    expect(await count()).toBe(keys);
  });
});

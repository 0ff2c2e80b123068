import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';
import { certifiedPromiseKey } from '../../../src/pipeline/admission/promises.js';
import { verifiedPromise } from '../../support/independent-promise.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { type ApiProcess, newKey, ORIGIN, post, SEAL_WITHIN_SECONDS, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture, type SiteFixture } from './site-fixture.js';
import { cookie, SINGLE, times } from './two-apis.js';

const BodyRows = z.tuple([z.object({ body: z.instanceof(Buffer) })]);

describe('promises of admission', () => {
  let database: AdmissionDatabase;
  let api: ApiProcess;
  let site: SiteFixture;
  let ledgerKey: Uint8Array;

  beforeAll(async () => {
    database = await openAdmissionDatabase();
    api = await startApiProcess(database.db, database.worker, database.master);
    site = await createSiteFixture(database.owner);
    ledgerKey = (await api.keyring.ledgerKey()).publicKeyBytes;
  });
  afterAll(async () => {
    await api?.close();
    await database?.close();
  });

  const recordText = async (eventId: string): Promise<string> => {
    const { rows } = await database.owner.query('select data as body from event_log.events where id = $1', [eventId]);
    const { record } = z.object({ record: z.string() }).parse(JSON.parse(BodyRows.parse(rows)[0].body.toString()));
    return record;
  };

  /** The lines that a promise of this consent must have, computed from the stored record. */
  const expectedLines = async (token: string, createdAt: string): Promise<readonly string[]> => {
    const eventId = eventIdOfConsentToken(token) ?? '';
    const digest = createHash('sha256')
      .update(await recordText(eventId))
      .digest('base64');
    const sealedBefore = new Date(Date.parse(createdAt) + SEAL_WITHIN_SECONDS * 1000).toISOString();
    const stream = `consents-${site.siteId}`;
    return ['consent-ledger promise v1', ORIGIN, stream, eventId, digest, createdAt, sealedBefore, ''];
  };

  it('promise each consent of concurrent requests, signed once for a group', async () => {
    const answers = await times(40, () => post(api, site.writeKey, SINGLE, cookie(site)));
    const data = answers.map(({ body }) => ConsentResponse.parse(body).data);
    for (const { promise, consent_token: token, created_at: createdAt } of data) {
      if (promise === null) throw new Error('there is no promise');
      expect(verifiedPromise(promise, ledgerKey)).toEqual(await expectedLines(token, createdAt));
    }
    const roots = new Set(data.map(({ promise }) => promise?.signed_root));
    expect(roots.size).toBeLessThan(40);
    expect(new Set(data.map(({ promise }) => `${promise?.signed_root} ${promise?.index}`)).size).toBe(40);
  });

  it('promise each accepted item of a submission batch, and no rejected one', async () => {
    const other = { ...cookie(site), consent_type: 'approval', document_version_id: site.versions.form };
    const twin = cookie(site, { idempotency_key: newKey() });
    const body = { consents: [cookie(site), other, twin, twin] };
    const answer = await post(api, site.writeKey, '/tool/v1/consents/batch', body);
    const { results } = ConsentBatchResponse.parse(answer.body).data;
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'rejected', 'accepted', 'accepted']);
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result).not.toHaveProperty('promise');
        continue;
      }
      if (result.promise === null) throw new Error('there is no promise');
      expect(verifiedPromise(result.promise, ledgerKey)).toEqual(
        await expectedLines(result.consent_token, result.created_at),
      );
    }
  });

  it('promise a duplicate the same, also when other consents are signed with it', async () => {
    const body = cookie(site, { idempotency_key: newKey() });
    const first = ConsentResponse.parse((await post(api, site.writeKey, SINGLE, body)).body).data;
    const [again] = await times(20, (i) => post(api, site.writeKey, SINGLE, i === 0 ? body : cookie(site)));
    const second = ConsentResponse.parse(again?.body).data;
    expect(second.duplicate).toBe(true);
    if (second.promise === null) throw new Error('there is no promise');
    expect(second.promise.text).toBe(first.promise?.text);
    verifiedPromise(second.promise, ledgerKey);
  });

  it('never cost a consent: if signing fails, the answer has none, and a retry with the key gets one', async () => {
    const failing = await startApiProcess(database.db, database.worker, database.master, { signingFails: true });
    const body = cookie(site, { idempotency_key: newKey() });
    const answer = await post(failing, site.writeKey, SINGLE, body);
    await failing.close();
    expect(answer.status).toBe(202);
    const accepted = ConsentResponse.parse(answer.body).data;
    expect(accepted).toMatchObject({ duplicate: false, promise: null });
    const retried = ConsentResponse.parse((await post(api, site.writeKey, SINGLE, body)).body).data;
    expect(retried).toMatchObject({ consent_token: accepted.consent_token, duplicate: true });
    if (retried.promise === null) throw new Error('there is no promise');
    verifiedPromise(retried.promise, ledgerKey);
  });

  it('are certified by the current key of the ledger after a rotation', async () => {
    const { keyring } = api;
    const before = await certifiedPromiseKey({ keyring, origin: ORIGIN, guard: UNGUARDED });
    await keyring.nextLedgerKey();
    await keyring.promoteNextLedgerKey();
    const after = await certifiedPromiseKey({ keyring, origin: ORIGIN, guard: UNGUARDED });
    expect(after.key.keyId).toBe(before.key.keyId);
    expect(after.certificate).not.toBe(before.certificate);
    expect(await certifiedPromiseKey({ keyring, origin: ORIGIN, guard: UNGUARDED })).toMatchObject({
      certificate: after.certificate,
    });
  });
});

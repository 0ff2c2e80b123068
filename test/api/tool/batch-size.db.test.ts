import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CONSENT_LIMITS, DEFAULT_BATCH_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { postSigned } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const Processed = z.object({ data: z.object({ accepted: z.int(), rejected: z.int() }) });

describe('the size of a submission batch', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.stop());

  const consentOf = (demo: SeededDemo, further: object) => {
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
    const idempotency_key = randomUUID();
    return {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: version?.id,
      idempotency_key,
      ...further,
    };
  };
  const batchOf = (demo: SeededDemo, items: number, further: object) => ({
    consents: Array.from({ length: items }, () => consentOf(demo, further)),
  });
  /** An object of as many keys and bytes as metadata may have. */
  const full = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`key${10 + index}`, 'x'.repeat(Math.floor(16_384 / 30) - 12)]),
  );
  const post = (running: RunningApp, demo: SeededDemo, batch: object) =>
    postSigned(running.url, demo.keys.write, '/tool/v1/consents/batch', batch);

  it('has room for 100 consents with full metadata and extra fields by default, and has a limit', async () => {
    app = await startApp('api');
    const demo = await app.seed();
    expect(JSON.stringify(full).length).toBeGreaterThan(CONSENT_LIMITS.metadataBytes - 200);
    const largest = await post(app, demo, batchOf(demo, 100, { metadata: full, extra_fields: full }));
    expect(largest.status).toBe(202);
    expect(Processed.parse(await largest.json()).data).toMatchObject({ accepted: 100, rejected: 0 });
    const document = { custom_document_content: 'x'.repeat(1_000_000), custom_document_mime_type: 'text/plain' };
    const tooLarge = batchOf(demo, 9, document);
    expect(JSON.stringify(tooLarge).length).toBeGreaterThan(DEFAULT_BATCH_BODY_BYTES);
    const refused = await post(app, demo, tooLarge);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('is as configured, and large batches of several tenants at once are all recorded', async () => {
    app = await startApp('api', { BATCH_BODY_MAX_BYTES: '20000000' });
    const running = app;
    const demos = [await app.seed(), await app.seed()];
    const document = { custom_document_content: 'x'.repeat(1_000_000), custom_document_mime_type: 'text/plain' };
    const answers = await Promise.all(
      [...demos, ...demos].map(async (demo) => {
        const answer = await post(running, demo, batchOf(demo, 9, document));
        expect(answer.status).toBe(202);
        return Processed.parse(await answer.json()).data;
      }),
    );
    expect(answers).toEqual(Array.from({ length: 4 }, () => expect.objectContaining({ accepted: 9, rejected: 0 })));
  });

  it('does not change the answer to a large body that is not JSON, and uses its nonce', async () => {
    app = await startApp('api');
    const demo = await app.seed();
    const spoiled = await post(app, demo, { consents: Array.from({ length: 101 }, () => 'x'.repeat(10_000)) });
    expect(spoiled.status).toBe(422);
    expect(await spoiled.json()).toMatchObject({ code: 'VALIDATION_ERROR' });
    const nonces = await app.superuser.query('select from nonces');
    expect(nonces.rowCount).toBe(1);
  });
});

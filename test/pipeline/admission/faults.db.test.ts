import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsentResponse } from '../../../schemas/api/consents.js';
import { admitGroup, type Submission } from '../../../src/pipeline/admission/admit-group.js';
import type { PreparedConsent } from '../../../src/pipeline/admission/prepare-consent.js';
import { nonceDigest } from '../../../src/pipeline/admission/submission.js';
import { createSubmitter, DEFAULT_GROUP_LIMITS } from '../../../src/pipeline/admission/submit.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { until } from '../../support/wait.js';
import { newKey, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, apiPool, openAdmissionDatabase } from './database.js';
import { createSiteFixture } from './site-fixture.js';

const SINGLE = '/tool/v1/consents';

describe('admission during a failure', () => {
  let database: AdmissionDatabase;
  beforeAll(async () => {
    database = await openAdmissionDatabase();
  });
  afterAll(() => database?.close());

  const consentEvents = async (siteId: string): Promise<number> =>
    (await database.owner.query('select from event_log.stored_events where stream = $1', [`consents-${siteId}`]))
      .rowCount ?? 0;

  it('admits the other consents of a group if the database refuses one', async () => {
    const site = await createSiteFixture(database.owner);
    const submitter = createSubmitter({
      db: database.db,
      promises: { origin: 'ledger.example', sealWithinMs: 600_000, sign: () => [] },
      limits: DEFAULT_GROUP_LIMITS,
      onError: () => undefined,
      onUnsigned: () => undefined,
    });
    const prepared = (eventId: string): PreparedConsent => ({
      eventId,
      body: Buffer.from('{}'),
      proofHash: Buffer.alloc(32),
      recordDigest: Buffer.alloc(32),
      createdAt: Date.now(),
      sealedBefore: Date.now() + 600_000,
      seed: Buffer.alloc(16),
      indexes: { visitor: null, email: null, phone: null, id_number: null },
      keyRowSeal: Buffer.alloc(16),
      tokenId: null,
      attachments: [],
    });
    const { rows } = await database.owner.query('select config_revision::int as revision from sites where id = $1', [
      site.siteId,
    ]);
    const submission = (eventId: string): Submission => ({
      site: { siteId: site.siteId, tenantId: site.tenantId, configRevision: rows[0].revision },
      nonce: nonceDigest(site.siteId, randomUUID()),
      isPublishable: false,
      consents: [{ refusal: 'none', prepared: prepared(eventId), idempotency: null, bodyDigest: null }],
    });
    const twice = randomUUID();
    await admitGroup(database.db, [submission(twice)]);
    const outcomes = await Promise.allSettled(
      [randomUUID(), twice, randomUUID()].map((eventId) => submitter.submit(submission(eventId))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await consentEvents(site.siteId)).toBe(3);
  });

  /**
   * Sends a consent and runs `fault` while its transaction waits for the site's row. Then the
   * transaction continues.
   */
  async function duringAdmission(db: pg.Pool, fault: (backend: number) => Promise<void>, after: () => Promise<void>) {
    const site = await createSiteFixture(database.owner);
    const api = await startApiProcess(db, database.worker, database.master);
    const body = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: site.versions.cookieEn,
      idempotency_key: newKey(),
    };
    const blocker = await database.owner.connect();
    try {
      expect((await post(api, site.writeKey, SINGLE, { ...body, idempotency_key: newKey() })).status).toBe(202);
      await blocker.query('begin');
      await blocker.query('select from sites where id = $1 for update', [site.siteId]);
      const sent = post(api, site.writeKey, SINGLE, body);
      await fault(await backendThatWaits());
      await blocker.query('commit');
      await after();
      const first = await sent;
      const eventsBefore = await consentEvents(site.siteId);
      const retried = await post(api, site.writeKey, SINGLE, body);
      return { first, eventsBefore, retried, events: await consentEvents(site.siteId), site };
    } finally {
      blocker.release();
      await api.close();
    }
  }

  async function backendThatWaits(): Promise<number> {
    for (;;) {
      const { rows } = await database.owner.query(
        `select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%admit_group%'`,
      );
      if (rows[0] !== undefined) return rows[0].pid;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  it('responds 503 when the response to a commit is lost, and a retry with the same key creates no second record', async () => {
    const url = new URL(database.url);
    const proxy = await FaultyProxy.start({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const pool = apiPool(url.toString());
    try {
      const committed = async (): Promise<void> => {
        // The backend of the lost connection has ended its transaction when no lock on a site's row
        // remains.
        for (;;) {
          const { rowCount } = await database.owner.query(
            "select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%from admit_group%' and pid <> pg_backend_pid()",
          );
          if (rowCount === 0) break;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        proxy.restore();
      };
      const seen = await duringAdmission(pool, async () => proxy.swallowAnswers(), committed);
      expect(seen.first).toMatchObject({ status: 503, body: { code: 'ADMISSION_UNAVAILABLE' } });
      expect(seen.first.headers['retry-after']).toBeDefined();
      expect(seen.eventsBefore).toBe(2);
      expect(ConsentResponse.parse(seen.retried.body).data.duplicate).toBe(true);
      expect(seen.events).toBe(2);
    } finally {
      await pool.end();
      await proxy.close();
    }
  });

  it('responds 503 when the server ends the connection, and a retry records the consent', async () => {
    const pool = apiPool(database.url);
    try {
      const kill = async (backend: number): Promise<void> => {
        await database.owner.query('select pg_terminate_backend($1)', [backend]);
      };
      const seen = await duringAdmission(pool, kill, async () => undefined);
      expect(seen.first).toMatchObject({ status: 503, body: { code: 'ADMISSION_UNAVAILABLE' } });
      expect(seen.eventsBefore).toBe(1);
      expect(ConsentResponse.parse(seen.retried.body).data.duplicate).toBe(false);
      expect(seen.events).toBe(2);
    } finally {
      await pool.end();
    }
  });

  it('responds 503 QUEUE_OVERLOADED when the outbox is full, but repeats the response to a duplicate', async () => {
    const site = await createSiteFixture(database.owner);
    const body = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: site.versions.cookieEn,
      idempotency_key: newKey(),
    };
    const open = await startApiProcess(database.db, database.worker, database.master);
    const full = await startApiProcess(database.secondPool, database.worker, database.master, { outboxLimit: 1 });
    try {
      expect((await post(open, site.writeKey, SINGLE, body)).status).toBe(202);
      // The gauge measures in the background, so the first requests may be accepted.
      const refused = await until(async () => {
        const answer = await post(full, site.writeKey, SINGLE, { ...body, idempotency_key: newKey() });
        return answer.status !== 202 ? answer : null;
      });
      expect(refused).toMatchObject({ status: 503, body: { code: 'QUEUE_OVERLOADED' } });
      expect(refused.headers['retry-after']).toBeDefined();
      expect(ConsentResponse.parse((await post(full, site.writeKey, SINGLE, body)).body).data.duplicate).toBe(true);
    } finally {
      await open.close();
      await full.close();
    }
  });
});

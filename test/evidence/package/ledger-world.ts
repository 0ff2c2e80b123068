import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { CONSENT_RECORDED, type ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { encodeDisclosure, SALT_BYTES } from '../../../schemas/evidence/disclosure.js';
import { noteKeyId, SIGNATURE_TYPES, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { announceErasures } from '../../../src/erasure/announce-erasures.js';
import { ensureManifestCertificate } from '../../../src/evidence/package/index.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { openLedgerSigner } from '../../../src/pipeline/ledger/ledger-signer.js';
import { appendRuns, sequenceRuns } from '../../../src/pipeline/relay/placement.js';
import { relayFirstEvents } from '../../../src/pipeline/relay/relay-page.js';
import { BEFORE_ALL_SITES, sitesWaiting } from '../../../src/pipeline/relay/waiting.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { readNewestStamp } from '../../../src/pipeline/stamper/newest-stamp.js';
import { stampCheckpoint } from '../../../src/pipeline/stamper/stamp-checkpoint.js';
import { putEvents } from '../../../src/platform/database/shared-statements.js';
import { newEventId } from '../../../src/platform/event-ids.js';
import {
  blindIndex,
  createKeyring,
  createRandomPool,
  encryptForRecord,
  type Keyring,
  recordKey,
  SEED_BYTES,
  sealOfKeyRow,
} from '../../../src/platform/keys/index.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { createSiteFixture, type SiteFixture } from '../../pipeline/admission/site-fixture.js';
import { count, type Pipeline, silent, startPipeline, whileRunning } from '../../pipeline/relay/pipeline.js';
import { digestsByName } from '../../support/disclosure-digests.js';
import { keptDisclosures } from '../../support/kept-disclosures.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { until } from '../../support/wait.js';

export const ORIGIN = 'ledger.example/test';

/** A consent to record, by its personal values. */
export interface NewConsent {
  readonly visitorId: string;
  readonly fields?: Readonly<Record<string, JsonValue>>;
  readonly signature?: Uint8Array;
  readonly consentType?: string;
  readonly version?: 'cookieEn' | 'cookieTr';
  readonly at?: Date;
}

/**
 * A complete installation without HTTP: real database, log, keys, relay, sealer, stamper and
 * development TSA.
 */
export interface LedgerWorld {
  readonly pipeline: Pipeline;
  readonly keyring: Keyring;
  readonly master: Buffer;
  readonly site: SiteFixture;
  readonly otherSite: SiteFixture;
  /** A folder that is removed at the end. */
  readonly folder: string;
  readonly ledgerKey: VerifierKey;
  readonly tsaRootPath: string;
  readonly tsaRoot: Uint8Array;
  /** Records consents as admission does, without relaying them. @returns their event ids */
  record(site: SiteFixture, consents: readonly NewConsent[]): Promise<string[]>;
  relay(): Promise<void>;
  /** Relays and seals everything. */
  seal(maxLeaves?: number): Promise<void>;
  /** Relays, seals and stamps everything. */
  stamp(maxLeaves?: number): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Whether the event log is outside the database. */
  readonly isLogElsewhere?: boolean;
}

export async function openLedgerWorld({ isLogElsewhere = false }: WorldOptions = {}): Promise<LedgerWorld> {
  const started = await startPipeline();
  const pipeline = isLogElsewhere ? { ...started, eventLog: await started.newLog() } : started;
  const folder = await mkdtemp(join(tmpdir(), 'evidence-test-'));
  const master = randomBytes(32);
  const keyring = await createKeyring(pipeline.worker, createSecretKey(master));
  pipeline.sealWith(keyring);
  const signer = await openLedgerSigner({ keyring, origin: ORIGIN, guard: UNGUARDED });
  const tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
  const tsaRoot = certificateOf(await readFile(tsa.rootCertificatePemPath, 'utf8'));
  const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsaRoot] });
  await ensureManifestCertificate({ db: pipeline.worker, keyring, signer });
  const site = await createSiteFixture(pipeline.owner);
  const otherSite = await createSiteFixture(pipeline.owner);
  const { worker: pool, eventLog } = pipeline;

  const relay = async (): Promise<void> => {
    const limits = { maxEvents: 1_000, maxSiteBytes: 10_000_000, maxBytes: 10_000_000 };
    const placement = eventLog.kind === 'postgres' ? sequenceRuns(pool) : appendRuns(pool, eventLog);
    const page = { db: pool, placement, keyring, limits };
    const signal = new AbortController().signal;
    await announceErasures({ db: pool });
    for (;;) {
      const { siteIds } = await sitesWaiting(pool, BEFORE_ALL_SITES, 2);
      const { relayed, failures } = await relayFirstEvents(page, siteIds, signal);
      for (const failure of failures.values()) throw failure;
      if (relayed === 0) return;
    }
  };
  const seal = async (maxLeaves = 16): Promise<void> => {
    await relay();
    const limits = { maxLeaves, maxAgeMs: 20 };
    const sealer = createSealer({ db: pool, eventLog, keyring, logger: silent, signer, limits, pollMs: 10 });
    await whileRunning([sealer], () => until(async () => (await count(pipeline.owner, SEALED_ALL)) === 1));
  };
  return {
    pipeline,
    keyring,
    master,
    site,
    otherSite,
    folder,
    tsaRoot,
    relay,
    seal,
    tsaRootPath: tsa.rootCertificatePemPath,
    ledgerKey: {
      name: ORIGIN,
      keyId: noteKeyId(ORIGIN, signer.publicKey),
      publicKey: signer.publicKey,
      type: SIGNATURE_TYPES.ed25519,
    },
    record: (target, consents) => recordConsents(pipeline, keyring, target, consents),
    async stamp(maxLeaves) {
      await seal(maxLeaves);
      const state = await catchUpLedger(pool, eventLog);
      const newest = await readNewestStamp(pool, [tsaRoot], new Date());
      await stampCheckpoint(
        { db: pool, eventLog, signer, client, quorum: 1 },
        state,
        newest,
        new AbortController().signal,
      );
    },
    async close() {
      await tsa.stop();
      await pipeline.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const SEALED_ALL = `(select 1 where (select count(*) from event_log.unsealed_events) = 0 and not exists (
  select from ledger_policies p where not exists (select from leaves l where l.event_id = p.event_id))) as done`;

function certificateOf(pem: string): Uint8Array {
  const [, body] = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/.exec(pem) ?? [];
  return new Uint8Array(Buffer.from(body ?? '', 'base64'));
}

const versionRow = z.tuple([z.object({ language: z.string(), content_sha256: z.string(), config: z.string() })]);

async function recordConsents(
  { owner }: Pipeline,
  keyring: Keyring,
  site: SiteFixture,
  consents: readonly NewConsent[],
): Promise<string[]> {
  const random = createRandomPool();
  const siteKey = await keyring.siteKey(site.siteId);
  const proofKey = await keyring.proofKey(site.tenantId);
  const eventIds: string[] = [];
  for (const consent of consents) {
    const versionId = site.versions[consent.version ?? 'cookieEn'];
    const { rows } = await owner.query(
      `select v.language, v.content_sha256, s.site_config_hash as config
         from document_versions v join sites s on s.id = v.site_id where v.id = $1`,
      [versionId],
    );
    const [version] = versionRow.parse(rows);
    const createdAt = consent.at ?? new Date();
    const eventId = newEventId(createdAt.getTime(), random);
    const seed = random.take(SEED_BYTES);
    const key = recordKey(siteKey, seed, eventId);
    const fields = new Map<string, JsonValue>([
      ['visitor_id', consent.visitorId],
      ...Object.entries(consent.fields ?? {}),
    ]);
    const attachmentId = randomUUID();
    if (consent.signature !== undefined) {
      const reference = {
        sha256: toHex(sha256(consent.signature)),
        media_type: 'image/png',
        size: consent.signature.length,
      };
      fields.set('signature_image', reference);
    }
    const encoded = [...fields].map(([name, value]) => encodeDisclosure(random.take(SALT_BYTES), name, value));
    const record: ConsentRecord = {
      v: 1,
      hash_version: 2,
      proof_key_id: proofKey.id,
      event_id: eventId,
      site_id: site.siteId,
      consent_type: consent.consentType ?? 'cookie',
      decision: 'accepted',
      categories: { necessary: true, analytics: true },
      language: version.language,
      document_version_id: versionId,
      document_hash: version.content_sha256,
      site_config_hash: version.config,
      compliance_framework: 'gdpr',
      created_at: createdAt.toISOString(),
      // The configuration allows at least a day.
      valid_until: new Date(createdAt.getTime() + 86_400_000).toISOString(),
      channel: 's2s',
      api_key_id: randomUUID(),
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      disclosures: digestsByName(encoded),
    };
    const text = canonicalJson(record);
    const body = {
      record: text,
      proof_hash: createHmac('sha256', proofKey.key).update(text).digest('hex'),
      disclosures: encryptForRecord(key, eventId, 'disclosures', keptDisclosures(encoded), random).toString('base64'),
      attachments: consent.signature === undefined ? [] : [attachmentId],
    };
    const visitor = blindIndex(siteKey, 'visitor', consent.visitorId);
    await owner.query(
      'insert into record_keys (event_id, site_id, seed, visitor_index, seal) values ($1, $2, $3, $4, $5)',
      [eventId, site.siteId, seed, visitor, sealOfKeyRow(key, { visitor, email: null, phone: null, id_number: null })],
    );
    if (consent.signature !== undefined) {
      await owner.query('insert into attachments (id, event_id, site_id, ciphertext) values ($1, $2, $3, $4)', [
        attachmentId,
        eventId,
        site.siteId,
        encryptForRecord(key, eventId, `attachment:${attachmentId}`, consent.signature, random),
      ]);
    }
    await putEvents(owner, site.siteId, consentsStream(site.siteId), [
      { id: eventId, type: CONSENT_RECORDED, data: Buffer.from(JSON.stringify(body)) },
    ]);
    eventIds.push(eventId);
  }
  return eventIds;
}

import { createHmac, randomUUID } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { CONSENT_RECORDED, DECISIONS, type WrittenConsentRecord } from '../../schemas/events/consent-recorded.js';
import { SiteConfigPublishedRecord } from '../../schemas/events/site-config.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { encodeDisclosure, SALT_BYTES } from '../../schemas/evidence/disclosure.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { endOf, isRefusal, refusalDays } from '../../schemas/law/periods.js';
import { newEventId } from '../../src/platform/event-ids.js';
import {
  blindIndex,
  createRandomPool,
  encryptForRecord,
  type Keyring,
  recordKey,
  SEED_BYTES,
  sealOfKeyRow,
} from '../../src/platform/keys/index.js';
import { digestsByName } from './disclosure-digests.js';
import { keptDisclosures } from './kept-disclosures.js';

/** Consents that one statement inserts. */
const PAGE = 1_000;
const versionRow = z.tuple([
  z.object({
    language: z.string(),
    content_sha256: z.string(),
    config: z.string(),
    record: z.string().transform((text) => SiteConfigPublishedRecord.parse(JSON.parse(text))),
  }),
]);

/** Sites of one tenant, and the document version that their visitors consent to. */
export interface RecordedSites {
  readonly tenantId: string;
  readonly siteIds: readonly string[];
  readonly documentVersionId: string;
}

/** Members of the consents, by their numbers from 0. */
export interface RecordedMembers {
  readonly visitorOf?: (number: number) => string;
  readonly timeOf?: (number: number) => Date;
}

/**
 * Stores consents in few statements, with real keys, proof hashes and encrypted
 * values; the sites take turns. The result equals that of admission, except for stored requests.
 * Each consent discloses four values.
 */
export async function recordManyConsents(
  owner: pg.Pool | pg.PoolClient,
  keyring: Pick<Keyring, 'siteKey' | 'proofKey'>,
  sites: RecordedSites,
  consents: number,
  { visitorOf = (number) => `visitor-${number}`, timeOf = () => new Date() }: RecordedMembers = {},
): Promise<void> {
  const random = createRandomPool();
  const proofKey = await keyring.proofKey(sites.tenantId);
  const { rows } = await owner.query(
    `select v.language, v.content_sha256, s.site_config_hash as config, c.record
       from document_versions v join sites s on s.id = v.site_id join site_configs c on c.sha256 = s.site_config_hash
      where v.id = $1`,
    [sites.documentVersionId],
  );
  const [version] = versionRow.parse(rows);
  const apiKeyId = randomUUID();
  const make = async (number: number) => {
    const siteId = sites.siteIds[number % sites.siteIds.length] ?? '';
    const siteKey = await keyring.siteKey(siteId);
    const createdAt = timeOf(number);
    const eventId = newEventId(createdAt.getTime(), random);
    const seed = random.take(SEED_BYTES);
    const visitorId = visitorOf(number);
    const values = {
      visitor_id: visitorId,
      ip_address: `203.0.113.${number % 256}`,
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      source: 'banner',
    };
    const encoded = Object.entries(values).map(([name, value]) =>
      encodeDisclosure(random.take(SALT_BYTES), name, value),
    );
    const act = { consent_type: 'cookie', decision: DECISIONS[number % DECISIONS.length] ?? 'accepted' } as const;
    // The only configuration of the site.
    const days = version.record.validity_days;
    const record: WrittenConsentRecord = {
      v: 2,
      hash_version: 2,
      proof_key_id: proofKey.id,
      event_id: eventId,
      site_id: siteId,
      ...act,
      categories: { necessary: true, analytics: number % 2 === 0, marketing: number % 3 === 0 },
      services: null,
      language: version.language,
      document_version_id: sites.documentVersionId,
      document_hash: version.content_sha256,
      site_config_hash: version.config,
      compliance_framework: 'gdpr',
      created_at: createdAt.toISOString(),
      valid_until: endOf(createdAt.getTime(), days),
      scope: 'device',
      ask_again_at: isRefusal(act) ? endOf(createdAt.getTime(), refusalDays(version.record)) : null,
      rule_id: null,
      channel: 'browser',
      api_key_id: apiKeyId,
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      disclosures: digestsByName(encoded),
    };
    const text = canonicalJson(record);
    const plain = keptDisclosures(encoded);
    const key = recordKey(siteKey, seed, eventId);
    const sealed = encryptForRecord(key, eventId, 'disclosures', plain, random);
    const proofHash = createHmac('sha256', proofKey.key).update(text).digest('hex');
    const body = { record: text, proof_hash: proofHash, disclosures: sealed.toString('base64'), attachments: [] };
    const visitorIndex = blindIndex(siteKey, 'visitor', visitorId);
    const seal = sealOfKeyRow(key, { visitor: visitorIndex, email: null, phone: null, id_number: null });
    return { siteId, eventId, seed, visitorIndex, seal, body: Buffer.from(JSON.stringify(body)) };
  };
  for (let first = 0; first < consents; first += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, consents - first) }, (_, i) => first + i);
    const page = await Promise.all(numbers.map(make));
    const siteIds = page.map(({ siteId }) => siteId);
    const ids = page.map(({ eventId }) => eventId);
    await owner.query(
      `insert into record_keys (event_id, site_id, seed, visitor_index, seal)
       select k.id, k.site, k.seed, k.visitor, k.seal
         from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[]) as k (site, id, seed, visitor, seal)`,
      [
        siteIds,
        ids,
        page.map(({ seed }) => seed),
        page.map(({ visitorIndex }) => visitorIndex),
        page.map(({ seal }) => seal),
      ],
    );
    await owner.query('select event_log.put($1::uuid[], $2, $3::uuid[], $4, $5::bytea[], $6::timestamptz[])', [
      siteIds,
      siteIds.map(consentsStream),
      ids,
      ids.map(() => CONSENT_RECORDED),
      page.map(({ body }) => body),
      ids.map(() => null),
    ]);
  }
}

import * as z from 'zod';
import { checkpointLinks } from '../../../schemas/api/checkpoints.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { SiteParams } from '../../../schemas/api/panel/common.js';
import {
  ConsentParams,
  ConsentResponse,
  ConsentsPage,
  DiscloseConsentRequest,
  DiscloseConsentResponse,
  ListConsentsQuery,
  SearchConsentsRequest,
  VerifyConsentResponse,
} from '../../../schemas/api/panel/consents.js';
import { lateMembersOf, servicesOf } from '../../../schemas/events/consent-imported.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { IDENTIFIER_KINDS } from '../../erasure/index.js';
import { type ConsentRow, discloseConsent as disclose, findConsent } from '../../evidence/records/consent-row.js';
import { type ConsentSearch, searchConsents as search } from '../../evidence/records/search-consents.js';
import { type LoggedRecord, placeOf, readLoggedRecords } from '../../evidence/verification/logged-record.js';
import { columnsAgree, parseIdentifier } from '../../evidence/verification/stored-record.js';
import type { Queryable } from '../../platform/database/pool.js';
import { blindIndex, findProofKey, isProofHashOf, type ProofKeys } from '../../platform/keys/index.js';
import { stampedBy } from '../../timestamping/authorities.js';
import type { PanelCall } from '../server/route.js';
import { verifiedRecord } from '../tool/verify.js';
import { PROTECTORS, READERS } from './caller.js';
import { type PanelDeps, route } from './deps.js';
import { refuseNaming, withoutValues } from './disclosure-reason.js';
import { encodeCursor, keyOfCursor } from './page.js';

const shared = { auth: 'panel', tag: 'Consents', params: SiteParams } as const;
const one = { ...shared, params: ConsentParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const PAGES =
  'A page can be short or empty although more records follow, because one request examines a limited number of records. Continue until `next_cursor` is null.';

/** The read model finds the consents. What is shown comes from their records in the event log. */
export const CONSENT_OPERATIONS = [
  route({
    ...shared,
    id: 'listConsents',
    path: '/api/v1/sites/{site_id}/consents',
    summary: 'List the consent records of a site, newest first, with their public parts',
    description: PAGES,
    roles: READERS,
    query: ListConsentsQuery,
    response: ConsentsPage,
    handle: (call, deps) => page(deps, call, { siteId: call.params.site_id, filter: call.query, person: null }),
  }),
  route({
    ...shared,
    id: 'searchConsents',
    method: 'post',
    path: '/api/v1/sites/{site_id}/consents/search',
    summary: 'Search the consent records of one person, newest first, with their public parts',
    description: `The person is identified in the body, because URLs are logged. Erased records are not found. The audit log has an entry for the search, with the reason and without the person. ${PAGES}`,
    roles: PROTECTORS,
    body: SearchConsentsRequest,
    example: {
      body: {
        person: { by: 'visitor_id', value: 'visitor-1' },
        reason: 'access request of 3 March',
        consent_type: 'cookie',
        limit: 10,
      },
    },
    response: ConsentsPage,
    action: 'consent.search',
    disclose: async (call, deps) => {
      const { site_id: siteId } = call.params;
      const { person, reason, ...filter } = call.body;
      refuseNaming(reason, person.value);
      const kind = IDENTIFIER_KINDS[person.by];
      const index = blindIndex(await deps.keyring.siteKey(siteId), kind, person.value);
      const response = await page(deps, call, { siteId, filter, person: { kind, index } });
      return {
        response,
        subject: { kind: 'site', id: siteId },
        details: { by: person.by, shown: response.data.length, reason },
      };
    },
  }),
  route({
    ...one,
    id: 'readConsent',
    path: '/api/v1/sites/{site_id}/consents/{consent_id}',
    summary: 'Get a record by its id or consent token, and how it is sealed and stamped',
    roles: READERS,
    response: ConsentResponse,
    handle: async ({ params }, { apiPool, eventLog, keyring }) => {
      const row = await existing(apiPool, params);
      const [logged = null] = await readLoggedRecords(eventLog, [row]);
      const summary = await summaryOf(row, logged, keyring, new Date());
      return { data: { ...summary, ...placeOf(row), sealing: sealingOf(row) } };
    },
  }),
  route({
    ...one,
    id: 'verifyConsentInPanel',
    path: '/api/v1/sites/{site_id}/consents/{consent_id}/verify',
    summary: 'Check the integrity of one record',
    description:
      'Checks the proof hash, the position in batch and ledger, the erasure, and every copy of the members. consent-verify also checks the signature of the time stamp token.',
    roles: READERS,
    response: VerifyConsentResponse,
    handle: async ({ user, params }, { apiPool, verifier }) => {
      const row = await existing(apiPool, params);
      const found = await verifier.verify({ eventId: row.event_id }, user.tenantId);
      if (found === null) throw new ApiError('RESOURCE_NOT_FOUND');
      const { timestamp } = found;
      return {
        data: {
          id: row.event_id,
          valid: found.valid,
          ...verifiedRecord(found),
          site_domain: found.siteDomain,
          timestamp: timestamp && { time: timestamp.time.toISOString(), checkpoint_size: timestamp.checkpointSize },
          sealing: sealingOf(row),
        },
      };
    },
  }),
  route({
    ...one,
    id: 'discloseConsent',
    method: 'post',
    path: '/api/v1/sites/{site_id}/consents/{consent_id}/disclose',
    summary: 'Disclose personal values of one record',
    description:
      'The audit log records the user, the record, the names of the fields and the reason, before the values are sent. Values that the reason repeats are replaced in it.',
    roles: PROTECTORS,
    body: DiscloseConsentRequest,
    example: { body: { fields: ['visitor_id', 'signer_email'], reason: 'access request of 3 March' } },
    response: DiscloseConsentResponse,
    action: 'consent.disclose',
    disclose: async ({ params, body: { fields, reason } }, { apiPool, eventLog, keyring }) => {
      const row = await existing(apiPool, params);
      const data = await disclose({ db: apiPool, eventLog, keyring }, row, fields);
      return {
        response: { data },
        subject: { kind: 'consent', id: row.event_id },
        // A refusal would tell, without an entry in the log, that a guess was right.
        details: { site_id: row.site_id, fields, reason: withoutValues(reason, Object.values(data.fields)) },
      };
    },
  }),
];

/** Cursor of a search: the record after which the search continues. Times are in milliseconds. */
const SearchCursor = z.tuple([z.literal('consents'), z.int().min(0).max(8.64e15), z.uuid()]);

async function page(
  { apiPool, eventLog, keyring, searches }: PanelDeps,
  { user: { tenantId }, gone }: Pick<PanelCall<unknown, unknown, unknown>, 'user' | 'gone'>,
  wanted: Omit<ConsentSearch, 'after'>,
) {
  const key = keyOfCursor(SearchCursor, wanted.filter);
  const after = key === null ? null : { createdAt: key[1], eventId: key[2] };
  const read = async () => {
    const { rows, next } = await search(apiPool, keyring, { ...wanted, after }, { gone });
    const logged = await readLoggedRecords(eventLog, rows);
    const now = new Date();
    return {
      data: await Promise.all(rows.map((row, place) => summaryOf(row, logged[place] ?? null, keyring, now))),
      next_cursor: next === null ? null : encodeCursor(['consents', next.createdAt, next.eventId]),
    };
  };
  return searches.take(tenantId, read, gone);
}

/** @throws ApiError RESOURCE_NOT_FOUND */
async function existing(db: Queryable, params: { site_id: string; consent_id: string }): Promise<ConsentRow> {
  const identifier = parseIdentifier(params.consent_id);
  const row =
    identifier !== null && 'eventId' in identifier ? await findConsent(db, params.site_id, identifier.eventId) : null;
  if (row === null) throw new ApiError('RESOURCE_NOT_FOUND');
  return row;
}

type Summary = z.infer<typeof ConsentsPage>['data'][number];
type Shown = z.infer<typeof ConsentResponse>['data'];

/**
 * Returns a record as lists show it, after checking its integrity against its proof hash.
 * @param logged the record in the log, from which the values shown are taken, or null if the row or the event was
 * altered
 */
async function summaryOf(
  row: ConsentRow,
  logged: LoggedRecord | null,
  proofKeys: ProofKeys,
  now: Date,
): Promise<Summary> {
  return {
    id: row.event_id,
    consent_token: consentToken(row.event_id),
    proof_hash: row.proof_hash,
    record:
      logged?.record == null
        ? null
        : { ...logged.record, services: servicesOf(logged.record), ...lateMembersOf(logged.record) },
    document_slug: row.slug,
    is_intact: logged !== null && (await isIntact(row, logged, proofKeys)),
    is_anonymized: row.erased_by !== null || !row.has_key,
    is_expired: row.valid_until !== null && row.valid_until <= now,
    state: row.checkpoint_size !== null ? 'stamped' : row.batch !== null ? 'sealed' : 'recorded',
    is_development: row.is_development,
  };
}

async function isIntact(row: ConsentRow, { text, record }: LoggedRecord, proofKeys: ProofKeys): Promise<boolean> {
  const found = record === null ? null : await findProofKey(proofKeys, record.proof_key_id);
  if (record === null || found === null) return false;
  return isProofHashOf(text, row.proof_hash, found.key) && columnsAgree(row, record);
}

/** Returns whether a record is sealed and stamped, according to the tables. */
function sealingOf(row: ConsentRow): Shown['sealing'] {
  const { checkpoint_size: size, gen_time: genTime, authorities, tokens, is_development } = row;
  return {
    batch: row.batch,
    index: row.index,
    sealed_at: row.sealed_at?.toISOString() ?? null,
    checkpoint:
      size === null || genTime === null || authorities === null || tokens === null
        ? null
        : {
            size,
            gen_time: genTime.toISOString(),
            authorities: stampedBy({ authorities, is_development }),
            ...checkpointLinks(size, tokens),
          },
  };
}

import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { IDENTIFIER_KINDS } from '../../../erasure/index.js';
import { type ConsentRow, discloseConsent as disclose, findConsent } from '../../../evidence/records/consent-row.js';
import { type ConsentSearch, searchConsents as search } from '../../../evidence/records/search-consents.js';
import { placeOf, readLoggedRecords } from '../../../evidence/verification/logged-record.js';
import { parseIdentifier } from '../../../evidence/verification/stored-record.js';
import { blindIndex } from '../../../platform/keys/index.js';
import { FairTurns } from '../../guards/fair-turns.js';
import { verifiedRecord } from '../../tool/get-verify.js';
import type { PanelRoutesOptions } from '../deps.js';
import { encodeCursor, keyOfCursor } from '../page.js';
import { discloses, type PanelCall, type PanelRoute, reads } from '../route.js';
import { discloseConsent, listConsents, readConsent, searchConsents, verifyConsent } from './operations.js';
import { sealingOf, summaryOf } from './show-consents.js';

/** Cursor of a search: the record after which it continues. Times in milliseconds. */
const SearchCursor = z.tuple([z.literal('consents'), z.int().min(0).max(8.64e15), z.uuid()]);

/** Searches that wait: of all, and of one tenant. */
const MAX_WAITING_SEARCHES = 100;
const MAX_OF_TENANT = 20;
/** Time after a search in which its tenant makes no other, as a multiple of its length. */
const PAUSE = 2;

/** The read model finds the consents; their records in the event log are what is shown. */
export function consentRoutes(options: PanelRoutesOptions): readonly PanelRoute[] {
  const { apiPool, eventLog, keyring, verifier } = options;
  // Half of the pool stays free for every other request.
  const turns = new FairTurns({
    slots: Math.max(1, Math.floor(options.config.database.poolSize / 2)),
    now: () => performance.now(),
    pause: PAUSE,
    maxWaiting: MAX_WAITING_SEARCHES,
    maxOfOwner: MAX_OF_TENANT,
  });
  const page = async (
    { user: { tenantId }, gone }: Pick<PanelCall<unknown, unknown, unknown>, 'user' | 'gone'>,
    wanted: Omit<ConsentSearch, 'after'>,
  ) => {
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
    return turns.take(tenantId, read, gone);
  };
  const existing = async (params: { site_id: string; consent_id: string }): Promise<ConsentRow> => {
    const identifier = parseIdentifier(params.consent_id);
    const row =
      identifier !== null && 'eventId' in identifier
        ? await findConsent(apiPool, params.site_id, identifier.eventId)
        : null;
    if (row === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return row;
  };
  return [
    reads(listConsents, (call) => page(call, { siteId: call.params.site_id, filter: call.query, person: null })),
    discloses(searchConsents, async (call) => {
      const { site_id: siteId } = call.params;
      const { person, ...filter } = call.body;
      const kind = IDENTIFIER_KINDS[person.by];
      const index = blindIndex(await keyring.siteKey(siteId), kind, person.value);
      const response = await page(call, { siteId, filter, person: { kind, index } });
      return {
        response,
        subject: { kind: 'site', id: siteId },
        details: { by: person.by, shown: response.data.length },
      };
    }),
    reads(readConsent, async ({ params }) => {
      const row = await existing(params);
      const [logged = null] = await readLoggedRecords(eventLog, [row]);
      const summary = await summaryOf(row, logged, keyring, new Date());
      return { data: { ...summary, ...placeOf(row), sealing: sealingOf(row) } };
    }),
    reads(verifyConsent, async ({ user, params }) => {
      const row = await existing(params);
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
    }),
    discloses(discloseConsent, async ({ params, body: { fields } }) => {
      const row = await existing(params);
      return {
        response: {
          data: await disclose({ db: apiPool, eventLog, keyring }, row, fields),
        },
        subject: { kind: 'consent', id: row.event_id },
        details: { site_id: row.site_id, fields },
      };
    }),
  ];
}

import { v5 as uuidV5 } from 'uuid';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { MAX_TEST_EVENTS, TestEvent, TestEventsQuery, TestEventsResponse } from '../../../schemas/api/test-events.js';
import { CONSENT_RECORDED, testConsentToken } from '../../../schemas/events/consent-recorded.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import { cursorBehind, revisionOfCursor } from '../../evidence/records/selection.js';
import {
  type ErasedTestRecord,
  erasedTestRecords,
  lastTestNumber,
  type TestRecord,
  type TestRecordOptions,
  testRecords,
} from '../../evidence/records/test-records.js';
import { bodyOf, messageOf } from '../../pipeline/webhooks/webhook-message.js';
import { SHOWN } from '../server/example-values.js';
import { routesWith } from '../server/route.js';

const route = routesWith<TestRecordOptions>();

/** Serves the messages that webhooks would get about test records, which are not sent to webhooks. */
export const TEST_EVENT_OPERATIONS = [
  route({
    auth: 'tool',
    roles: null,
    id: 'listTestEvents',
    path: '/tool/v1/test-events',
    tag: 'Webhooks',
    summary: 'List the messages that webhooks would get of test records, for a secret test key',
    description:
      'A live key, and one that browsers may use, gets 403. `consent-ledger listen` sends these messages to the machine of a developer. They are of consents that test keys recorded, and of erasures by test keys, in their order. The first request has no `cursor` and gets no events; pass its `next_cursor` as `cursor` in the next one, and so on.',
    query: TestEventsQuery,
    response: TestEventsResponse,
    errors: ['LIVE_KEY_REFUSED', 'INSUFFICIENT_SCOPE'],
    example: {
      query: { cursor: 'djE6MA' },
      response: {
        data: [
          {
            id: `msg_${SHOWN.consentId}`,
            type: 'consent.withdrawn',
            body: `{"type":"consent.withdrawn","timestamp":"${SHOWN.createdAt}","data":{"event_id":"${SHOWN.consentId}"}}`,
          },
        ],
        next_cursor: 'djE6NDI',
        test: true,
      },
    },
    handle: async () => {
      throw new ApiError('LIVE_KEY_REFUSED');
    },
    handleTest: async ({ caller: { apiKey, site }, query }, options) => {
      // A visitor can copy a publishable key, and must not read what the developers record.
      if (apiKey.restriction !== 'secret')
        throw new ApiError('INSUFFICIENT_SCOPE', 'Test events require an API key with the restriction `secret`.');
      return testEvents(options, site.siteId, query);
    },
  }),
];

async function testEvents(
  options: TestRecordOptions,
  siteId: string,
  { limit = MAX_TEST_EVENTS, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): Promise<TestEventsResponse> {
  const last = await lastTestNumber(options.db, siteId);
  if (cursor === undefined) return { data: [], next_cursor: cursorBehind(last) };
  const after = revisionOfCursor(cursor);
  // Both statements read up to the same number. Otherwise a record stored between them could be skipped.
  const consents = await consentsOf(options, siteId, { after, last, limit });
  const erasures = (await erasedTestRecords(options.db, siteId, after, limit)).filter(({ number }) => number <= last);
  const page = [
    ...consents.map((found) => ({ number: found.number, event: found.isProved ? eventOfConsent(found) : null })),
    ...erasures.map((erased) => ({ number: erased.number, event: eventOfErasure(siteId, erased) })),
  ]
    .sort((one, other) => one.number - other.number)
    .slice(0, limit);
  const reached = page.length < limit ? Math.max(after, last) : (page.at(-1)?.number ?? last);
  return { data: page.flatMap(({ event }) => event ?? []), next_cursor: cursorBehind(reached) };
}

async function consentsOf(
  options: TestRecordOptions,
  siteId: string,
  { after, last, limit }: { readonly after: number; readonly last: number; readonly limit: number },
): Promise<readonly TestRecord[]> {
  const found: TestRecord[] = [];
  if (after >= last) return found;
  for await (const page of testRecords(options, siteId, { order: 'asc', after, visitor: null })) {
    found.push(...page.filter(({ number }) => number <= last));
    if (found.length >= limit || (page.at(-1)?.number ?? 0) >= last) break;
  }
  return found.slice(0, limit);
}

function eventOfConsent({ record: { event_id: id }, number, body }: TestRecord): TestEvent {
  return eventOf({ id, type: CONSENT_RECORDED, revision: number, content: body }, id);
}

function eventOfErasure(siteId: string, { eventId, number, at, reason }: ErasedTestRecord): TestEvent {
  const record: SubjectErasedRecord = {
    v: 1,
    // There is no event whose id could be used. The id is always the same, so that a receiver recognises a repeated
    // message.
    event_id: uuidV5(SUBJECT_ERASED, eventId),
    site_id: siteId,
    created_at: at.toISOString(),
    reason,
    erased_event_id: eventId,
  };
  const content = { record: JSON.stringify(record) };
  return eventOf({ id: record.event_id, type: SUBJECT_ERASED, revision: number, content }, eventId);
}

interface EventParts {
  readonly id: string;
  readonly type: string;
  readonly revision: number;
  readonly content: object;
}

/**
 * The message of a webhook about an event, with the token of a test record.
 * @param recordId identifier of this record
 */
function eventOf({ content, ...event }: EventParts, recordId: string): TestEvent {
  const message = messageOf({ ...event, data: Buffer.from(JSON.stringify(content)) });
  if (message === null) throw new Error(`${event.type} has no message`);
  const data = { ...message.data, consent_token: testConsentToken(recordId) };
  return TestEvent.parse({ id: message.id, type: message.type, body: bodyOf({ ...message, data }) });
}

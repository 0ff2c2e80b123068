import type { FastifyRequest } from 'fastify';
import { statedOrigin } from '../../../schemas/api/stated-origin.js';
import { MAX_STATUS_ITEMS, StatusItem, StatusQuery, StatusResponse } from '../../../schemas/api/status.js';
import { lateMembersOf, originOf, servicesOf } from '../../../schemas/events/consent-imported.js';
import { consentToken, testConsentToken } from '../../../schemas/events/consent-recorded.js';
import {
  nextPersonRecords,
  type PersonRecordsOptions,
  type ProvedRecord,
} from '../../evidence/records/person-records.js';
import { testRecords } from '../../evidence/records/test-records.js';
import { type FoundToken, findApprovalTokens, findTestTokens } from '../../pipeline/admission/approval-tokens.js';
import { serviceUnavailable } from '../../platform/errors.js';
import { timeOfEventId } from '../../platform/event-ids.js';
import { blindIndex, type IndexedPerson, type RowSeals } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { FairScheduler } from '../guards/fair-scheduler.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { routesWith } from '../server/route.js';
import {
  type AccountDeps,
  PERSON_TOKEN_HEADER,
  type Question,
  questionsOf,
  type Sight,
  sightOfAccount,
  sightOfSite,
} from './account-choices.js';
import { inForce, isInForce, kindOf } from './in-force.js';
import { testTurnsOf } from './serve-tool.js';

export interface StatusDeps extends PersonRecordsOptions, AccountDeps {
  readonly keyring: PersonRecordsOptions['keyring'] & RowSeals;
  /** Schedules the pages of long lists by tenant. */
  readonly turns: FairScheduler;
  /** Schedules requests by visitor, one at a time for each. */
  readonly visitors: FairScheduler;
}

const route = routesWith<StatusDeps>();

/** Maximum number of records that are read and verified at once. A visitor with fewer records needs no turn. */
const PAGE = 50;
/** Requests that may wait behind another one of the same visitor, per visitor and in all. */
const MAX_OF_VISITOR = 20;
const MAX_WAITING = 1_000;
/**
 * A record gets its time, which its id begins with, before its position in the log. Admission takes less time than
 * this, and the clocks of its processes differ by less.
 */
const MAX_DISORDER_MS = 60_000;

/**
 * Creates the scheduler that handles the requests for one visitor one after the other.
 * @param now milliseconds of a monotonic clock
 */
export function visitorTurns(now: () => number): FairScheduler {
  return new FairScheduler({
    slots: Number.POSITIVE_INFINITY,
    now,
    maxOfOwner: MAX_OF_VISITOR,
    maxWaiting: MAX_WAITING,
  });
}

/**
 * Serves the consents of one visitor that are in force, newest first. Imported ones follow all others, ordered by the
 * time that the former tool states (docs/import.md). Values come from the event log, and each record of the visitor is
 * read once. Tenants take turns to read the pages of long lists, and requests for one visitor are handled one after the
 * other. The response has all of the newest consents, or it is an error. A person token shows the choices of an account,
 * also those of the sites that share them.
 */
export const STATUS_OPERATIONS = [
  route({
    auth: 'tool',
    roles: null,
    id: 'getConsentStatus',
    path: '/tool/v1/consents/status',
    tag: 'Consents',
    summary: 'List the consents of one visitor that are in force',
    description:
      'Returns up to 20 consents that have not expired, newest first. The response has no personal field, because browsers contain the API key. With a person token it has only the choices of the account, also those of other sites with the same person space, and says what the person was asked for. Reading does not use the token up.',
    requestHeaders: {
      [PERSON_TOKEN_HEADER]: 'Token of /tool/v1/s2s/person-tokens for `visitor_id`. Never send it in an address.',
    },
    query: StatusQuery,
    response: StatusResponse,
    errors: ['PERSON_TOKEN_INVALID', 'PERSON_TOKEN_CONFLICT'],
    example: {
      query: { visitor_id: EXAMPLE_VALUES.visitorId, consent_type: 'cookie' },
      response: {
        data: {
          consents: [
            {
              id: SHOWN.consentId,
              consent_token: EXAMPLE_VALUES.consentToken,
              proof_hash: SHOWN.proofHash,
              consent_type: 'cookie',
              decision: 'partial',
              categories: { necessary: true, analytics: false },
              services: null,
              language: 'en',
              document_slug: 'cookie-policy',
              document_version_id: EXAMPLE_VALUES.versionId,
              compliance_framework: 'gdpr',
              created_at: SHOWN.createdAt,
              valid_until: SHOWN.validUntil,
              ask_again_at: null,
              scope: 'device',
              imported_from: null,
              claimed_at: null,
            },
          ],
        },
      },
    },
    handle: async ({ caller: { site }, query, request, reply, closing }, deps) => {
      const sight = await sightOf(deps, site, query, request, (token) =>
        findApprovalTokens(deps.db, deps.keyring, site, [token]),
      );
      const gone = goneClient(reply);
      const lists: (readonly Found[])[] = [];
      const read = async (): Promise<void> => {
        for (const one of sight.sites) {
          const index = blindIndex(one.siteKey, 'visitor', query.visitor_id);
          const list = new StatusList(
            deps,
            { siteId: one.siteId, kind: 'visitor', index },
            (found) => matches(found, query) && sight.includes(one, found),
            sight.hasQuestions,
          );
          for (let isRead = await list.readPage(); !isRead; ) {
            // A long list must not delay the shutdown.
            if (closing.aborted) throw serviceUnavailable();
            isRead = await deps.turns.take(site.tenantId, () => list.readPage(), gone);
          }
          lists.push(list.newest());
        }
      };
      // The first page already waits for its turn, so that a refused request costs no page.
      await deps.visitors.take(visitorOf(site, query), read, gone);
      return { data: { consents: await itemsOf(deps, sight, lists) } };
    },
    handleTest: async ({ caller: { site }, query, request, reply, closing }, deps) => {
      const sight = await sightOf(deps, site, query, request, (token) => findTestTokens(deps.db, site, [token]));
      const gone = goneClient(reply);
      const lists: (readonly Found[])[] = [];
      const read = async (): Promise<void> => {
        for (const one of sight.sites) {
          const list: Found[] = [];
          const visitor = blindIndex(one.siteKey, 'visitor', query.visitor_id);
          const pages = testRecords(deps, one.siteId, { order: 'desc', visitor });
          for await (const page of deps.turns.pages(testTurnsOf(site), pages, gone)) {
            if (closing.aborted) throw serviceUnavailable();
            for (const found of page)
              if (
                found.isProved &&
                (sight.hasQuestions || isInForce(found.record, Date.now())) &&
                matches(found, query) &&
                sight.includes(one, found)
              )
                list.push(found);
            if (list.length >= MAX_STATUS_ITEMS) break;
          }
          lists.push(list.slice(0, MAX_STATUS_ITEMS));
        }
      };
      await deps.visitors.take(`test ${visitorOf(site, query)}`, read, gone);
      const items = await itemsOf(deps, sight, lists);
      return { data: { consents: items.map((item) => ({ ...item, consent_token: testConsentToken(item.id) })) } };
    },
  }),
];

function visitorOf({ siteId, siteKey }: SiteContext, query: StatusQuery): string {
  return `${siteId} ${blindIndex(siteKey, 'visitor', query.visitor_id).toString('hex')}`;
}

/** @throws RequestRefused PERSON_TOKEN_INVALID, PERSON_TOKEN_CONFLICT; database errors */
async function sightOf(
  deps: StatusDeps,
  site: SiteContext,
  query: StatusQuery,
  { headers }: Pick<FastifyRequest, 'headers'>,
  find: (token: string) => Promise<ReadonlyMap<string, FoundToken>>,
): Promise<Sight> {
  const token = headers[PERSON_TOKEN_HEADER.toLowerCase()];
  if (typeof token !== 'string') return sightOfSite(site);
  return sightOfAccount(deps, site, query.visitor_id, (await find(token)).get(token) ?? null);
}

/** A record of a list. */
type Found = Pick<ProvedRecord, 'record' | 'proofHash' | 'documentSlug'>;

/**
 * The newest records of the lists of several sites, as the response shows them.
 * @param lists the newest records of each site, newest first
 */
async function itemsOf({ db }: StatusDeps, sight: Sight, lists: readonly (readonly Found[])[]): Promise<StatusItem[]> {
  const newest = newestOfSites(lists);
  const found = sight.hasQuestions ? inForce(newest, Date.now()) : newest;
  const questionOf = sight.hasQuestions
    ? await questionsOf(
        db,
        found.map(({ record }) => record),
      )
    : () => ({});
  return found.map((one) => itemOf(one, questionOf(one.record)));
}

/** Streams of different sites have no common order but time, which must not change the order within one. */
function newestOfSites(lists: readonly (readonly Found[])[]): readonly Found[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const timed = lists.flatMap((list) => {
    let time = Number.POSITIVE_INFINITY;
    return list.map((found) => {
      time = Math.min(time, Date.parse(found.record.created_at));
      return { found, time };
    });
  });
  return timed
    .sort((a, b) => b.time - a.time)
    .slice(0, MAX_STATUS_ITEMS)
    .map(({ found }) => found);
}

/** A consent that matches the query. */
interface Listed {
  readonly found: Found;
  /** Time that a former tool states, or null if the consent was recorded here. */
  readonly claimedAt: number | null;
  readonly revision: number;
}

/** The newest consents of a visitor that are in force, collected page by page. */
class StatusList {
  readonly #now = Date.now();
  #after: string | null = null;
  /** The newest consents that were recorded here. */
  #recorded: readonly Listed[] = [];
  #matching = 0;
  /** Time in milliseconds. Records from before it are not among the newest. */
  #enoughAt = Number.NEGATIVE_INFINITY;
  /** The newest imported consents of each kind. */
  readonly #imported = new Map<string, readonly Listed[]>();
  /**
   * The newest expired consent of each kind. It still takes precedence over imported consents, which may be valid for
   * longer.
   */
  readonly #ended = new Map<string, Pick<Listed, 'claimedAt' | 'revision'>>();

  /** @param hasEnded whether the list also has consents that have ended */
  constructor(
    private readonly options: PersonRecordsOptions,
    private readonly person: IndexedPerson,
    private readonly isWanted: (found: ProvedRecord) => boolean,
    private readonly hasEnded: boolean,
  ) {}

  /** @returns whether the list is complete. @throws what `nextPersonRecords` throws */
  async readPage(): Promise<boolean> {
    const { records, next } = await nextPersonRecords(this.options, this.person, this.#after, PAGE);
    for (const proved of records) this.#add(proved);
    this.#after = next;
    return next === null || timeOfEventId(next).getTime() < this.#enoughAt - MAX_DISORDER_MS;
  }

  /** The consents of a complete list. */
  newest(): readonly Found[] {
    const imported = [...this.#imported].flatMap(([kind, all]) => {
      const ended = this.#ended.get(kind);
      return ended === undefined ? all : all.filter((one) => newestFirst(one, ended) < 0);
    });
    const all = newestOf([...this.#recorded, ...imported]);
    return all.map(({ found }) => found);
  }

  #add(proved: ProvedRecord): void {
    const { record, revision } = proved;
    const claimed = originOf(record)?.claimed_at ?? null;
    const place = { claimedAt: claimed === null ? null : Date.parse(claimed), revision };
    const kind = kindOf(proved);
    if (!this.hasEnded && !isInForce(record, this.#now)) {
      const known = this.#ended.get(kind);
      if (known === undefined || newestFirst(place, known) < 0) this.#ended.set(kind, place);
    } else if (this.isWanted(proved)) {
      const listed = { found: proved, ...place };
      if (claimed === null) {
        this.#recorded = newestOf([...this.#recorded, listed]);
        this.#matching += 1;
        if (this.#matching === MAX_STATUS_ITEMS) this.#enoughAt = timeOfEventId(record.event_id).getTime();
      } else this.#imported.set(kind, newestOf([...(this.#imported.get(kind) ?? []), listed]));
    }
  }
}

function newestOf(all: readonly Listed[]): readonly Listed[] {
  return [...all].sort(newestFirst).slice(0, MAX_STATUS_ITEMS);
}

/**
 * Compares two items of a list: newest revision first; imported ones after all others, by the time that the former tool
 * states.
 */
function newestFirst(a: Pick<Listed, 'claimedAt' | 'revision'>, b: Pick<Listed, 'claimedAt' | 'revision'>): number {
  const time = ({ claimedAt }: Pick<Listed, 'claimedAt'>): number => claimedAt ?? Number.MAX_VALUE;
  return time(b) - time(a) || b.revision - a.revision;
}

function itemOf({ record, proofHash, documentSlug }: Found, question: Partial<Question>): StatusItem {
  return StatusItem.parse({
    ...record,
    services: servicesOf(record),
    ...lateMembersOf(record),
    id: record.event_id,
    consent_token: consentToken(record.event_id),
    proof_hash: proofHash,
    document_slug: documentSlug,
    ...statedOrigin(record),
    ...question,
  });
}

function matches({ record, documentSlug }: Omit<Found, 'proofHash'>, query: StatusQuery): boolean {
  return (
    (query.consent_type === undefined || record.consent_type === query.consent_type) &&
    (query.document_slug === undefined || documentSlug === query.document_slug) &&
    (query.document_version_id === undefined || record.document_version_id === query.document_version_id)
  );
}

import type { Site } from '../site.js';
import type { Visit } from '../visit.js';
import type { SeenRequest } from '../world.js';
import type { Rule } from './rule.js';

type Answers = Readonly<Record<string, boolean>>;

const HOUR_MS = 3_600_000;
/** An SDK may state whole seconds. */
const TOLERANCE_MS = 1_000;
const SERVICES = { marketing: ['maps', 'films'] } as const;
const NONE: Answers = { necessary: true, analytics: false, marketing: false };
const SOME: Answers = { necessary: true, analytics: true, marketing: false };
const ALL: Answers = { necessary: true, analytics: true, marketing: true };

/** What the body of a record must state. */
interface Statement {
  /** `do_not_sell_opt_out` states no answers. */
  readonly type?: 'do_not_sell_opt_out';
  readonly decision: string;
  readonly categories?: Answers;
  /** Only on a site with switches for services. */
  readonly services?: Answers;
  readonly version: string;
  /** When the visitor acted: from and to, in milliseconds. */
  readonly between: readonly [number, number];
  readonly isSignalled?: boolean;
}

/** Sites whose records differ in what they state. */
const IN_COUNTRIES: readonly Site[] = [
  { law: 'gdpr', country: 'DE' },
  { law: 'ccpa', country: 'US' },
  { law: 'ccpa', country: 'US', saleNotice: 'sale-1' },
  { law: 'gdpr', country: 'FR', services: SERVICES, hasSwitches: true },
];

/** What each record states: the body that is sent, whole, for each kind of decision. */
export const BODIES: readonly Rule[] = [
  {
    name: 'states in every record what was decided and when, the text that it answers, the law and the country',
    sites: [...IN_COUNTRIES, {}],
    play: async (visit) => {
      const { saleNotice = 'v1', hasSwitches } = visit.site;
      const services = (isOn: boolean) => (hasSwitches ? { services: { maps: isOn, films: isOn } } : {});
      await visit.start();
      expectBodies(visit, [
        {
          decision: 'rejected',
          categories: NONE,
          ...services(false),
          version: 'v1',
          between: await at(visit, 'rejectAll'),
        },
        {
          decision: 'accepted',
          categories: ALL,
          ...services(true),
          version: 'v1',
          between: await at(visit, 'acceptAll'),
        },
        {
          decision: 'partial',
          categories: SOME,
          ...services(false),
          version: 'v1',
          between: await at(visit, () => visit.choose({ analytics: true })),
        },
        {
          type: 'do_not_sell_opt_out',
          decision: 'accepted',
          version: saleNotice,
          between: await at(visit, 'optOutOfSale'),
        },
        {
          decision: 'withdrawn',
          categories: NONE,
          ...services(false),
          version: 'v1',
          between: await at(visit, 'rejectAll'),
        },
      ]);
    },
  },
  {
    name: 'states in every record after a change the version, the categories and the region that the site has now',
    sites: [{ law: 'gdpr', country: 'DE' }],
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.publish({ version: 'v2', added: ['chat'], law: 'ccpa', country: 'US' });
      await visit.nextStart();
      const version = 'v2';
      expectBodies(
        visit,
        [
          { decision: 'accepted', categories: { ...ALL, chat: true }, version, between: await at(visit, 'acceptAll') },
          {
            type: 'do_not_sell_opt_out',
            decision: 'accepted',
            version,
            between: await at(visit, 'optOutOfSale'),
          },
          {
            decision: 'withdrawn',
            categories: { ...NONE, chat: false },
            version,
            between: await at(visit, 'rejectAll'),
          },
        ],
        1,
      );
    },
  },
  {
    name: 'states the time and the text of a choice that is recorded hours later, not those of its record',
    sites: [{ law: 'gdpr', country: 'DE' }],
    play: async (visit) => {
      await visit.start();
      await visit.network('away');
      const version = 'v1';
      const expected: Statement[] = [
        { decision: 'accepted', categories: ALL, version, between: await at(visit, 'acceptAll') },
        {
          type: 'do_not_sell_opt_out',
          decision: 'accepted',
          version,
          between: await at(visit, 'optOutOfSale'),
        },
        { decision: 'withdrawn', categories: NONE, version, between: await at(visit, 'rejectAll') },
      ];
      await visit.close();
      await visit.publish({ version: 'v2' });
      await visit.pass(3 * HOUR_MS);
      await visit.network('answered');
      await visit.start();
      visit.expect('records', visit.records.length, 3);
      expectBodies(visit, expected);
    },
  },
  {
    name: 'states in the record of a signal what it does, and that it was one',
    sites: IN_COUNTRIES,
    play: async (visit) => {
      const { law, saleNotice, hasSwitches } = visit.site;
      const services = hasSwitches ? { services: { maps: false, films: false } } : {};
      await visit.start();
      await visit.acceptAll();
      await visit.pass(HOUR_MS);
      const from = visit.device.now();
      await visit.signal(true);
      await visit.nextStart();
      const between = [from, visit.device.now()] as const;
      await visit.pass(HOUR_MS);
      const decided: Statement =
        law === 'ccpa'
          ? { type: 'do_not_sell_opt_out', decision: 'accepted', version: saleNotice ?? 'v1', between }
          : { decision: 'withdrawn', categories: NONE, ...services, version: 'v1', between };
      expectBodies(visit, [{ ...decided, isSignalled: true }], 1);
    },
  },
];

/** Lets the visitor act, and an hour pass. @returns when the visitor acted */
async function at(
  visit: Visit,
  act: 'acceptAll' | 'rejectAll' | 'optOutOfSale' | (() => Promise<void>),
): Promise<readonly [number, number]> {
  const from = visit.device.now();
  await (typeof act === 'string' ? visit[act]() : act());
  const to = visit.device.now();
  await visit.pass(HOUR_MS);
  return [from, to];
}

/** Compares what was sent, once for each key of a request. @param after bodies that were looked at before */
function expectBodies(visit: Visit, expected: readonly Statement[], after = 0): void {
  const { law = null, country = null } = visit.site;
  const seen = bodiesOf(visit.posts).slice(after);
  const types = expected.map(({ type = 'cookie', decision }) => `${type} ${decision}`);
  visit.expect(
    'types and decisions that were sent',
    seen.map(({ consent_type, decision }) => `${consent_type} ${decision}`).sort(),
    types.toSorted(),
  );
  for (const { type = 'cookie', decision, categories, services, version, between, isSignalled } of expected) {
    const body = seen.find((one) => one.consent_type === type && one.decision === decision) ?? {};
    const metadata = body.metadata instanceof Object ? body.metadata : {};
    const stated = {
      consent_type: body.consent_type,
      decision: body.decision,
      categories: sorted(body.categories),
      ...(services !== undefined && { services: sorted(body.services) }),
      document_version_id: body.document_version_id,
      language: body.language,
      visitor_country: body.visitor_country ?? undefined,
      compliance_framework: body.compliance_framework ?? undefined,
      gpc: Reflect.get(metadata, 'gpc') === true,
    };
    visit.expect(`the record ${type} ${decision}`, stated, {
      consent_type: type,
      decision,
      categories: sorted(categories),
      ...(services !== undefined && { services: sorted(services) }),
      document_version_id: version,
      language: 'en',
      visitor_country: country ?? undefined,
      compliance_framework: law ?? undefined,
      gpc: isSignalled === true,
    });
    visit.expect(
      `whether metadata.chosen_at of ${type} ${decision} (${Reflect.get(metadata, 'chosen_at')}) is the time of the action`,
      isWithin(body, between),
      true,
    );
  }
}

function isWithin(body: Readonly<Record<string, unknown>> | undefined, [from, to]: readonly [number, number]): boolean {
  const { metadata } = body ?? {};
  const chosenAt = metadata instanceof Object ? Date.parse(String(Reflect.get(metadata, 'chosen_at'))) : Number.NaN;
  return chosenAt >= from - TOLERANCE_MS && chosenAt <= to + TOLERANCE_MS;
}

/** What was sent, once for each key, in the order of the first attempts. */
function bodiesOf(requests: readonly SeenRequest[]): readonly Readonly<Record<string, unknown>>[] {
  const byKey = new Map<unknown, Record<string, unknown>>();
  for (const { body } of requests) {
    const sent: Record<string, unknown> = JSON.parse(body);
    if (!byKey.has(sent.idempotency_key)) byKey.set(sent.idempotency_key, sent);
  }
  return [...byKey.values()];
}

/** Members in the order of their names. */
function sorted(members: unknown): unknown {
  return members instanceof Object
    ? Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : undefined;
}

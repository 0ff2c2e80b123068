import { namedKey } from './keys.js';
import type { Plan, PlannedEvent, PlannedValue } from './ledger.js';
import {
  base64url,
  canonical,
  instant,
  type Json,
  type JsonRecord,
  sha256,
  sha256Hex,
  utf8,
  uuid,
} from './primitives.js';

/*
 * The world: three sites, persons with several records, two texts, two configurations and erasures. A
 * plan of it is made anew for each forgery, which then changes it.
 */

export const SITE = uuid('site one');
export const OTHER_SITE = uuid('site two');
export const THIRD_SITE = uuid('site three');
const START = Date.parse('2026-03-02T08:00:00.000Z');
export const ORIGIN = 'ledger.example/dishonest';

export interface WorldOptions {
  /** Leaves of the ledger tree. */
  readonly size: number;
  /** Number of the first batch with consents; the notices are in the batches before it. */
  readonly from: number;
  /** Batches between two with consents, and 1. */
  readonly every: number;
  /** Sizes at which the ledger is stamped; the last is `size`. */
  readonly stamps: readonly number[];
  /** Size of the checkpoint that the keys before and after a change sign; the batch before announces the next key. */
  readonly rotateAt?: number;
}

/** One roll-up of level 1 below the checkpoint for every 128 leaves, and single leaves after the last. */
export const WORLDS = {
  /** A few batches. */
  small: { size: 16, from: 3, every: 1, stamps: [4, 9, 16] },
  /** Consents in batches under two roll-ups, and after them. */
  rolled: { size: 280, from: 60, every: 20, stamps: [100, 200, 280] },
  /** The ledger's key changes in between. */
  rotated: { size: 140, from: 10, every: 12, stamps: [20, 80, 140], rotateAt: 80 },
} as const satisfies Readonly<Record<string, WorldOptions>>;

export const consentsOf = (site: string): string => `consents-${site}`;
/** The stream of the ledger's policies. */
export const POLICY_STREAM = 'policy';
export const noticesOf = (site: string): string => `notices-${site}`;

/** A value under a name, with a salt that is the same for the same label. */
export function value(label: string, name: string, content: Json, attachment: Uint8Array | null = null): PlannedValue {
  const salt = base64url(sha256(`salt of ${label} ${name}`).slice(0, 16));
  return { name, value: content, text: base64url(JSON.stringify([salt, name, content])), attachment };
}

export const digestOf = (disclosure: string): string => base64url(sha256(disclosure));

/** Makes the record commit to the event's values. */
export function commit(event: PlannedEvent): void {
  event.record.disclosures = Object.fromEntries(event.values.map(({ name, text }) => [name, digestOf(text)]));
}

export const TEXTS = {
  first: utf8('# Cookies\n\nWe count visits.\n'),
  second: utf8('# Cookies\n\nWe count visits and sell them.\n'),
  other: utf8('# Terms of another site\n'),
  forged: utf8('# I sell you my house\n'),
} as const;

const TEXT = { en: 'Text' };
export const CATEGORY = {
  key: 'analytics',
  required: false,
  title: TEXT,
  purpose: TEXT,
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: 30,
};

/** The record of a site's configuration. */
export function configuration(site: string, number: number, created: number, change: JsonRecord = {}): JsonRecord {
  return {
    v: 1,
    event_id: uuid(`configuration ${number} of ${site}`),
    site_id: site,
    created_at: instant(created),
    number,
    domain: 'shop.example',
    controller: { legal_name: 'Shop Ltd', contact: 'privacy@shop.example' },
    default_language: 'en',
    languages: ['en'],
    validity_days: 180,
    banner: { en: { title: `Banner ${number}` } },
    withdrawal: TEXT,
    categories: [CATEGORY],
    cookies: [],
    ...change,
  };
}

export const SERVICE = {
  key: 'counter',
  name: 'Counter',
  recipient: 'Counter Ltd',
  policy_url: 'https://counter.example/privacy',
};
const SERVICES = [SERVICE, { key: 'maps', name: 'Maps', recipient: 'Maps Ltd', policy_url: null }];
const ALL_SERVICES = { analytics: { counter: true, maps: true } };
/** One of two services of a category, which the record does not permit therefore. */
const ONE_SERVICE = { analytics: { counter: true, maps: false } };

export const RULES = [
  { id: 'uk', places: ['GB'], categories: { analytics: { rule: 'opt_in' } } },
  { id: 'us', places: ['US-CA', 'US-CO'], categories: { analytics: { rule: 'opt_out' } } },
];

/** A configuration in which visitors decide on each service, and a cookie belongs to one of them. */
function withServices(record: JsonRecord): JsonRecord {
  const cookie = { name: '_count', provider: 'Counter Ltd', party: 'third', duration_seconds: 60, purpose: TEXT };
  return {
    ...record,
    categories: [{ ...CATEGORY, services: SERVICES }],
    cookies: [{ ...cookie, category: 'analytics', service: 'counter' }],
    service_switches: true,
    rules: RULES,
    accounts: { person_space: null },
  };
}

export function notice(label: string, site: string, type: string, record: JsonRecord): PlannedEvent {
  return { label, stream: noticesOf(site), type, record, person: null, values: [] };
}

export const versionId = (site: string, number: number): string => uuid(`version ${number} of ${site}`);

/** The publication of a document version. */
export function publication(
  site: string,
  number: number,
  content: Uint8Array,
  created: number,
  change: JsonRecord = {},
): PlannedEvent {
  return notice(`published ${number}`, site, 'DocumentVersionPublished.v1', {
    v: 1,
    event_id: uuid(`published ${number} of ${site}`),
    site_id: site,
    created_at: instant(created),
    document_id: uuid(`document of ${site}`),
    document_version_id: versionId(site, number),
    slug: 'cookies',
    kind: 'cookie_policy',
    title: 'Cookies',
    language: 'en',
    number,
    media_type: 'text/markdown',
    content_sha256: sha256Hex(content),
    requires_approval_token: false,
    ...change,
  });
}

/** The activation or the retirement of a document version. */
export function stateChange(
  state: 'Activated' | 'Retired',
  site: string,
  number: number,
  created: number,
): PlannedEvent {
  return notice(`${state.toLowerCase()} ${number}`, site, `DocumentVersion${state}.v1`, {
    v: 1,
    event_id: uuid(`${state} ${number} of ${site}`),
    site_id: site,
    created_at: instant(created),
    document_id: uuid(`document of ${site}`),
    document_version_id: versionId(site, number),
  });
}

export interface ConsentOptions {
  readonly site?: string;
  readonly person?: string | null;
  readonly version?: number;
  readonly content?: Uint8Array;
  readonly configuration: JsonRecord;
  /** Decisions on services, which make the record one of version 2. */
  readonly services?: JsonRecord;
  /** The rule, in a record that also states its periods and scope. */
  readonly rule?: string;
  readonly change?: JsonRecord;
  readonly values?: readonly PlannedValue[];
}

const DAY = 86_400_000;

/** A record whose person the backend vouches for by a person token, and so the choice of the person's account. */
export const BY_PERSON_TOKEN: JsonRecord = {
  ...{ scope: 'account', identity_assurance: 'tenant_attested' },
  ...{ approval_token_id: 'ptk_1', vouched: ['visitor_id'] },
};

/** The members with which a record states its rule, periods and scope: the site published 180 days, and then 90. */
function statedPeriods(rule: string, created: number, { change = {} }: ConsentOptions): JsonRecord {
  const { decision = 'accepted' } = change;
  const isRefusal = decision === 'rejected' || decision === 'withdrawn';
  return {
    valid_until: instant(created + (decision === 'accepted' ? 90 : 180) * DAY),
    ask_again_at: isRefusal ? instant(created + 180 * DAY) : null,
    rule_id: rule,
    scope: 'device',
  };
}

/** A consent with two values, or the given ones. */
export function consent(label: string, created: number, options: ConsentOptions): PlannedEvent {
  const { site = SITE, person = null, version = 1, content = TEXTS.first } = options;
  const values = options.values ?? [
    value(label, 'visitor_id', person ?? `visitor of ${label}`),
    value(label, 'user_agent', `browser of ${label}`),
  ];
  const event: PlannedEvent = {
    label,
    stream: consentsOf(site),
    type: 'ConsentRecorded.v1',
    person: person === null ? null : `${site} ${person}`,
    values: [...values],
    record: {
      v: options.services === undefined ? 1 : 2,
      ...(options.services !== undefined && { services: options.services }),
      hash_version: 2,
      proof_key_id: 'proof-key-1',
      event_id: uuid(`consent ${label}`),
      site_id: site,
      consent_type: 'cookies',
      decision: 'accepted',
      categories: { analytics: true },
      language: 'en',
      document_version_id: versionId(site, version),
      document_hash: sha256Hex(content),
      site_config_hash: sha256Hex(canonical(options.configuration)),
      compliance_framework: 'gdpr',
      created_at: instant(created),
      valid_until: instant(created + 30 * DAY),
      channel: 'browser',
      api_key_id: uuid('api key'),
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      ...(options.rule !== undefined && statedPeriods(options.rule, created, options)),
      ...options.change,
    },
  };
  commit(event);
  return event;
}

/**
 * A policy of the ledger. By default it allows as much as a ledger without one may take.
 * @param created milliseconds since 1970
 */
export function policy(number: number, created: number, change: JsonRecord = {}): PlannedEvent {
  return {
    label: `policy ${number}`,
    stream: POLICY_STREAM,
    type: 'LedgerPolicySet.v1',
    person: null,
    values: [],
    record: {
      v: 1,
      event_id: uuid(`policy ${number}`),
      created_at: instant(created),
      number,
      seal_within_seconds: 600,
      stamp_within_seconds: 3600,
      stamps: 1,
      witnesses: [],
      witnesses_required: 0,
      tree_hash: 'sha256',
      ...change,
    },
  };
}

/** The announcement of the ledger's next keys. @param created milliseconds since 1970 */
export function announcement(label: string, keys: readonly string[], created: number): PlannedEvent {
  const record: JsonRecord = { v: 1, event_id: uuid(label), created_at: instant(created), keys: [...keys] };
  return { label, stream: POLICY_STREAM, type: 'LedgerKeyAnnounced.v1', person: null, values: [], record };
}

/** The announcement of the erasure of one record. */
export function erasure(label: string, site: string, created: number, erased: string): PlannedEvent {
  return {
    label,
    stream: consentsOf(site),
    type: 'SubjectErased.v1',
    person: null,
    values: [],
    record: {
      v: 1,
      event_id: uuid(`erasure ${label}`),
      site_id: site,
      created_at: instant(created),
      reason: 'person',
      erased_event_id: erased,
    },
  };
}

/** The record's event id. */
export const consentId = (label: string): string => uuid(`consent ${label}`);

const SIGNATURE = utf8('<svg><path d="M0 0L9 9"/></svg>');

/** Makes the plan of an honest ledger. */
export function makePlan(options: WorldOptions): Plan {
  const batches = new Map<number, PlannedEvent[]>();
  // 1, 2, 3 … seconds before the batch is sealed, so that times do not decrease along a stream.
  const time = (number: number, second = 0): number => START + number * 10_000 - 5000 + second * 1000;
  const slot = (index: number): number => options.from + index * options.every;
  const put = (number: number, ...events: PlannedEvent[]): void => {
    const known = batches.get(number) ?? [];
    batches.set(number, [...known, ...events]);
  };
  const first = configuration(SITE, 1, time(1));
  // With the second configuration, the site asks for each service, and its records are of version 2.
  const second = withServices(configuration(SITE, 2, time(slot(5)), { validity_days: 90 }));
  const others = new Map([OTHER_SITE, THIRD_SITE].map((site) => [site, configuration(site, 1, time(1))]));
  put(
    1,
    notice('configuration 1', SITE, 'SiteConfigPublished.v1', first),
    publication(SITE, 1, TEXTS.first, time(1, 1)),
    stateChange('Activated', SITE, 1, time(1, 2)),
  );
  for (const [site, record] of others) {
    const published = publication(site, 1, TEXTS.other, time(1, 1));
    put(1, notice(`configuration of ${site}`, site, 'SiteConfigPublished.v1', record), published);
    put(1, stateChange('Activated', site, 1, time(1, 2)));
  }
  const signature = { sha256: sha256Hex(SIGNATURE), media_type: 'image/svg+xml', size: SIGNATURE.length };
  const before = { configuration: first };
  const after = { configuration: second, version: 2, content: TEXTS.second, services: ALL_SERVICES, rule: 'uk' };
  const elsewhere = (label: string, site: string, index: number): PlannedEvent =>
    consent(label, time(slot(index), 2), {
      site,
      person: 'alice',
      content: TEXTS.other,
      configuration: others.get(site) ?? {},
    });
  const person = (name: string, rest: ConsentOptions): ConsentOptions => ({ ...rest, person: name });
  put(
    slot(0),
    consent('alice 1', time(slot(0)), person('alice', before)),
    consent('nobody 1', time(slot(0)), before),
    elsewhere('elsewhere 1', OTHER_SITE, 0),
    elsewhere('elsewhere 2', THIRD_SITE, 0),
  );
  put(
    slot(1),
    consent('bob 1', time(slot(1)), {
      ...person('bob', before),
      values: [
        value('bob 1', 'visitor_id', 'bob'),
        value('bob 1', 'signer_name', 'Bob'),
        value('bob 1', 'stroke_count', 2),
        value('bob 1', 'signature_image', signature, SIGNATURE),
      ],
    }),
    consent('carol 1', time(slot(1)), person('carol', before)),
    elsewhere('elsewhere 3', OTHER_SITE, 1),
  );
  put(slot(2), consent('alice 2', time(slot(2)), person('alice', { ...before, change: { decision: 'partial' } })));
  put(slot(3), consent('carol 2', time(slot(3)), person('carol', before)), elsewhere('elsewhere 4', THIRD_SITE, 3));
  put(
    slot(4),
    erasure('of carol 1', SITE, time(slot(4)), consentId('carol 1')),
    elsewhere('elsewhere 5', OTHER_SITE, 4),
  );
  put(
    slot(5),
    notice('configuration 2', SITE, 'SiteConfigPublished.v1', second),
    publication(SITE, 2, TEXTS.second, time(slot(5), 1)),
    stateChange('Retired', SITE, 1, time(slot(5), 2)),
    stateChange('Activated', SITE, 2, time(slot(5), 2)),
  );
  put(
    slot(6),
    consent('bob 2', time(slot(6)), {
      ...person('bob', after),
      services: ONE_SERVICE,
      change: { decision: 'partial', categories: { analytics: false } },
    }),
    consent('alice 3', time(slot(6)), person('alice', { ...after, change: BY_PERSON_TOKEN })),
  );
  put(slot(7), consent('nobody 2', time(slot(7)), after), elsewhere('elsewhere 6', THIRD_SITE, 7));
  put(slot(8), consent('bob 3', time(slot(8)), { ...person('bob', after), change: { consent_type: 'newsletter' } }));
  const byBackend = { decision: 'withdrawn', channel: 's2s', scope: 'account' };
  put(slot(9), consent('alice 4', time(slot(9)), person('alice', { ...after, change: byBackend })));
  put(slot(10), elsewhere('elsewhere 7', OTHER_SITE, 10), elsewhere('elsewhere 8', THIRD_SITE, 10));
  const names = [SITE, OTHER_SITE, THIRD_SITE].flatMap((site) =>
    ['alice', 'bob', 'carol'].map((name) => `${site} ${name}`),
  );
  const keys = {
    first: namedKey(ORIGIN, 'first ledger key'),
    next: namedKey(ORIGIN, 'next ledger key'),
    manifest: namedKey(ORIGIN, 'manifest key'),
  };
  const { rotateAt } = options;
  if (rotateAt !== undefined) put(rotateAt - 1, announcement('announcement 1', [keys.next.line], time(rotateAt - 1)));
  return {
    origin: ORIGIN,
    size: options.size,
    start: START,
    batches,
    stamps: options.stamps.map((size) => ({ size, time: START + (size - 1) * 10_000 + 3000 })),
    persons: new Map(names.map((name) => [name, sha256(`id of ${name}`)])),
    texts: Object.values(TEXTS),
    keys,
    signers: (size) =>
      rotateAt === undefined || size < rotateAt
        ? [keys.first]
        : size === rotateAt
          ? [keys.first, keys.next]
          : [keys.next],
  };
}

/** The planned event with this label. @throws RangeError if there is none */
export function eventOf(plan: Plan, label: string, site: string = SITE): PlannedEvent {
  for (const events of plan.batches.values()) {
    const found = events.find((event) => event.label === label && event.record.site_id === site);
    if (found !== undefined) return found;
  }
  throw new RangeError(`no event ${label}`);
}

/** The number of the batch with this event. @throws RangeError if there is none */
export function batchOf(plan: Plan, label: string): number {
  for (const [number, events] of plan.batches) if (events.some((event) => event.label === label)) return number;
  throw new RangeError(`no event ${label}`);
}

/** Changes a configuration, and the hash of it in the consents that name it. */
export function changeConfiguration(plan: Plan, label: string, change: JsonRecord): void {
  const { record } = eventOf(plan, label);
  const before = sha256Hex(canonical(record));
  Object.assign(record, change);
  for (const events of plan.batches.values())
    for (const { record: consent } of events)
      if (consent.site_config_hash === before) consent.site_config_hash = sha256Hex(canonical(record));
}

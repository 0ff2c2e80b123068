import type { Draft } from './export.js';
import { type Forgery, leaveOut, lineOf } from './forgery.js';
import type { Plan, PlannedEvent } from './ledger.js';
import { instant, type JsonRecord, sha256Hex, utf8, uuid } from './primitives.js';
import { eventOf, noticesOf, SITE, TEXTS, versionId } from './world.js';

const POINT = 'A8';
const DAY = 86_400_000;
/** The consent that is an imported one in these ledgers. */
const LABEL = 'alice 2';

const FORMAT = { check: 'record.format', verdict: 'invalid' } as const;

/** The member `import` of a record. */
function origin(claimed: number, change: JsonRecord = {}): JsonRecord {
  return {
    claimed_at: instant(claimed),
    tool: 'Former tool',
    file_sha256: sha256Hex(utf8('a file')),
    row: 7,
    mapping_sha256: sha256Hex(utf8('a mapping')),
    imported_by: 'operator',
    ...change,
  };
}

/** Makes the consent an honestly imported one, that was given 50 days before. */
export function asImport(plan: Plan, label: string = LABEL): PlannedEvent {
  const event = eventOf(plan, label);
  const created = Date.parse(String(event.record.created_at));
  event.type = 'ConsentImported.v1';
  // An import has the members of version 1.
  for (const member of ['services', 'rule_id', 'ask_again_at', 'scope']) delete event.record[member];
  Object.assign(event.record, {
    v: 1,
    channel: 'import',
    api_key_id: null,
    valid_until: instant(created + 20 * DAY),
    import: origin(created - 50 * DAY),
  });
  return event;
}

/** The change of an honest import that the operator seals. */
const sealed = (change: (event: PlannedEvent) => void): Pick<Forgery, 'plan'> => ({
  plan: (plan) => change(asImport(plan)),
});

const record = (change: JsonRecord) => sealed((event) => Object.assign(event.record, change));

/** What an imported record states of its import. */
export function importOf({ record: { import: found } }: PlannedEvent): JsonRecord {
  if (typeof found !== 'object' || found === null || 'length' in found) throw new RangeError('the event is no import');
  return found;
}

const stated = (change: JsonRecord) => sealed((event) => Object.assign(importOf(event), change));

/** Shows the import with another text than the sealed one. */
function shown(name: string, from: RegExp, to: string): Forgery {
  const draft = (one: Draft): void => {
    const line = lineOf(one, LABEL);
    const changed = line.entry.replace(from, to);
    if (changed === line.entry) throw new RangeError(`nothing to change: ${name}`);
    line.entry = changed;
  };
  return {
    point: POINT,
    name,
    plan: (plan) => void asImport(plan),
    draft,
    check: 'entry.inclusion',
    verdict: 'invalid',
  };
}

function* forgeries(): Generator<Forgery> {
  const cases: readonly (Omit<Forgery, 'point' | 'check' | 'verdict'> & Partial<Forgery>)[] = [
    {
      name: 'an import that is sealed as a consent recorded here',
      ...sealed((event) => {
        event.type = 'ConsentRecorded.v1';
      }),
    },
    {
      name: 'a consent recorded here that is sealed as an import',
      plan: (plan) => {
        eventOf(plan, LABEL).type = 'ConsentImported.v1';
      },
    },
    { name: 'an import with the channel of a browser', ...record({ channel: 'browser' }) },
    { name: 'an import with a key of the site', ...record({ api_key_id: uuid('api key') }) },
    {
      name: 'an import for which a backend vouches',
      ...record({ identity_assurance: 'tenant_attested', approval_token_id: 'atk_1', vouched: ['visitor_id'] }),
    },
    {
      name: 'an import with a claimed time in its future',
      ...sealed((event) => {
        const created = Date.parse(String(event.record.created_at));
        Object.assign(importOf(event), { claimed_at: instant(created + 1) });
      }),
    },
    {
      name: 'an import that ends before it was given',
      ...sealed((event) => {
        const created = Date.parse(String(event.record.created_at));
        event.record.valid_until = instant(created - 51 * DAY);
      }),
    },
    { name: 'an import without the digest of its file', ...stated({ file_sha256: 'none' }) },
    { name: 'an import without a row', ...stated({ row: 0 }) },
    { name: 'an import by a person of no kind', ...stated({ imported_by: 'the former tool' }) },
    {
      name: 'an import that is valid for longer than the configuration allows from its claimed time',
      ...sealed((event) => {
        const created = Date.parse(String(event.record.created_at));
        event.record.valid_until = instant(created + 131 * DAY);
      }),
      check: 'document.in-force',
    },
    {
      name: 'an import that names a text of later',
      ...record({ document_version_id: versionId(SITE, 2), document_hash: sha256Hex(TEXTS.second) }),
      check: 'document.in-force',
    },
    {
      name: 'an import that names a text that was never published',
      ...record({ document_hash: sha256Hex(TEXTS.forged) }),
      check: 'document.version',
    },
    {
      name: 'an import that decides on a category that its configuration does not have',
      ...record({ categories: { fingerprinting: true } }),
      check: 'document.configuration',
    },
    {
      name: 'an import in the stream of the notices',
      ...sealed((event) => {
        event.stream = noticesOf(SITE);
      }),
      check: 'entry.stream',
    },
    {
      name: 'an import dressed up as a consent that was recorded at its claimed time',
      ...sealed((event) => {
        const claimed = importOf(event).claimed_at ?? null;
        event.type = 'ConsentRecorded.v1';
        delete event.record.import;
        Object.assign(event.record, { channel: 'browser', api_key_id: uuid('api key'), created_at: claimed });
      }),
      check: 'document.in-force',
    },
    {
      name: 'an imported withdrawal that is left out',
      ...record({ decision: 'withdrawn' }),
      choice: (choice) => leaveOut(choice, LABEL),
      check: 'completeness.runs',
    },
    {
      name: 'an imported withdrawal that is left out of the package of its person',
      ...record({ decision: 'withdrawn' }),
      request: { person: 'alice' },
      choice: (choice) => leaveOut(choice, LABEL),
      check: 'completeness.person',
    },
  ];
  for (const one of cases) yield { point: POINT, ...FORMAT, ...one };
  yield shown('an import that is shown as a consent recorded here', /ConsentImported/, 'ConsentRecorded');
  yield shown('an import that is shown with another claimed time', /(claimed_at":"20)\d\d/, '$119');
  yield shown('an import that is shown with the digest of another file', /(file_sha256":")[0-9a-f]{8}/, '$100000000');
  yield shown('an import that is shown at another place of the file', /"row":7/, '"row":8');
  yield shown('an import that is shown as one of another tool', /Former tool/, 'Famous tool');
}

export const FORGED_IMPORTS: readonly Forgery[] = [...forgeries()];

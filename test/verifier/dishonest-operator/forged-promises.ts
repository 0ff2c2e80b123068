import type { Request } from './export.js';
import { type Forgery, leaveOut } from './forgery.js';
import { namedKey, signedNote } from './keys.js';
import type { Plan } from './ledger.js';
import { at, base64, hex, instant, type JsonRecord, sha256 } from './primitives.js';
import { type MadePromise, type PromiseTerms, promiseOf } from './promise.js';
import { batchOf, consentId, consentsOf, eventOf, makePlan, OTHER_SITE, policy, WORLDS } from './world.js';

/*
 * A promise accuses its ledger only if it is genuine. A ledger that breaks a genuine one must not
 * appear to keep it. The world `rolled` lasts longer than the delay that is promised.
 */

const POINT = 'promises';
const LABEL = 'alice 1';
const OPEN = { check: 'promise.kept', verdict: 'indeterminate' } as const;
const BROKEN = { check: 'promise.kept', verdict: 'invalid' } as const;

/** Plan from which the promises are made. A forgery may change the world, but not this plan. */
const PROMISED = makePlan(WORLDS.rolled);

const given = (...promises: readonly MadePromise[]): Pick<Forgery, 'world' | 'options'> => ({
  world: 'rolled',
  options: () => ({ promises: promises.map((promise, i) => ({ file: `promise ${i + 1}.json`, promise })) }),
});

const terms = (change: PromiseTerms, label = LABEL): Pick<Forgery, 'world' | 'options'> =>
  given(promiseOf(PROMISED, label, change));

/** The genuine promise, with members that were changed after it was signed. */
function altered(change: (promise: MadePromise) => void): Pick<Forgery, 'world' | 'options'> {
  const promise = promiseOf(PROMISED, LABEL);
  change(promise);
  return given(promise);
}

/** Changes a line of the text. */
const line = (number: number, change: (line: string) => string) => (promise: MadePromise) => {
  const lines = promise.text.split('\n');
  lines[number] = change(at(lines, number));
  promise.text = lines.join('\n');
};

const FOREIGN = namedKey(PROMISED.origin, 'key of a stranger');
const OTHER_ORIGIN = 'ledger.example/another';
const OTHER_LEDGER = namedKey(OTHER_ORIGIN, 'key of another ledger');
const otherHex = hex(sha256('another path'));

function* alteredPromises(): Generator<Forgery> {
  const changes: Readonly<Record<string, (promise: MadePromise) => void>> = {
    'another title': line(0, (text) => text.replace('v1', 'v2')),
    'another origin in its text': line(1, () => OTHER_ORIGIN),
    'another stream in its text': line(2, () => consentsOf(OTHER_SITE)),
    'another event id in its text': line(3, () => consentId('alice 2')),
    'another digest in its text': line(4, () => base64(sha256('another record'))),
    'another creation time in its text': line(5, () => '2026-03-02T08:00:00.000Z'),
    'an earlier end in its text': line(6, () => '2026-03-02T08:00:00.000Z'),
    'a line more': line(6, (text) => `${text}\nmore`),
    'no end of its last line': (promise) => void Object.assign(promise, { text: promise.text.slice(0, -1) }),
    'ends of lines with a carriage return': (promise) =>
      void Object.assign(promise, { text: promise.text.replaceAll('\n', '\r\n') }),
    'another index': (promise) => void Object.assign(promise, { index: 0 }),
    'an index beyond its group': (promise) => void Object.assign(promise, { index: 2 }),
    'another size': (promise) => void Object.assign(promise, { size: 3 }),
    'another path': (promise) => void Object.assign(promise, { path: [otherHex] }),
    'a longer path': (promise) => void promise.path.push(otherHex),
    'no path': (promise) => void Object.assign(promise, { path: [] }),
    'the path of a group of one': (promise) => void Object.assign(promise, { path: [], size: 1, index: 0 }),
    'the root of another group': (promise) => {
      promise.signed_root = promiseOf(PROMISED, 'alice 2').signed_root;
    },
    'a root without a signature': (promise) => {
      promise.signed_root = promise.signed_root.slice(0, promise.signed_root.indexOf('—'));
    },
    'no certificate': (promise) => void Object.assign(promise, { certificate: '' }),
    'a certificate in place of the root': (promise) =>
      void Object.assign(promise, { signed_root: promise.certificate }),
  };
  for (const [what, change] of Object.entries(changes))
    yield { point: POINT, name: `a promise has ${what}`, ...altered(change), ...OPEN };
  const keys = PROMISED.keys;
  const forgedBy: Readonly<Record<string, PromiseTerms>> = {
    'a key that the ledger did not certify signs the root': {
      promiser: FOREIGN,
      certified: namedKey(PROMISED.origin, 'promise key'),
    },
    'a stranger certifies the promise key': { certifier: FOREIGN },
    'the promise key certifies itself': { certifier: namedKey(PROMISED.origin, 'promise key') },
    'the manifest key signs, with its certificate': {
      promiser: namedKey(PROMISED.origin, 'manifest key'),
      title: 'consent-ledger manifest key v1',
    },
    'the root is of another ledger': { rootOrigin: OTHER_ORIGIN },
    'the certificate is of another ledger': { certificateOrigin: OTHER_ORIGIN },
    'another ledger promised the record': { origin: OTHER_ORIGIN, certifier: OTHER_LEDGER },
    'the ledger key certifies in the name of another ledger': {
      origin: OTHER_ORIGIN,
      certifier: keys.first,
    },
    'the next key of a ledger that has none certifies the promise key': { certifier: keys.next },
  };
  for (const [name, change] of Object.entries(forgedBy)) yield { point: POINT, name, ...terms(change), ...OPEN };
  yield {
    point: POINT,
    name: 'the certificate has a signature of the ledger key over another text',
    ...altered((promise) => {
      const other = promiseOf(PROMISED, LABEL, { promiser: FOREIGN }).certificate;
      const [text = ''] = promise.certificate.split('\n\n');
      promise.certificate = `${text}\n\n${at(other.split('\n\n'), 1)}`;
    }),
    ...OPEN,
  };
  yield {
    point: POINT,
    name: 'the signature of the root names the ledger key',
    ...altered((promise) => {
      const text = `${at(promise.signed_root.split('\n\n'), 0)}\n`;
      promise.signed_root = signedNote(text, keys.first);
    }),
    ...OPEN,
  };
}

/** The ledger does not seal the promised record. The erasures of other records stay right. */
export function dropped(plan: Plan): void {
  const number = batchOf(plan, LABEL);
  const kept = (plan.batches.get(number) ?? []).filter(({ label }) => label !== LABEL);
  plan.batches.set(number, kept);
}

/** The last batches claim an earlier time. */
export function earlierEnd(header: JsonRecord, number: number): void {
  if (number > 210) header.sealed_at = instant(PROMISED.start + 2_100_000);
}

/** Seals a policy. */
export function publish(plan: Plan, number: number, batch: number, change: JsonRecord): void {
  const made = policy(number, plan.start + batch * 10_000 - 1000, change);
  plan.batches.set(batch, [...(plan.batches.get(batch) ?? []), made]);
}

const genuine = given(promiseOf(PROMISED, LABEL));

const REQUESTS: Readonly<Record<string, readonly [Request, Pick<Forgery, 'check' | 'verdict'>]>> = {
  'the whole site': [{}, BROKEN],
  'a person': [{ person: 'alice' }, OPEN],
  'another person': [{ person: 'bob' }, OPEN],
  'another event id': [{ eventIds: [consentId('bob 1')] }, OPEN],
  'a range of time': [{ from: '2026-03-02T08:00:00.000Z', to: '2026-03-02T09:00:00.000Z' }, OPEN],
  'a document version': [{ version: String(eventOf(PROMISED, LABEL).record.document_version_id) }, OPEN],
  'another site': [{ site: OTHER_SITE }, OPEN],
};

function* droppedRecords(): Generator<Forgery> {
  for (const [kind, [request, expected]] of Object.entries(REQUESTS))
    yield {
      point: POINT,
      name: `a promised record was dropped, and the package is for ${kind}`,
      ...genuine,
      plan: dropped,
      request,
      ...expected,
    };
  yield {
    point: POINT,
    name: 'a promised record was dropped, and the package for its event id is without it',
    ...genuine,
    plan: dropped,
    request: { eventIds: [consentId(LABEL), consentId('bob 1')] },
    ...OPEN,
  };
  yield {
    point: POINT,
    name: 'a promised record was dropped, and the receipt is of another one',
    ...genuine,
    plan: dropped,
    receipt: { label: 'bob 1' },
    ...OPEN,
  };
  yield {
    point: POINT,
    name: 'a promised record was sealed, and is left out of the package for the whole site',
    ...genuine,
    choice: (choice) => leaveOut(choice, LABEL),
    check: 'completeness.runs',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'a promised record was dropped, and the newest batch claims an earlier time',
    ...given(promiseOf(PROMISED, LABEL)),
    plan: (plan) => {
      dropped(plan);
      // Beyond the delay to the stamp that the default policy allows.
      plan.stamps = plan.stamps.map(({ size, time }) => ({ size, time: size === 280 ? time + 5_000_000 : time }));
    },
    lies: { header: earlierEnd },
    ...BROKEN,
  };
  for (const policies of [1, 2])
    yield {
      point: POINT,
      name: `a promised record was dropped, and ${policies} longer delays were published after the promise`,
      ...given(promiseOf(PROMISED, LABEL)),
      plan: (plan) => {
        dropped(plan);
        for (let number = 1; number <= policies; number += 1)
          publish(plan, number, 100 + number * 20, { stamp_within_seconds: 172_800 });
        plan.stamps = plan.stamps.map(({ size, time }) => ({ size, time: size === 280 ? time + 5_000_000 : time }));
      },
      lies: { header: earlierEnd },
      ...BROKEN,
    };
  yield {
    point: POINT,
    name: 'one promise is kept and another one broken',
    ...given(promiseOf(PROMISED, 'bob 1'), promiseOf(PROMISED, LABEL), promiseOf(PROMISED, 'alice 2')),
    plan: dropped,
    ...BROKEN,
  };
  yield {
    point: POINT,
    name: 'the promise of a dropped record was changed to an earlier end',
    ...altered(line(6, () => '2026-03-02T08:10:00.000Z')),
    plan: dropped,
    ...OPEN,
  };
}

/** The ledger seals something else under the promised event id. */
function* otherRecords(): Generator<Forgery> {
  const otherDecision = (plan: Plan): void => {
    eventOf(plan, LABEL).record.decision = 'rejected';
  };
  const kinds: Readonly<Record<string, Pick<Forgery, 'request' | 'receipt'>>> = {
    'the whole site': {},
    'the person': { request: { person: 'alice' } },
    'its event id': { request: { eventIds: [consentId(LABEL)] } },
    'a receipt': { receipt: { label: LABEL } },
    'a receipt without values': { receipt: { label: LABEL, disclose: 'none' } },
  };
  for (const [kind, how] of Object.entries(kinds))
    yield {
      point: POINT,
      name: `another record was sealed under the promised id (${kind})`,
      ...genuine,
      plan: otherDecision,
      ...how,
      ...BROKEN,
    };
  yield {
    point: POINT,
    name: 'the promised record was sealed with another time',
    ...genuine,
    plan: (plan) => {
      const { record } = eventOf(plan, LABEL);
      record.created_at = instant(Date.parse(String(record.created_at)) + 1);
    },
    ...BROKEN,
  };
  yield {
    point: POINT,
    name: 'the promised record was sealed in the stream of another site',
    ...terms({ stream: consentsOf(OTHER_SITE) }),
    ...BROKEN,
  };
  yield {
    point: POINT,
    name: 'an erasure has the promised event id',
    ...given(promiseOf(PROMISED, 'bob 1', { eventId: String(eventOf(PROMISED, 'of carol 1').record.event_id) })),
    ...BROKEN,
  };
}

function* lateRecords(): Generator<Forgery> {
  const created = Date.parse(String(eventOf(PROMISED, LABEL).record.created_at));
  for (const [how, request] of [
    ['the whole site', {}],
    ['its event id', { eventIds: [consentId(LABEL)] }],
  ] as const)
    yield {
      point: POINT,
      name: `a promised record was sealed in a later batch than was promised (${how})`,
      ...genuine,
      plan: (plan) => {
        const event = eventOf(plan, LABEL);
        dropped(plan);
        plan.batches.set(155, [event]);
      },
      request,
      ...OPEN,
    };
  for (const [time, sealedBefore] of [
    ['a time before its record', created - 1],
    ['a time that no policy allows', created + 172_800_001],
  ] as const)
    yield {
      point: POINT,
      name: `a promise is for ${time}, and its record was dropped`,
      ...terms({ sealedBefore: instant(sealedBefore) }),
      plan: dropped,
      ...OPEN,
    };
}

/** False accusations, and broken promises that seem kept (docs/evidence-format.md §15). */
export const FORGED_PROMISES: readonly Forgery[] = [
  ...alteredPromises(),
  ...droppedRecords(),
  ...otherRecords(),
  ...lateRecords(),
];

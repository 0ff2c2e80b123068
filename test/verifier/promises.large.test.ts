import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CONSENT_RECORDED } from '../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { ReportSchema } from '../../verifier-cli/src/report/report-schema.js';
import { noteKey, sha256, signedNote } from '../support/independent-tlog.js';
import { fixtureAuthority, LEDGER_KEY, ORIGIN, VERIFIED_AT } from '../support/ledger-fixture.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { signedNote as ledgerNote } from '../support/signing-key.js';
import { type BundledCommand, bundleCommand } from './bundled-command.js';
import { hasPython, verifyByHand } from './by-hand.js';

const authority = fixtureAuthority();
const promiser = noteKey(ORIGIN);
let command: BundledCommand;
/** The first consent of the fixture's site, as the text of its record. */
let first: { readonly record: string; readonly eventId: string; readonly createdAt: string };
let siteId: string;

/** A promise, made without the code that makes or verifies them. */
function promise(
  of: { record: string; eventId: string; createdAt: string },
  sealedBefore: string,
  stream = consentsStream(siteId),
) {
  const digest = createHash('sha256').update(of.record).digest('base64');
  const lines = ['consent-ledger promise v1', ORIGIN, stream, of.eventId, digest, of.createdAt, sealedBefore];
  const text = lines.map((line) => `${line}\n`).join('');
  const sibling = sha256('another promise of the group');
  const root = sha256(Buffer.of(1), sha256(Buffer.of(0), text), sibling).toString('base64');
  return {
    text,
    index: 0,
    size: 2,
    path: [sibling.toString('hex')],
    signed_root: signedNote(`consent-ledger promises v1\n${ORIGIN}\n2\n${root}\n`, promiser),
    certificate: ledgerNote(
      `consent-ledger promise key v1\n${ORIGIN}\n${promiser.raw.toString('base64')}\n`,
      LEDGER_KEY,
    ),
  };
}

const timeAfter = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();
const MINUTE = 60_000;

/** The package of an operator that did not seal the first consent: all else is consistent. */
const withoutFirst: PackageHooks = {
  world: (world) => {
    const batch = world.batches.find((events) => events.some(({ type }) => type === CONSENT_RECORDED));
    const at = batch?.findIndex(({ type }) => type === CONSENT_RECORDED) ?? -1;
    const erasures = world.erased;
    Object.assign(world, { erased: [] });
    batch?.splice(at, 1);
    for (const events of world.batches) {
      const left = events.filter(({ label }) => !erasures.some(({ by }) => by === label));
      events.splice(0, events.length, ...left);
    }
  },
};
/** The package of an operator that sealed the first consent in its last batch, half an hour and more later. */
const deferredFirst: PackageHooks = {
  world: ({ batches }) => {
    const batch = batches.find((events) => events.some(({ type }) => type === CONSENT_RECORDED));
    const at = batch?.findIndex(({ type }) => type === CONSENT_RECORDED) ?? -1;
    batches.at(-1)?.push(...(batch?.splice(at, 1) ?? []));
  },
};
/** The package of an operator that changed the first consent before it sealed it. */
const withOther: PackageHooks = {
  world: ({ batches }) => {
    const consent = batches.flat().find(({ type }) => type === CONSENT_RECORDED);
    if (consent !== undefined) consent.record = { ...consent.record, decision: 'withdrawn' };
  },
};

beforeAll(() => {
  command = bundleCommand();
  command.write('ledger.vkey', LEDGER_KEY.verifierKey);
  command.write('root.der', authority.root.der);
  const honest = buildPackage(authority, {
    entryLines: (lines, { world, entries }) => {
      siteId = world.siteId;
      const consent = entries.find(
        ({ event }) => event.type === CONSENT_RECORDED && event.stream === consentsStream(siteId),
      );
      // The text between the names of its neighbours, as it was sealed.
      const [, record = ''] = /"record":(\{.*\}),"revision":/.exec(consent?.text ?? '') ?? [];
      const { event_id: eventId, created_at: createdAt } = z
        .object({ event_id: z.string(), created_at: z.string() })
        .parse(JSON.parse(record));
      first = { record, eventId, createdAt };
      return lines;
    },
  });
  command.write('honest.zip', honest);
  command.write('without.zip', buildPackage(authority, withoutFirst));
  command.write('deferred.zip', buildPackage(authority, deferredFirst));
  command.write('other.zip', buildPackage(authority, withOther));
  command.write('promise.json', JSON.stringify(promise(first, timeAfter(first.createdAt, 10 * MINUTE))));
});
afterAll(() => command.remove());

function check(file: string, promises: readonly string[], ...options: readonly string[]) {
  const trust = ['--ledger-key', 'ledger.vkey', '--tsa-ca', 'root.der', '--at', '2026-06-01'];
  const result = command.run(
    'check',
    file,
    ...promises.flatMap((name) => ['--promise', name]),
    ...trust,
    ...options,
    '--json',
  );
  const report = ReportSchema.parse(JSON.parse(result.stdout));
  return { ...result, report, outcomes: report.promises.map(({ outcome }) => outcome) };
}

describe('consent-verify promise', () => {
  it('prints what was promised, from the value or from the whole answer', () => {
    const alone = command.run('promise', 'promise.json', '--ledger-key', 'ledger.vkey');
    expect(alone).toMatchObject({ status: 0, stderr: '' });
    expect(alone.stdout).toContain(`GENUINE: the ledger signed this promise.\n  ledger         ${ORIGIN}\n`);
    expect(alone.stdout).toContain(`record         ${first.eventId}\n`);
    expect(alone.stdout).toContain('The promised time has passed.');
    const future = promise({ ...first, createdAt: '2999-01-01T00:00:00.000Z' }, '2999-01-01T00:10:00.000Z');
    command.write('future.json', JSON.stringify(future));
    expect(command.run('promise', 'future.json', '--ledger-key', 'ledger.vkey').stdout).not.toContain('has passed');
    const answer = {
      message: 'Consent accepted.',
      data: { duplicate: false, promise: promise(first, first.createdAt) },
    };
    command.write('answer.json', JSON.stringify(answer));
    expect(command.run('promise', 'answer.json', '--ledger-key', 'ledger.vkey', '--json').status).toBe(0);
    command.write('acceptance.json', JSON.stringify(answer.data));
    expect(command.run('promise', 'acceptance.json', '--ledger-key', 'ledger.vkey').status).toBe(0);
    expect(check('honest.zip', ['acceptance.json']).outcomes).toEqual(check('honest.zip', ['answer.json']).outcomes);
  });

  it('ends with 1 for a forged one, 3 without a key and 2 for another file', () => {
    command.write('forged.json', JSON.stringify({ ...promise(first, first.createdAt), index: 1 }));
    expect(command.run('promise', 'forged.json', '--ledger-key', 'ledger.vkey').status).toBe(1);
    expect(command.run('promise', 'promise.json').status).toBe(3);
    command.write('null.json', JSON.stringify({ message: '', data: { promise: null } }));
    expect(command.run('promise', 'null.json').status).toBe(2);
  });
});

describe('consent-verify check --promise', () => {
  it('does not cover a promise by a batch whose header has an unknown version', () => {
    const unread: PackageHooks = {
      batchLines: (lines) => lines.map((line, number) => ({ ...line, header: JSON.stringify({ number, v: 2 }) })),
    };
    for (const [name, hooks] of Object.entries({ kept: unread, broken: { ...withOther, ...unread } })) {
      command.write(`${name}.zip`, buildPackage(authority, hooks));
      const { report, outcomes } = check(`${name}.zip`, ['promise.json']);
      expect(report.verdict).toBe('indeterminate');
      expect(outcomes).toEqual(['not-covered']);
    }
  });

  it('finds a kept promise', () => {
    const { report, outcomes, status } = check('honest.zip', ['promise.json']);
    expect(outcomes).toEqual(['kept']);
    expect({ verdict: report.verdict, status }).toEqual({ verdict: check('honest.zip', []).report.verdict, status: 0 });
  });

  it('proves that a record is missing from a whole site', () => {
    const { report, outcomes, status, stderr } = check(
      'without.zip',
      ['promise.json'],
      '--contradiction',
      'missing.json',
    );
    expect(check('without.zip', []).report.verdict).toBe('valid');
    expect(outcomes).toEqual(['broken']);
    expect({ verdict: report.verdict, status }).toEqual({ verdict: 'invalid', status: 1 });
    const failed = report.checks.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id);
    expect(failed).toEqual(['promise.kept']);
    expect(existsSync(join(command.folder, 'missing.json'))).toBe(false);
    expect(stderr).toContain('the promise and the package together are the proof');
  });

  it('proves that another record was sealed, in a file that others can confirm', () => {
    const { report, outcomes } = check('other.zip', ['promise.json'], '--contradiction', 'breach.json');
    expect(outcomes).toEqual(['broken']);
    expect(report.promises[0]?.contradicted).toBe(true);
    const confirmed = command.run('check-contradiction', 'breach.json', '--ledger-key', 'ledger.vkey');
    expect(confirmed).toMatchObject({ status: 0, stderr: '' });
    expect(confirmed.stdout).toContain('PROVED');
    const proof = z.looseObject({}).parse(JSON.parse(readFileSync(join(command.folder, 'breach.json'), 'utf8')));
    command.write(
      'swapped.json',
      JSON.stringify({ ...proof, promise: promise({ ...first, eventId: siteId }, first.createdAt) }),
    );
    expect(command.run('check-contradiction', 'swapped.json', '--ledger-key', 'ledger.vkey').status).toBe(1);
    expect(check('honest.zip', [], '--contradiction', 'none.json').status).toBe(0);
  });

  it('does not accuse a ledger of a record that is not due, or that the package does not cover', () => {
    const created = '2026-05-31T23:55:00.000Z';
    const late = promise({ ...first, eventId: siteId, createdAt: created }, timeAfter(created, 10 * MINUTE));
    command.write('later.json', JSON.stringify(late));
    const elsewhere = consentsStream('00000000-0000-4000-8000-000000000000');
    command.write('elsewhere.json', JSON.stringify(promise({ ...first, eventId: siteId }, first.createdAt, elsewhere)));
    expect(check('honest.zip', ['later.json', 'elsewhere.json']).outcomes).toEqual(['not-due', 'not-covered']);
    expect(check('honest.zip', ['later.json']).status).toBe(0);
    expect(check('honest.zip', ['elsewhere.json']).status).toBe(3);
  });

  it('states in its first line that a promised record is overdue', () => {
    const created = '2026-05-31T12:00:00.000Z';
    const overdue = promise({ ...first, eventId: siteId, createdAt: created }, timeAfter(created, 10 * MINUTE));
    command.write('overdue.json', JSON.stringify(overdue));
    expect(check('honest.zip', ['overdue.json'])).toMatchObject({ outcomes: ['overdue'], status: 3 });
    const trust = ['--ledger-key', 'ledger.vkey', '--tsa-ca', 'root.der', '--at', '2026-06-01'];
    const [line = ''] = command.run('check', 'honest.zip', '--promise', 'overdue.json', ...trust).stdout.split('\n');
    expect(line).toMatch(/^INDETERMINATE, .* a promised record is overdue/);
  });

  it('holds a promise against the policy: a longer one gains no time', () => {
    const long = promise({ ...first, eventId: siteId }, timeAfter(first.createdAt, 2880 * MINUTE));
    command.write('long.json', JSON.stringify(long));
    expect(check('honest.zip', ['long.json'])).toMatchObject({ outcomes: ['broken'], status: 1 });
  });

  it('does not evaluate a forged promise, nor a package that fails other checks', () => {
    command.write('forged.json', JSON.stringify({ ...promise(first, first.createdAt), size: 3 }));
    expect(check('without.zip', ['forged.json'])).toMatchObject({ outcomes: ['not-verified'], status: 3 });
    command.write('cut.zip', buildPackage(authority, { entryLines: (lines) => lines.slice(1) }));
    expect(check('cut.zip', ['promise.json']).outcomes).toEqual(['not-covered']);
  });

  it('believes no promise for a time that no policy allows', () => {
    const far = promise({ ...first, eventId: siteId }, timeAfter(first.createdAt, 2881 * MINUTE));
    command.write('far.json', JSON.stringify(far));
    expect(check('honest.zip', ['far.json'])).toMatchObject({ outcomes: ['not-verified'], status: 3 });
  });

  it('reports a record that was sealed after the promised time', () => {
    expect(check('deferred.zip', ['promise.json'])).toMatchObject({ outcomes: ['late'], status: 3 });
  });
});

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'verifier-cli/by-hand/verify.py --promise'),
  () => {
    const promised = (createdAt: string) =>
      promise({ ...first, eventId: siteId, createdAt }, timeAfter(createdAt, 10 * MINUTE));

    it.each<[string, string, () => object, string, number]>([
      ['honest.zip', 'kept', () => promise(first, timeAfter(first.createdAt, 10 * MINUTE)), 'kept', 0],
      [
        'without.zip',
        'missing',
        () => promise(first, timeAfter(first.createdAt, 10 * MINUTE)),
        'does not hold the record',
        1,
      ],
      [
        'other.zip',
        'changed',
        () => promise(first, timeAfter(first.createdAt, 10 * MINUTE)),
        'holds another record',
        1,
      ],
      ['deferred.zip', 'late', () => promise(first, timeAfter(first.createdAt, 10 * MINUTE)), 'kept late', 3],
      ['honest.zip', 'later', () => promised(VERIFIED_AT.toISOString()), 'not due', 0],
      ['honest.zip', 'overdue', () => promised(timeAfter(VERIFIED_AT.toISOString(), -60 * MINUTE)), 'overdue', 3],
      [
        'honest.zip',
        'long',
        () => promise({ ...first, eventId: siteId }, timeAfter(first.createdAt, 2880 * MINUTE)),
        'does not hold the record',
        1,
      ],
      [
        'honest.zip',
        'elsewhere',
        () =>
          promise(
            { ...first, eventId: siteId },
            first.createdAt,
            consentsStream('00000000-0000-4000-8000-000000000000'),
          ),
        'not covered',
        3,
      ],
      ['without.zip', 'false', () => ({ ...promise(first, first.createdAt), size: 3 }), 'not verified', 3],
    ])('of %s, a promise that is %s: %s', (zip, name, make, printed, expected) => {
      const path = (file: string) => join(command.folder, file);
      const pem = Buffer.from(authority.root.der).toString('base64');
      command.write('root.pem', `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
      command.write(`${name}.json`, JSON.stringify(make()));
      const more = ['--promise', path(`${name}.json`)];
      const run = verifyByHand([path(zip)], VERIFIED_AT, path('ledger.vkey'), path('root.pem'), more);
      expect(run).toMatchObject({ status: expected, stderr: '' });
      expect(run.stdout).toContain(printed);
    });
  },
);

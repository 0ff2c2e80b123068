import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnknownFormatVersion } from '../../verifier-cli/src/index.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { sampled } from '../support/sweeps.js';
import { hasPython, startVerifyingByHand, type Verdict, verdictsOf, verifyByHand } from './by-hand.js';
import { FORGERIES } from './dishonest-operator/all-forgeries.js';
import { choose, type Draft, draftOf } from './dishonest-operator/export.js';
import { FORGED_PROMISES } from './dishonest-operator/forged-promises.js';
import { LOWERED, LOWERED_AND_TRUSTED, SECOND_AUTHORITY } from './dishonest-operator/forged-quorum.js';
import { Forge } from './dishonest-operator/forgery.js';
import { REQUESTS } from './dishonest-operator/honest-requests.js';
import { at, hex, sha256 } from './dishonest-operator/primitives.js';
import { drawing, randomlyChanged } from './dishonest-operator/random-changes.js';
import { bent, type ReceiptOptions, receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestLedger, honestPackage, VERIFIED_AT, verdictOf } from './dishonest-operator/verification.js';
import { consentId, eventOf, makePlan, WORLDS } from './dishonest-operator/world.js';

/*
 * Two verifiers that share no code, and an operator that shares none with either. The one in TypeScript
 * is held against the expected verdicts by forgeries.large.test.ts and honest-packages.test.ts.
 */

const authority = new TimeAuthority();

const CHANGED = 150;

interface Case {
  readonly name: string;
  readonly expected: Verdict;
  readonly zip: () => Uint8Array;
}

function* honest(): Generator<Case> {
  for (const [world, options] of Object.entries(WORLDS)) {
    const ledger = honestLedger(options, authority);
    for (const [what, request] of Object.entries(REQUESTS))
      yield { name: `honest, ${what} (${world})`, expected: 'valid', zip: () => honestPackage(ledger, request) };
    for (const { size } of ledger.plan.stamps.slice(1))
      yield { name: `honest, as of ${size} (${world})`, expected: 'valid', zip: () => honestPackage(ledger, {}, size) };
  }
}

function* forged(): Generator<Case> {
  const forge = new Forge(authority);
  // The script is run as its readers run it, without demands of their own.
  for (const forgery of FORGERIES.filter(({ options }) => options === undefined))
    yield {
      name: `${forgery.point}: ${forgery.name} (${forgery.check})`,
      expected: forgery.verdict,
      zip: () => forge.make(forgery).zip,
    };
}

function* receipts(): Generator<Case> {
  const ledger = honestLedger(WORLDS.small, authority);
  const label = 'alice 3';
  const { site_config_hash: configuration, document_hash: text } = eventOf(ledger.plan, label).record;
  const without = (hash: unknown): ReceiptOptions => ({
    draft: (draft: Draft) => void draft.files.delete(`notices/${String(hash)}`),
  });
  const opening = (change: (person: { id: string; n: number }) => object): ReceiptOptions =>
    bent(label, ({ person }) => Object.assign(person ?? {}, change(person ?? { id: '', n: 0 })));
  const table: readonly (readonly [name: string, options: ReceiptOptions, expected: Verdict])[] = [
    ['that opens its person tag', {}, 'valid'],
    ['with all values', { disclose: 'all' }, 'valid'],
    ['without values', { disclose: 'none' }, 'valid'],
    ['without the file of the configuration', without(configuration), 'valid'],
    ['without the file of the text', without(text), 'invalid'],
    ['that names the person and opens nothing', bent(label, (line) => delete line.person), 'indeterminate'],
    ['that opens a tag and names nobody', bent(label, (line) => Object.assign(line, { disclosures: [] })), 'invalid'],
    ['with another id', opening(() => ({ id: hex(sha256('id of nobody')) })), 'invalid'],
    ['with the number before', opening(({ n }) => ({ n: n - 1 })), 'invalid'],
    ['with the number after', opening(({ n }) => ({ n: n + 1 })), 'invalid'],
    ['with a number above the revision', opening(() => ({ n: 1000 })), 'invalid'],
  ];
  for (const [name, options, expected] of table)
    yield { name: `receipt ${name}`, expected, zip: () => receiptOf(ledger, label, options) };
}

function* lowered(): Generator<Case> {
  const forge = new Forge(authority);
  for (const [name, { plan, draft }] of Object.entries(LOWERED)) {
    const forgery = { point: '', name, plan, draft, check: 'time.stamped', verdict: 'invalid' } as const;
    for (const request of [{}, { person: 'alice' }])
      yield { name, expected: 'valid', zip: () => forge.make({ ...forgery, request }).zip };
    yield { name, expected: 'valid', zip: () => forge.make({ ...forgery, receipt: { label: 'alice 4' } }).zip };
  }
  for (const forgery of LOWERED_AND_TRUSTED)
    yield { name: forgery.name, expected: forgery.verdict, zip: () => forge.make(forgery).zip };
}

const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'verifier-cli/by-hand/verify.py'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-dishonest-'));
    const cases = [...honest(), ...receipts(), ...sampled('forgeries by hand', [...forged()])];
    const fileOf = (index: number): string => join(folder, `${index}.zip`);

    beforeAll(() => {
      writeFileSync(join(folder, 'root.pem'), pem(authority.anchor));
      writeFileSync(join(folder, 'roots.pem'), pem(authority.anchor) + pem(SECOND_AUTHORITY.anchor));
      writeFileSync(join(folder, 'ledger.key'), `${makePlan(WORLDS.small).keys.first.line}\n`);
      for (const [index, { zip }] of cases.entries()) writeFileSync(fileOf(index), zip());
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    async function verdictsOn(files: readonly string[], roots = 'root.pem'): Promise<readonly string[]> {
      const half = Math.ceil(files.length / 2);
      const [key, root] = [join(folder, 'ledger.key'), join(folder, roots)];
      const outputs = await Promise.all(
        [files.slice(0, half), files.slice(half)].map((some) => startVerifyingByHand(some, VERIFIED_AT, key, root)),
      );
      return outputs.flatMap(verdictsOf);
    }

    test(`the script agrees about ${cases.length} packages of an honest and a dishonest operator`, async () => {
      const found = await verdictsOn([...cases.keys()].map(fileOf));
      expect(found).toHaveLength(cases.length);
      const disagreements = cases.flatMap(({ name, expected }, index) =>
        found[index] === expected ? [] : [{ name, expected, found: found[index] }],
      );
      expect(disagreements).toEqual([]);
    });

    test('the script counts distinct authorities, and a lowered number only when it counts', async () => {
      const made = [...lowered()];
      const path = (index: number): string => join(folder, `lowered-${index}`);
      for (const [index, { zip }] of made.entries()) writeFileSync(path(index), zip());
      const found = await verdictsOn([...made.keys()].map(path), 'roots.pem');
      expect(made.map(({ name }, index) => [name, found[index]])).toEqual(
        made.map(({ name, expected }) => [name, expected]),
      );
    });

    test('the script judges a dropped record by the policy that held for its promise', () => {
      const forge = new Forge(authority);
      const broken = FORGED_PROMISES.filter(({ name, verdict }) => name.includes('dropped') && verdict === 'invalid');
      expect(broken.length).toBeGreaterThan(3);
      for (const [index, forgery] of broken.entries()) {
        const { zip, options } = forge.make(forgery);
        const file = join(folder, `promised-${index}`);
        writeFileSync(file, zip);
        const given = (options.promises ?? []).flatMap(({ promise }, n) => {
          writeFileSync(`${file}-${n}.json`, JSON.stringify(promise));
          return ['--promise', `${file}-${n}.json`];
        });
        const [key, root] = [join(folder, 'ledger.key'), join(folder, 'root.pem')];
        const { stdout, status } = verifyByHand([file], VERIFIED_AT, key, root, given);
        expect([forgery.name, status]).toEqual([forgery.name, 1]);
        expect(stdout).toContain('NOT CONFIRMED: ');
        expect(stdout).toContain('the promise is broken');
      }
    });

    test(`both verifiers agree about ${CHANGED} packages that were changed at random before they were signed`, async () => {
      const requests = [{}, { person: 'alice' }, { person: 'carol' }, { eventIds: [consentId('bob 1')] }];
      const ledgers = [WORLDS.small, WORLDS.rotated].map((world) => honestLedger(world, authority));
      const indexes = Array.from({ length: CHANGED }, (_, index) => index);
      const made = sampled('packages changed at random', indexes).map((index) => {
        const draw = drawing(2026 + index);
        const ledger = at(ledgers, draw(ledgers.length));
        const request = at(requests, draw(requests.length));
        const { name, zip } = randomlyChanged(draftOf(ledger, request, choose(ledger, request)), draw);
        writeFileSync(join(folder, `changed-${index}.zip`), zip);
        return { index, name, zip, plan: ledger.plan };
      });
      const found = await verdictsOn(made.map(({ index }) => join(folder, `changed-${index}.zip`)));
      const disagreements = [];
      for (const [place, { name, zip, plan }] of made.entries()) {
        const verdict = await verdictOf(zip, plan, authority).catch((error: unknown) => {
          if (error instanceof UnknownFormatVersion) return 'indeterminate';
          throw error;
        });
        const expected = verdict === 'no package' ? 'invalid' : verdict;
        if (found[place] !== expected) disagreements.push({ name, expected, found: found[place] });
      }
      expect(disagreements).toEqual([]);
    });
  },
);

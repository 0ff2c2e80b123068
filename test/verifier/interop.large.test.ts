import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { decodeUtf8 } from '../../schemas/crypto/encoding.js';
import { SignedPromise } from '../../schemas/evidence/promise.js';
import { parseVerifierKey } from '../../schemas/evidence/signed-note.js';
import { memorySource, NotAPackage, UnknownFormatVersion, verifyPackage } from '../../verifier-cli/src/index.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { sampled } from '../support/sweeps.js';
import { hasPython, resultsOf, type ScriptResult, verifyByHand } from './by-hand.js';
import { drawing } from './dishonest-operator/random-changes.js';
import { type InteropCase, interopCases } from './interop/interop-cases.js';
import { type Mutated, mutation } from './interop/mutations.js';
import { forgedCases, statedCases } from './interop/other-cases.js';

/*
 * The command and the script share no code. Each case of `interop/`, and each mutation of one, must have one
 * verdict, and what the script calls wrong must be wrong for the command.
 */

const CASES = fileURLToPath(new URL('../../interop', import.meta.url));
const cases = interopCases(CASES);
const AUDITOR = fileURLToPath(new URL('../../verifier-cli/by-hand/audit_structure.py', import.meta.url));
const MUTATIONS = 5000;

/** A case with the promises that its package is held against. */
type Judged = InteropCase & { readonly promises?: readonly unknown[] };

const byScript = ({ notByScript, maxDelayMs, maxAgeMs, requireStamps, tsaCa, ledgerKeys }: InteropCase): boolean =>
  notByScript === null &&
  maxDelayMs === null &&
  maxAgeMs === null &&
  requireStamps === 1 &&
  tsaCa.length > 0 &&
  ledgerKeys.length > 0;

/** What the command finds. */
async function foundByCommand({ zip, tsaCa, ledgerKeys, at, promises = [] }: Judged) {
  try {
    const keys = ledgerKeys.map((line) => parseVerifierKey(line)).filter((key) => key !== null);
    const given = promises.map((promise) => ({ file: 'promise', promise: SignedPromise.parse(promise) }));
    const report = await verifyPackage(memorySource(zip), {
      trustAnchors: tsaCa,
      ledgerKeys: keys,
      at,
      promises: given,
    });
    return {
      verdict: report.verdict,
      failed: report.checks.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id),
    };
  } catch (error) {
    if (error instanceof NotAPackage) return { verdict: 'no package', failed: [] };
    if (error instanceof UnknownFormatVersion) return { verdict: 'indeterminate', failed: [] };
    throw error;
  }
}

function pem(ders: readonly Uint8Array[]): string {
  const body = (der: Uint8Array) => Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n');
  return ders.map((der) => `-----BEGIN CERTIFICATE-----\n${body(der)}\n-----END CERTIFICATE-----\n`).join('');
}

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'verifier-cli/by-hand/verify.py'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-interop-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** What the script finds, in the order of the cases. It runs once for those with the same trust. */
    function foundByScript(some: readonly Judged[]): readonly ScriptResult[] {
      const found = new Map<Judged, ScriptResult>();
      const trustOf = ({ tsaCa, ledgerKeys, at, promises = [] }: Judged) =>
        `${pem(tsaCa)}${ledgerKeys.join()}${at.toISOString()}${JSON.stringify(promises)}`;
      const groups = new Map<string, Judged[]>();
      for (const one of some) groups.set(trustOf(one), [...(groups.get(trustOf(one)) ?? []), one]);
      for (const group of groups.values()) {
        const { tsaCa, ledgerKeys, at, promises = [] } = group[0] ?? {};
        const [roots, keys] = [join(folder, 'roots.pem'), join(folder, 'ledger.keys')];
        writeFileSync(roots, pem(tsaCa ?? []));
        writeFileSync(keys, (ledgerKeys ?? []).map((line) => `${line}\n`).join(''));
        const paths = group.map((_, index) => join(folder, `${index}`));
        for (const [index, { zip }] of group.entries()) writeFileSync(paths[index] ?? '', zip);
        const held = promises.flatMap((promise, i) => {
          const path = join(folder, `promise-${i}.json`);
          writeFileSync(path, JSON.stringify(promise));
          return ['--promise', path];
        });
        const { stdout, stderr } = verifyByHand(paths, at ?? new Date(), keys, roots, held);
        expect(stderr).toBe('');
        const results = resultsOf(stdout, paths);
        for (const [index, one] of group.entries())
          found.set(one, results[index] ?? { verdict: 'no verdict', check: null, text: '' });
      }
      return some.map((one) => found.get(one) ?? { verdict: 'no verdict', check: null, text: '' });
    }

    /** The cases about which the two say different things. */
    async function differencesOf(some: readonly Judged[], names: readonly string[]) {
      const scripts = foundByScript(some);
      const differences = [];
      for (const [index, one] of some.entries()) {
        const command = await foundByCommand(one);
        const { verdict, check, text } = scripts[index] ?? { verdict: 'no verdict', check: null, text: '' };
        // The script has openssl evaluate a time stamp as a whole.
        const isNamed =
          check === null || command.failed.some((id) => id === check || (check === 'tst' && id.startsWith('tst.')));
        if (command.verdict !== verdict || !isNamed) differences.push({ name: names[index], command, script: text });
      }
      return differences;
    }

    test('both verifiers say the same of the cases, and what the index says', async () => {
      const always = cases.filter(({ group }) => group === 'where verifiers differed');
      const rest = sampled(
        'attacks by hand',
        cases.filter((one) => !always.includes(one)),
      );
      const made = [...always, ...rest].map(({ make }) => make()).filter(byScript);
      expect(made.length).toBeGreaterThan(50);
      expect(
        await differencesOf(
          made,
          made.map(({ file }) => file),
        ),
      ).toEqual([]);
      for (const one of made.filter(({ group }) => group === 'where verifiers differed')) {
        const { verdict, failed } = await foundByCommand(one);
        expect([one.file, verdict]).toEqual([one.file, one.verdict]);
        if (one.outcome === 'fail') expect([one.file, ...failed]).toContain(one.check);
      }
    });

    test('both verifiers say the same of receipts, promises and policies, and what the index says', async () => {
      const some = sampled('attacks by hand', forgedCases(CASES), 'forged ');
      const made = some.map(({ make, ...one }): Judged => {
        const { bytes, promises } = make();
        const unlimited = { maxDelayMs: null, maxAgeMs: null, requireStamps: 1, notByScript: null };
        return { ...one, ...unlimited, contentSha256: '', zip: bytes, promises };
      });
      expect(
        await differencesOf(
          made,
          made.map(({ file }) => file),
        ),
      ).toEqual([]);
      for (const one of made) {
        const { verdict, failed } = await foundByCommand(one);
        expect([one.file, verdict]).toEqual([one.file, one.verdict]);
        if (one.outcome === 'fail') expect([one.file, ...failed]).toContain(one.check);
      }
    });

    test('both auditors say the same of published structures', async () => {
      const some = statedCases(CASES).filter(({ group }) => group === 'structures');
      const roots: string[] = [];
      for (const { make, file } of some) {
        const { files } = z
          .object({ files: z.record(z.string(), z.string()) })
          .parse(JSON.parse(`${decodeUtf8(await make())}`));
        const root = join(folder, file);
        roots.push(root);
        for (const [path, content] of Object.entries(files)) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), Buffer.from(content, 'base64'));
        }
      }
      const key = join(folder, 'structure.key');
      writeFileSync(key, `${some[0]?.ledgerKeys[0]}\n`);
      const { stdout, stderr } = spawnSync('python3', [AUDITOR, ...roots, '--ledger-key', key], { encoding: 'utf8' });
      expect(stderr).toBe('');
      const verdicts = [...stdout.matchAll(/^(NOT )?CONFIRMED: /gm)].map(([, not]) => (not ? 'violation' : 'sound'));
      expect(some.map(({ title }, i) => `${title}: ${verdicts[i]}`)).toEqual(
        some.map(({ title, verdict }) => `${title}: ${verdict}`),
      );
    });

    test('both verifiers say the same of mutations of the cases', async () => {
      const seeds = sampled(
        'mutations of interop cases',
        Array.from({ length: MUTATIONS }, (_, seed) => seed),
      );
      const usable = cases.filter(({ group }) => group !== 'container and manifest');
      const names: string[] = [];
      const made = seeds.flatMap((seed) => {
        const draw = drawing(70_000 + seed);
        const did: Mutated = { name: '' };
        const one = usable[draw(usable.length)]?.make(mutation(draw, did));
        if (one === undefined || !byScript(one)) return [];
        names.push(`${seed}: ${one.file}: ${did.name}`);
        return [one];
      });
      expect(made.length).toBeGreaterThan(seeds.length / 2);
      expect(await differencesOf(made, names)).toEqual([]);
    });
  },
);

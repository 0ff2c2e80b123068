import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import type { Attack } from '../attacks/attack.js';
import { FORGERIES } from '../dishonest-operator/all-forgeries.js';
import { Forge, type Forgery } from '../dishonest-operator/forgery.js';
import { type Ledger, makeLedger } from '../dishonest-operator/ledger.js';
import { promiseOf } from '../dishonest-operator/promise.js';
import { publicationOf } from '../dishonest-operator/publication.js';
import { receiptOf } from '../dishonest-operator/receipt.js';
import { addPolicy, STRUCTURE_LIES } from '../dishonest-operator/structure-lies.js';
import { honestPackage, VERIFIED_AT } from '../dishonest-operator/verification.js';
import { makePlan, WORLDS } from '../dishonest-operator/world.js';
import { auditFiles } from '../network/audit-files.js';
import { fixedTimeAuthority } from './fixed-authority.js';
import { slug } from './slug.js';

/** A file that is made, with the trust by which it is judged. */
interface Judged {
  readonly group: string;
  readonly title: string;
  /** Path in the folder of the cases. */
  readonly file: string;
  readonly tsaCa: readonly Uint8Array[];
  readonly ledgerKeys: readonly string[];
  readonly at: Date;
}

/** A receipt, or a package that is not made by the builder of the other packages. */
export interface ForgedCase extends Judged {
  readonly check: Attack['catches'];
  readonly outcome: Attack['outcome'];
  readonly verdict: Attack['verdict'];
  readonly make: () => { readonly bytes: Uint8Array; readonly promises: readonly unknown[] };
}

/** A contradiction proof: `proved` or `not proved`; or a published structure: `sound` or `violation`. */
export interface StatedCase extends Judged {
  readonly verdict: 'proved' | 'not proved' | 'sound' | 'violation';
  readonly make: () => Promise<Uint8Array>;
}

/** Options of a forgery that a case can state. */
const STATED = new Set(['promises']);

/** Receipts, promises and policies. @param folder of the cases, with its keys */
export function forgedCases(folder: string): readonly ForgedCase[] {
  const authority = fixedTimeAuthority(folder);
  const forge = new Forge(authority);
  const trust = { tsaCa: [authority.anchor], at: VERIFIED_AT };
  const small = makePlan(WORLDS.small);
  const honest = (group: string, title: string, make: ForgedCase['make'], ending = 'json'): ForgedCase => ({
    group,
    title,
    file: `packages/${slug(group)}/${slug(title)}.${ending}`,
    ...trust,
    check: null,
    outcome: 'pass',
    verdict: 'valid',
    ledgerKeys: [small.keys.first.line],
    make,
  });
  const ledger = makeLedger(small, authority);
  const used = new Map<string, number>();
  /** Forgeries of one name are told apart by a number. */
  const fileOf = (group: string, title: string, ending: string): string => {
    const name = `packages/${slug(group)}/${slug(title)}`;
    used.set(name, (used.get(name) ?? 0) + 1);
    const count = used.get(name) ?? 1;
    return `${name}${count > 1 ? `-${count}` : ''}.${ending}`;
  };
  const forged = FORGERIES.flatMap((forgery): ForgedCase[] => {
    const group = groupOf(forgery);
    const { plan, options } = group === null ? { plan: small, options: { none: 1 } } : forge.make(forgery);
    if (group === null || Object.keys(options).some((name) => !STATED.has(name))) return [];
    const ending = forgery.receipt === undefined ? 'zip' : 'json';
    return [
      {
        group,
        title: forgery.name,
        file: fileOf(group, forgery.name, ending),
        ...trust,
        check: forgery.check,
        outcome: forgery.verdict === 'invalid' ? 'fail' : 'indeterminate',
        verdict: forgery.verdict,
        ledgerKeys: [plan.keys.first.line],
        make: () => {
          const { zip, options: given } = forge.make(forgery);
          return { bytes: zip, promises: (given.promises ?? []).map(({ promise }) => promise) };
        },
      },
    ];
  });
  return [
    honest('receipts', 'a receipt', () => ({ bytes: receiptOf(ledger, 'alice 2'), promises: [] })),
    honest('promises', 'a promise that was kept, in a receipt', () => ({
      bytes: receiptOf(ledger, 'alice 2'),
      promises: [promiseOf(small, 'alice 2')],
    })),
    honest(
      'promises',
      'a promise that was kept, in a package',
      () => ({ bytes: honestPackage(ledger, {}), promises: [promiseOf(small, 'alice 1')] }),
      'zip',
    ),
    ...forged,
  ];
}

/** The group of a forgery among the cases; null: none. */
function groupOf({ point, receipt }: Forgery): string | null {
  if (point === 'policies' || point === 'promises') return point;
  return receipt === undefined ? null : 'receipts';
}

/** Contradiction proofs and published structures. @param folder of the cases, with its keys */
export function statedCases(folder: string): readonly StatedCase[] {
  const authority = fixedTimeAuthority(folder);
  const honestPlan = makePlan(WORLDS.rolled);
  addPolicy(honestPlan);
  const honest = makeLedger(honestPlan, authority);
  const small = makeLedger(makePlan(WORLDS.small), authority);
  const lies = Object.entries(STRUCTURE_LIES).map(([title, { plan: change, lies: told }]) => {
    const plan = makePlan(WORLDS.rolled);
    change?.(plan);
    return { title, ledger: makeLedger(plan, authority, told) };
  });
  const about = (group: string, title: string, { plan }: Ledger) => ({
    group,
    title,
    file: `${group}/${slug(title)}.json`,
    tsaCa: [],
    ledgerKeys: [plan.keys.first.line],
    at: VERIFIED_AT,
  });
  const structure = (
    title: string,
    ledger: Ledger,
    verdict: StatedCase['verdict'],
    change: (files: Map<string, Uint8Array>) => void = () => undefined,
  ): StatedCase => ({
    ...about('structures', title, ledger),
    verdict,
    make: async () => {
      const files = publicationOf(ledger);
      change(files);
      return structureFile(files);
    },
  });
  const altered = (name: string) => (files: Map<string, Uint8Array>) =>
    void files.set(name, files.get(name)?.toReversed() ?? new Uint8Array());
  const proof = (ledger: Ledger, title: string, change?: (proof: object) => object): StatedCase => ({
    ...about('contradictions', title, ledger),
    verdict: change === undefined ? 'proved' : 'not proved',
    make: async () => {
      const found = await proofOf(ledger);
      return utf8(`${JSON.stringify(change === undefined ? found : change(found))}\n`);
    },
  });
  // Its proof is short.
  const first = lies.find(({ title }) => title === 'a run that repeats revisions');
  return [
    structure('a small ledger', small, 'sound'),
    structure('a ledger with roll-ups', honest, 'sound'),
    structure('an altered tile of hashes', small, 'violation', altered('log/tile/0/000.p/16')),
    structure('an altered header', small, 'violation', altered('log/tile/entries/000.p/16')),
    structure('an altered file of a leaf', small, 'violation', altered('log/structure/005')),
    structure(
      'a file of a leaf that is missing',
      small,
      'violation',
      (files) => void files.delete('log/structure/005'),
    ),
    ...lies.map(({ title, ledger }) => structure(title, ledger, 'violation')),
    ...lies.map(({ title, ledger }) => proof(ledger, title)),
    ...(first === undefined
      ? []
      : [
          proof(first.ledger, 'a proof whose kind is another', (found) => ({ ...found, kind: 'headers' })),
          proof(first.ledger, 'a proof of a header that is not in the ledger', (found) =>
            JSON.parse(JSON.stringify(found).replace('\\"number\\":', '\\"number\\":1')),
          ),
        ]),
  ];
}

/** The files of a published structure as one JSON: base64 by path below `/checkpoints/`. */
function structureFile(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const content = Object.fromEntries([...files].map(([path, bytes]) => [path, toBase64(bytes)]));
  return utf8(`${JSON.stringify({ format: 'consent-ledger-structure', version: 1, files: content })}\n`);
}

/** The proof that the auditor of the structure makes. */
async function proofOf(ledger: Ledger): Promise<object> {
  const state = mkdtempSync(join(tmpdir(), 'consent-interop-audit-'));
  try {
    const audit = await auditFiles(ledger, publicationOf(ledger), state);
    if (audit.outcome !== 'contradiction' || audit.contradiction === null) throw new Error('the lie has no proof');
    return audit.contradiction;
  } finally {
    rmSync(state, { recursive: true });
  }
}

/** SHA-256 of a file, in hex. */
export const digestOf = (bytes: Uint8Array): string => toHex(sha256(bytes));

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Contradiction, type ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import { verifyContradiction } from '../../../verifier-cli/src/compare/contradiction.js';
import { readAuditState } from '../../../verifier-cli/src/network/structure/audit-state.js';
import { LookLimit } from '../../../verifier-cli/src/network/structure/look-limit.js';
import { FORGERIES } from '../dishonest-operator/all-forgeries.js';
import { FORGED_STRUCTURE } from '../dishonest-operator/forged-structure.js';
import { Forge, type Forgery } from '../dishonest-operator/forgery.js';
import { makeLedger } from '../dishonest-operator/ledger.js';
import { publicationOf } from '../dishonest-operator/publication.js';
import { TimeAuthority } from '../dishonest-operator/time-authority.js';
import { VERIFIED_AT } from '../dishonest-operator/verification.js';
import { makePlan, WORLDS } from '../dishonest-operator/world.js';
import { type AuditFilesOptions, auditFiles, keysOf } from './audit-files.js';

/*
 * Each forgery whose lie is in the ledger itself is published, and the auditor of the structure looks at
 * it. It has no package. Its proof must convince `check-contradiction`.
 */

/**
 * Finding of the auditor: `sound`, the kind of its proof, or `unprovable`. No structure file can state
 * runs that do not tile a leaf, or fewer records than the header counts: the auditor then finds that the
 * operator does not publish what its header commits to.
 */
type Found = 'sound' | 'unprovable' | 'newer' | ContradictionFile['kind'];

const forge = new Forge(new TimeAuthority());

async function foundIn(forgery: Forgery): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'structural-forgeries-'));
  try {
    const ledger = forge.ledgerOf(forgery);
    const audit = await auditFiles(ledger, publicationOf(ledger), folder);
    if (audit.outcome === 'sound') return 'sound';
    if (audit.outcome === 'undecided') {
      expect(audit.statement).toMatch(/a header of version \d+, which this program does not know/);
      return 'newer';
    }
    if (audit.contradiction === null) {
      expect(audit.statement).toContain('no proof is possible, because the operator withholds what its roots state');
      return 'unprovable';
    }
    const proof = Contradiction.parse(JSON.parse(JSON.stringify(audit.contradiction)));
    expect(await verifyContradiction(proof, keysOf(ledger.plan), VERIFIED_AT), forgery.name).toMatchObject({
      outcome: 'proved',
    });
    return proof.kind;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lies about the structure, and how the auditor proves them. */
const PROVED: readonly (readonly [lie: string, found: Found])[] = [
  ['a roll-up cuts the end of the consents, in a package for the whole site', 'runs'],
  ['a roll-up cuts the end of the consents, in a package for event ids', 'runs'],
  ['a roll-up cuts the end of the consents, in a package for another person', 'runs'],
  ['a roll-up cuts the retirement of the text', 'runs'],
  ['a roll-up cuts the policy that demands two authorities', 'policies'],
  ['a batch after a roll-up takes up a revision again', 'runs'],
  ['a batch under a roll-up skips a revision that the next one has', 'absent'],
  ['the first roll-up begins the stream with revision 1', 'runs'],
  ['a roll-up lacks the stream of another site, which a batch under it has', 'unprovable'],
  ['a roll-up counts fewer entries than the batches under it', 'runs'],
  ['a roll-up counts fewer tags than the batches under it', 'leaves'],
  ['two runs of one stream are in one batch, of which one is shown', 'leaves'],
  ['a run hides the last leaf of the site before its notices', 'unprovable'],
  ['two records of a site have one tag', 'leaves'],
  ['two erasures have one tag in one batch', 'leaves'],
  ['a second erasure has the tag of the first one in the world small', 'leaves'],
  ['a second erasure has the tag of the first one in the world rolled', 'leaves'],
];

test.each(PROVED)('%s: %s', async (lie, found) => {
  const forgery = FORGED_STRUCTURE.find(({ name }) => name === lie);
  if (forgery === undefined) throw new RangeError('no such forgery');
  expect(await foundIn(forgery)).toBe(found);
});

/** Why what is published cannot show the other forgeries of this kind: the ledger is honest about its structure. */
const ONLY_IN_A_PACKAGE: readonly (readonly [lies: RegExp, reason: string])[] = [
  [/^(?:the leaf (?:before|after) )?(?:the )?run of .* is not shown$/, 'the package leaves out lines'],
  [/^a batch does not show /, 'the package leaves out lines'],
  [/^the manifest states /, 'the manifest lies about a salt that no published file has'],
  [/^two persons are mixed under one id/, 'the tags differ, and whose they are only a record discloses'],
  [/promised|promise/, 'the ledger never has the record, and the auditor does not have the promise'],
  [
    /^a package for a person|^one record of a person|^the package |^a receipt |^a package for a site /,
    'the ledger is honest',
  ],
];

test('every other forgery about the structure lies only in its package', async () => {
  const proved = new Set(PROVED.map(([lie]) => lie));
  for (const forgery of FORGED_STRUCTURE.filter(({ name }) => !proved.has(name))) {
    const reasons = ONLY_IN_A_PACKAGE.filter(([lies]) => lies.test(forgery.name));
    expect(reasons, forgery.name).not.toEqual([]);
    if (isSealed(forgery)) expect(await foundIn(forgery), forgery.name).toBe('sound');
  }
});

/** Whether the ledger of a forgery is another one than the honest one of its world. */
const isSealed = ({ plan, lies }: Forgery): boolean => plan !== undefined || lies !== undefined;

/** Lies that are told while a ledger is sealed, and that the structure does not have. */
const UNSEEN: readonly (readonly [lies: RegExp, reason: string])[] = [
  [/^an entry |^the entry |^an erasure has /, 'entries are not published'],
  [/^the batch of .* omits its tag/, 'which entry has which tag is not published'],
  [/^a header: root is another$/, 'entries are not published'],
  [/older stamp|later than its stamp/, 'responses of authorities are not published'],
  [/^a promised record was dropped/, 'the ledger never has the record'],
];

test('finds what the other forgeries lie about leaves, runs, tags and headers', async () => {
  const found: Partial<Record<Found, number>> = {};
  for (const forgery of FORGERIES) {
    if (forgery.lies === undefined || FORGED_STRUCTURE.includes(forgery)) continue;
    const kind = await foundIn(forgery);
    found[kind] = (found[kind] ?? 0) + 1;
    const isUnseen = UNSEEN.some(([lies]) => lies.test(forgery.name));
    if (kind === 'sound') expect(isUnseen, forgery.name).toBe(true);
  }
  expect(found).toEqual({
    absent: 5,
    header: 33,
    headers: 8,
    leaves: 7,
    policies: 10,
    runs: 18,
    unprovable: 20,
    sound: 30,
  });
});

test.each(['small', 'rolled', 'rotated'] as const)('an honest ledger is sound: %s', async (world) => {
  const forgery = FORGERIES.find((one) => one.world === world && !isSealed(one));
  if (forgery === undefined) throw new RangeError('no such forgery');
  expect(await foundIn(forgery)).toBe('sound');
});

describe('a header of a newer version', () => {
  const PLACE = 90;
  const clock = new TimeAuthority();
  /** The world with roll-ups, of which the header of one leaf is another one. */
  async function auditOf(change: object, folder: string, options: AuditFilesOptions = {}) {
    const ledger = makeLedger(makePlan(WORLDS.rolled), clock, {
      header: (header, number) => void (number === PLACE && Object.assign(header, change)),
    });
    return auditFiles(ledger, publicationOf(ledger), folder, options);
  }

  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });
  const newFolder = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'newer-headers-'));
    folders.push(folder);
    return folder;
  };

  test('is no lie: the audit ends before it, says what it reached, and proves nothing', async () => {
    const folder = await newFolder();
    const audit = await auditOf({ v: 2, more: true }, folder);
    expect(audit).toMatchObject({ outcome: 'undecided', contradiction: null });
    const { size } = (await readAuditState(folder, makePlan(WORLDS.rolled).keys.first.name)) ?? {};
    expect(size).toBe(PLACE);
    expect(audit).toMatchObject({ statement: expect.stringContaining(`audited up to ${PLACE} of `) });
    expect(audit).toMatchObject({ statement: expect.stringContaining('to the newest checkpoint never') });
  });

  test.each([
    ['of another place', { v: 2, number: PLACE + 1 }],
    ['with a version as text', { v: '2' }],
    ['with a fraction as version', { v: 2.5 }],
    ['of version 0', { v: 0 }],
  ])('%s is a lie', async (_, change) => {
    expect(await auditOf(change, await newFolder())).toMatchObject({ contradiction: { kind: 'header' } });
  });

  test('a first audit says that it advances, a later one does not', async () => {
    const folder = await newFolder();
    let advanced = 0;
    const options = {
      advanced: () => {
        advanced += 1;
      },
    };
    expect(await auditOf({}, folder, options)).toEqual({ outcome: 'sound' });
    expect(advanced).toBeGreaterThan(PLACE);
    advanced = 0;
    expect(await auditOf({}, folder, options)).toEqual({ outcome: 'sound' });
    expect(advanced).toBe(0);
  });
});

test('a look ends when its time is over, unless a first audit advances', () => {
  vi.useFakeTimers();
  try {
    const limit = new LookLimit(undefined, 1000);
    vi.advanceTimersByTime(900);
    limit.advance();
    vi.advanceTimersByTime(900);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(101);
    expect(limit.signal.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

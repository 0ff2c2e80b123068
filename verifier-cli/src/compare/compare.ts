import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { Contradiction, type ContradictionFile, ProvedAnnouncements } from '../../../schemas/evidence/contradiction.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { provedPrefixRoot } from '../../../schemas/merkle/verify-consistency.js';
import { type Finding, finding } from '../findings/finding.js';
import { isProvedExtension } from './consistency.js';
import { areProvedPersons, verifyContradiction } from './contradiction.js';
import { entryConflicts, proofOfEntry, type Tally } from './entry-conflict.js';
import type { History, NotedCheckpoint } from './history.js';
import { leafConflicts } from './leaf-conflict.js';
import { isSignedSide, type PersonFinding, personFindings, proofOfPerson } from './person-conflict.js';
import { structureConflicts } from './structure-conflict.js';

/** Result of a comparison. */
export interface Comparison {
  /**
   * `same` and `extends` prove that both sides are one history; `contradiction` proves that they are not.
   */
  readonly outcome: 'same' | 'extends' | 'contradiction' | 'indeterminate';
  readonly statement: Finding;
  /** The side that shows the longer history. Null if neither does, or if this is unknown. */
  readonly newer: 'a' | 'b' | null;
  /** Number of positions (stream and revision) that both packages show. */
  readonly entriesCompared: number;
  /**
   * The proof in its written form. Null if there is no contradiction, or if the two files together are the proof.
   */
  readonly contradiction: ContradictionFile | null;
}

type Proof = ContradictionFile extends infer T
  ? T extends unknown
    ? Omit<T, 'format' | 'version' | 'announcements'>
    : never
  : never;

/**
 * Compares what two packages or checkpoints show of one ledger.
 * @param keys keys of the ledger that the relying party trusts
 * @param proofs further consistency proofs
 * @param at time of verification
 */
export async function compareHistories(
  a: History,
  b: History,
  keys: readonly VerifierKey[],
  proofs: readonly ConsistencyLine[],
  at: Date,
): Promise<Comparison> {
  const unknown = (statement: Finding, compared = 0): Comparison => ({
    outcome: 'indeterminate',
    statement,
    newer: null,
    entriesCompared: compared,
    contradiction: null,
  });
  if (a.newest.origin !== b.newest.origin) {
    return unknown(finding('sides-of-other-ledgers', { first: a.newest.origin, second: b.newest.origin }));
  }
  if (keys.length === 0) return unknown(finding('comparison-without-key'));
  const all = [...proofs, ...a.proofs, ...b.proofs];
  const tally = { compared: 0 };
  const persons = await personFindings(a, b);
  for await (const proof of possibleProofs(a, b, all, tally, persons)) {
    const contradiction = withAnnouncements(proof, longer(a, b));
    const verdict = await verifyContradiction(Contradiction.parse(contradiction), keys, at);
    if (verdict.outcome === 'proved') {
      return {
        outcome: 'contradiction',
        statement: finding('ledger-contradicts-itself', { detail: verdict.statement }),
        newer: null,
        entriesCompared: tally.compared,
        contradiction,
      };
    }
  }
  const { compared } = tally;
  if (a.files?.work.isExceeded === true || b.files?.work.isExceeded === true)
    return unknown(finding('comparison-costs-too-much'), compared);
  for (const person of persons) {
    if (person.kind !== 'files' || !(await isProvedByFiles(person, keys, a, b, at))) continue;
    return {
      outcome: 'contradiction',
      statement: finding('files-contradict', { detail: person.statement }),
      newer: null,
      entriesCompared: compared,
      contradiction: null,
    };
  }
  if (!a.newest.isTrusted || !b.newest.isTrusted) return unknown(finding('side-of-other-key'), compared);
  const [older, newer] = a.newest.size <= b.newest.size ? [a, b] : [b, a];
  const known = [...a.checkpoints.values(), ...b.checkpoints.values()];
  if (!isProvedExtension(older.newest, newer.newest, known, all)) {
    return unknown(finding('sides-not-connected', { newer: newer.newest.size, older: older.newest.size }), compared);
  }
  // A finding without proof leaves the question of the persons open, although the history is the same.
  const open = persons.find(({ kind }) => kind === 'open') ?? persons[0];
  if (open !== undefined)
    return unknown(
      open.kind === 'open' ? finding('persons-not-compared', { detail: open.statement }) : finding('persons-disagree'),
      compared,
    );
  const isSame = older.newest.size === newer.newest.size;
  return {
    outcome: isSame ? 'same' : 'extends',
    statement: isSame
      ? finding('histories-same', { count: a.newest.size })
      : finding('history-extended', { newer: newer.newest.size, older: older.newest.size }),
    newer: isSame ? null : newer === a ? 'a' : 'b',
    entriesCompared: compared,
    contradiction: null,
  };
}

/**
 * Maximum number of differing entry pairs to try to prove, so that entries altered only in a package do not hide
 * differences in the ledger.
 */
const MAX_ENTRY_PROOFS = 100;

/** Looks for contradictions, simplest first. `verifyContradiction` decides whether one holds. */
async function* possibleProofs(
  a: History,
  b: History,
  proofs: readonly ConsistencyLine[],
  tally: Tally,
  persons: readonly PersonFinding[],
): AsyncGenerator<Proof, void> {
  const fork = forkedCheckpoints(a, b) ?? rewritten(a, b, proofs) ?? differentBatches(a, b);
  if (fork !== null) yield fork;
  if (a.files === null || b.files === null) return;
  for await (const pair of leafConflicts(a, b)) yield { kind: 'leaves', ...pair };
  let tried = 0;
  for await (const [one, other] of entryConflicts(a.files, b.files, tally)) {
    tried += 1;
    if (tried > MAX_ENTRY_PROOFS) continue;
    const first = await proofOfEntry(a, one);
    const second = await proofOfEntry(b, other);
    if (first !== null && second !== null) yield { kind: 'entries', first, second };
  }
  yield* structureConflicts(a, b);
  for (const { kind, records } of persons) {
    if (kind !== 'proof') continue;
    const [first, second, third] = await Promise.all(records.map(proofOfPerson));
    if (first == null || second == null || third === null) continue;
    yield { kind: 'persons', first, second, ...(third !== undefined && { third }) };
  }
}

/** Returns whether the records are sealed and both files are signed by a key that the ledger certified. */
async function isProvedByFiles(
  { records }: PersonFinding,
  keys: readonly VerifierKey[],
  a: History,
  b: History,
  at: Date,
): Promise<boolean> {
  if (!(await isSignedSide(a)) || !(await isSignedSide(b))) return false;
  const proofs = await Promise.all(records.map(proofOfPerson));
  const found = proofs.filter((proof) => proof !== null);
  if (found.length < records.length) return false;
  return areProvedPersons(found, keys, ProvedAnnouncements.parse(longer(a, b).announcements), at);
}

function forkedCheckpoints(a: History, b: History): Proof | null {
  for (const one of a.checkpoints.values()) {
    const other = b.checkpoints.get(one.size);
    if (other !== undefined && one.isTrusted && other.isTrusted && !equalBytes(one.root, other.root))
      return { kind: 'checkpoints', first: one.note, second: other.note };
  }
  return null;
}

/** Returns a proof that is valid for the larger tree but leads to a root other than that of the smaller checkpoint. */
function rewritten(a: History, b: History, proofs: readonly ConsistencyLine[]): Proof | null {
  const known: NotedCheckpoint[] = [...a.checkpoints.values(), ...b.checkpoints.values()].filter(
    (one) => one.isTrusted,
  );
  for (const { from, to, path } of proofs) {
    for (const first of known.filter(({ size }) => size === from)) {
      for (const second of known.filter(({ size }) => size === to)) {
        const prefix = provedPrefixRoot(from, to, second.root, path);
        if (prefix !== null && !equalBytes(prefix, first.root))
          return { kind: 'rewritten', first: first.note, second: second.note, path: path.map(toHex) };
      }
    }
  }
  return null;
}

function differentBatches(a: History, b: History): Proof | null {
  for (const [number, one] of a.batches) {
    const other = b.batches.get(number);
    if (other === undefined || one.header === other.header) continue;
    const side = ({ newest }: History, { header, path }: typeof one) => ({
      note: newest.note,
      header,
      path: path.map(toHex),
    });
    return { kind: 'batches', first: side(a, one), second: side(b, other) };
  }
  return null;
}

/** Returns the side that shows more changes of the ledger's keys. */
function longer(a: History, b: History): History {
  return a.announcements.length >= b.announcements.length ? a : b;
}

/** Completes a proof with the changes of the ledger's keys that one side shows. */
export function withAnnouncements(proof: Proof, { announcements }: History): ContradictionFile {
  return { format: 'consent-ledger-contradiction', version: 1, announcements: [...announcements], ...proof };
}

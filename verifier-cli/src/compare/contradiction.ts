import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, fromHex, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { type BatchHeader, batchHeaderText, batchLeaf, runLeaf } from '../../../schemas/evidence/batch-header.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import {
  type Contradiction,
  type ProvedLeaves,
  type ProvedManifest,
  type ProvedPerson,
  ProvedPersons,
  type ProvedPersonsFile,
  type ProvedRun,
} from '../../../schemas/evidence/contradiction.js';
import { Manifest } from '../../../schemas/evidence/manifest.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { parseNote, type SignedNote, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { verifyPromise } from '../../../schemas/evidence/verify-promise.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { emptyRoot } from '../../../schemas/merkle/hashing.js';
import { rootOfShown } from '../../../schemas/merkle/shown-leaves.js';
import { provedPrefixRoot } from '../../../schemas/merkle/verify-consistency.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { LIMITS } from '../container/limits.js';
import { parseShape } from '../files/parse.js';
import { followAnnouncements, trustedBy } from '../ledger/announcements.js';
import { NotProved, provedBatch, provedEntry } from '../ledger/proved-entry.js';
import { isCertifiedManifest } from '../manifest/signature.js';
import { claimsProblem, saltsProblem } from './claims-problem.js';
import { readHeaderOf } from './header-problem.js';
import { headersProblem } from './headers-problem.js';
import { type LeavesOf, leavesProblem } from './leaves-problem.js';
import { visitorIn } from './open-visitor.js';
import { type PersonRecord, personsProblem } from './persons-problem.js';
import { isPossible, runsProblem } from './runs-problem.js';
import { absenceProblem, policiesProblem, tilingProblem } from './structure-problem.js';

/** Whether a contradiction is proved, and a readable description of it. */
export interface ContradictionVerdict {
  /** `indeterminate` if the proof is consistent but no key of the ledger was given. */
  readonly outcome: 'proved' | 'not-proved' | 'indeterminate';
  readonly statement: string;
}

/**
 * @param given keys of the ledger that the relying party trusts
 * @param at time of verification
 */
export async function verifyContradiction(
  proof: Contradiction,
  given: readonly VerifierKey[],
  at: Date,
): Promise<ContradictionVerdict> {
  try {
    const keys = await successors(given, proof.announcements, at);
    const isKeyed = keys.length > 0;
    const statement = await statementOf(proof, keys, isKeyed);
    return isKeyed
      ? { outcome: 'proved', statement }
      : {
          outcome: 'indeterminate',
          statement: `${statement}; no ledger key was given, so the signatures were not checked`,
        };
  } catch (error) {
    if (error instanceof NotProved) return { outcome: 'not-proved', statement: error.message };
    throw error;
  }
}

function statementOf(proof: Contradiction, keys: readonly VerifierKey[], isKeyed: boolean): Promise<string> {
  switch (proof.kind) {
    case 'promise':
      return stateBreach(proof, keys, isKeyed);
    case 'claims':
      return stateClaim(proof, keys, isKeyed);
    case 'salts':
      return stateSalts(proof, keys, isKeyed);
    case 'persons':
      return statePersons([proof.first, proof.second, ...(proof.third ? [proof.third] : [])], keys, isKeyed);
    case 'absent':
      return stateAbsence(proof, keys, isKeyed);
    case 'policies':
      return statePolicies(proof, keys, isKeyed);
    case 'header':
      return stateHeader(proof, keys, isKeyed);
    default:
      return stateContradiction(proof, keys, isKeyed);
  }
}

/** The ledger promised one record under an event id, but sealed another one. */
async function stateBreach(
  { promise, second }: Extract<Contradiction, { kind: 'promise' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const verdict = await verifyPromise(promise, keys);
  if (verdict.outcome === 'forged' || (isKeyed && verdict.outcome !== 'genuine'))
    throw new NotProved(`the promise is not verified: ${verdict.reason}`);
  const { promised } = verdict;
  const checkpoint = await signedCheckpoint(second.note, keys, isKeyed);
  if (checkpoint.origin !== promised.origin) throw new NotProved('promise and checkpoint are of different ledgers');
  const { entry } = provedEntry(second, checkpoint);
  if (entry.event_id !== promised.eventId) throw new NotProved('the entry has another event id than the promise');
  const digest = sha256(utf8(canonicalJson(entry.record)));
  if (equalBytes(digest, promised.recordDigest) && entry.stream === promised.stream)
    throw new NotProved('the entry is the promised one');
  return `${promised.origin} promised one record under the event id ${promised.eventId}, and sealed another one`;
}

/** The ledger signed a manifest that states a stream as complete, but sealed more of it. */
async function stateClaim(
  { manifest: text, signature, second }: Extract<Contradiction, { kind: 'claims' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const manifest = await signedManifest({ manifest: text, signature }, keys, isKeyed);
  const checkpoint = await signedCheckpoint(second.note, keys, isKeyed);
  const { origin } = manifest;
  if (checkpoint.origin !== origin) throw new NotProved('manifest and checkpoint are of different ledgers');
  const { number } = provedRun(second, checkpoint);
  const problem = claimsProblem(manifest, { ...second.run, key: toHex(second.run.key), number });
  if (problem === null) throw new NotProved('the run is within what the manifest states');
  return `${origin} ${problem}`;
}

/** The ledger signed two manifests that state different salts for one site. */
async function stateSalts(
  { first, second }: Extract<Contradiction, { kind: 'salts' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const one = await signedManifest(first, keys, isKeyed);
  const other = await signedManifest(second, keys, isKeyed);
  const problem = one.origin === other.origin ? saltsProblem(one, other) : null;
  if (problem === null) throw new NotProved('the manifests do not state two salts for one site of one ledger');
  return `${one.origin} ${problem}`;
}

async function signedManifest(
  { manifest: text, signature }: ProvedManifest,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<Manifest> {
  const bytes = utf8(text);
  const manifest = parseShape(Manifest, bytes, LIMITS.manifestValues);
  if (!manifest.ok) throw new NotProved('a manifest is malformed');
  if (!(await isCertifiedManifest(bytes, signature, manifest.value.origin, isKeyed ? keys : null)))
    throw new NotProved('a manifest is not signed by a key that the ledger certifies');
  return manifest.value;
}

/** One visitor has two ids, or the numbers under an id do not increase. */
async function statePersons(
  proofs: readonly ProvedPerson[],
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const proved = await provedPersons(proofs, keys, isKeyed);
  const problem = personsProblem(proved.records);
  if (problem === null) throw new NotProved('the records do not contradict each other');
  return `${proved.origin} ${problem}`;
}

async function provedPersons(
  proofs: readonly ProvedPerson[],
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<{ readonly origin: string; readonly records: readonly PersonRecord[] }> {
  const origins = new Set<string>();
  const records: PersonRecord[] = [];
  for (const proof of proofs) {
    const checkpoint = await signedCheckpoint(proof.note, keys, isKeyed);
    origins.add(checkpoint.origin);
    const { entry } = provedEntry(proof, checkpoint);
    const { stream, revision, person_tag: tag } = entry;
    const visitor = visitorIn(entry, proof.disclosure);
    if (tag === null || visitor === null) throw new NotProved('an entry does not name a person');
    records.push({ stream, revision, tag, visitor, opening: proof.person });
  }
  const [origin, ...others] = origins;
  if (origin === undefined || others.length > 0) throw new NotProved('the checkpoints are of different ledgers');
  return { origin, records };
}

/**
 * Returns whether each of these records is sealed and names a person.
 * @param given keys of the ledger that the relying party trusts, at least one
 */
export async function areProvedPersons(
  proofs: ProvedPersonsFile,
  given: readonly VerifierKey[],
  announcements: Contradiction['announcements'],
  at: Date,
): Promise<boolean> {
  try {
    await provedPersons(ProvedPersons.parse(proofs), await successors(given, announcements, at), true);
    return true;
  } catch (error) {
    if (error instanceof NotProved) return false;
    throw error;
  }
}

/** A run or tag whose predecessors the earlier leaves do not have. */
async function stateAbsence(
  { first, second, absent }: Extract<Contradiction, { kind: 'absent' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const read = checkpointReader(keys, isKeyed);
  const checkpoint = await read(second.note);
  const before = first && { ...first.run, number: provedRun(first, await read(first.note)).number };
  const leaves: LeavesOf[] = [];
  for (const proof of absent) leaves.push({ ...proof, header: provedLeaves(proof, await read(proof.note)) });
  const problem = absenceProblem({ ...second, header: provedLeaves(second, checkpoint) }, before, leaves);
  if (problem === null) throw new NotProved('the leaves do not contradict each other');
  return `${checkpoint.origin} ${problem}`;
}

async function statePolicies(
  { first, second }: Extract<Contradiction, { kind: 'policies' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const read = checkpointReader(keys, isKeyed);
  const checkpoint = await read(second.note);
  const before = first && provedBatch(first, await read(first.note));
  const problem = policiesProblem(before, { ...second, header: provedLeaves(second, checkpoint) });
  if (problem === null) throw new NotProved('the header counts its policies');
  return `${checkpoint.origin} ${problem}`;
}

async function stateHeader(
  { second: { note, header, path }, number }: Extract<Contradiction, { kind: 'header' }>,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const { origin, size, root } = await signedCheckpoint(note, keys, isKeyed);
  const verdict = verifyInclusion(number, size, batchLeaf(header), path, root);
  if (!verdict.ok) throw new NotProved(`the leaf is not in the ledger: ${verdict.reason}`);
  const { problem, newer } = readHeaderOf(header, number);
  if (newer !== null)
    throw new NotProved(`the leaf has a header of version ${newer}, which this program does not know`);
  if (problem === null) throw new NotProved('the leaf is a header');
  return `${origin} sealed a leaf ${number} ${problem}`;
}

/** Reads the checkpoints of a proof with many leaves. Each note is verified once; all are of one ledger. */
function checkpointReader(keys: readonly VerifierKey[], isKeyed: boolean): (note: string) => Promise<Checkpoint> {
  const known = new Map<string, Checkpoint>();
  return async (note) => {
    const checkpoint = known.get(note) ?? (await signedCheckpoint(note, keys, isKeyed));
    known.set(note, checkpoint);
    const [first] = known.values();
    if (first?.origin !== checkpoint.origin) throw new NotProved('the checkpoints are of different ledgers');
    return checkpoint;
  };
}

async function stateContradiction(
  proof: Exclude<
    Contradiction,
    { kind: 'promise' | 'persons' | 'claims' | 'salts' | 'absent' | 'policies' | 'header' }
  >,
  keys: readonly VerifierKey[],
  isKeyed: boolean,
): Promise<string> {
  const noteOf = (side: typeof proof.first) => (typeof side === 'string' ? side : side.note);
  const first = await signedCheckpoint(noteOf(proof.first), keys, isKeyed);
  const second = await signedCheckpoint(noteOf(proof.second), keys, isKeyed);
  if (first.origin !== second.origin) throw new NotProved('the checkpoints are of different ledgers');
  switch (proof.kind) {
    case 'checkpoints':
      if (first.size !== second.size || equalBytes(first.root, second.root))
        throw new NotProved('the checkpoints do not have one size and two roots');
      return `${first.origin} signed two different histories of ${first.size} batches`;
    case 'rewritten': {
      const prefix = provedPrefixRoot(first.size, second.size, second.root, proof.path);
      if (prefix === null || equalBytes(prefix, first.root))
        throw new NotProved(
          'the path does not prove that the larger tree starts differently from the smaller checkpoint',
        );
      return `${first.origin} signed a history of ${second.size} batches that does not start with the ${first.size} batches that it signed before`;
    }
    case 'batches': {
      const number = provedBatch(proof.first, first).number;
      if (number !== provedBatch(proof.second, second).number || proof.first.header === proof.second.header)
        throw new NotProved('the batches are not two different batches with one number');
      return `${first.origin} sealed two different batches number ${number}`;
    }
    case 'entries': {
      const { entry: one } = provedEntry(proof.first, first);
      const { entry: other } = provedEntry(proof.second, second);
      const isSamePlace = one.stream === other.stream && one.revision === other.revision;
      if (!isSamePlace || proof.first.entry === proof.second.entry)
        throw new NotProved('the entries are not two different entries for one stream and revision');
      return `${first.origin} sealed two different entries as revision ${one.revision} of ${one.stream}`;
    }
    case 'runs': {
      const problem = placedRunsProblem(placedRun(proof.first, first), placedRun(proof.second, second));
      if (problem === null) throw new NotProved('the runs do not contradict each other');
      return `${first.origin} ${problem}`;
    }
    case 'headers': {
      const problem = headersProblem(provedBatch(proof.first, first), provedBatch(proof.second, second));
      if (problem === null) throw new NotProved('the headers do not contradict each other');
      return `${first.origin} ${problem}`;
    }
    case 'leaves': {
      const one = { ...proof.first, header: provedLeaves(proof.first, first) };
      const other = { ...proof.second, header: provedLeaves(proof.second, second) };
      const problem = leavesProblem(one, other);
      if (problem === null) throw new NotProved('the leaves do not contradict each other');
      return `${first.origin} ${problem}`;
    }
  }
}

async function signedCheckpoint(text: string, keys: readonly VerifierKey[], isKeyed: boolean): Promise<Checkpoint> {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) throw new NotProved('a note is not a signed checkpoint');
  if (isKeyed && !(await isSignedBy(note, checkpoint.origin, keys)))
    throw new NotProved('the ledger key that you gave did not sign a checkpoint');
  return checkpoint;
}

async function isSignedBy(note: SignedNote, origin: string, keys: readonly VerifierKey[]): Promise<boolean> {
  const verdicts = await Promise.all(
    keys.filter(({ name }) => name === origin).map((key) => verifyCheckpoint(note, key)),
  );
  return verdicts.includes('signed') && !verdicts.includes('bad-signature');
}

function provedLeaves(proof: ProvedLeaves, checkpoint: Checkpoint): BatchHeader {
  const header = provedBatch(proof, checkpoint);
  const [count, root] =
    proof.tree === 'tags' ? [header.tags_count, header.tags_root] : [header.streams_count, header.streams_root];
  const leaves = proof.leaves.map(({ index, key, run }) => ({
    index,
    hash: proof.tree === 'tags' || run === undefined ? personTagLeaf(key) : runLeaf(key, run),
  }));
  const isEmpty = count === 0 && leaves.length === 0 && proof.hashes.length === 0;
  const found = isEmpty ? emptyRoot() : rootOfShown(count, leaves, proof.hashes);
  if (found === null || !equalBytes(found, fromHex(root) ?? new Uint8Array()))
    throw new NotProved(`the leaves are not under ${proof.tree}_root`);
  return header;
}

function provedRun(proof: ProvedRun, checkpoint: Checkpoint): BatchHeader {
  const { header, ...run } = placedRun(proof, checkpoint);
  if (!isPossible(run, header)) throw new NotProved('a run is not within its batch');
  return header;
}

type PlacedRunOf = ReturnType<typeof placedRun>;

function placedRunsProblem(one: PlacedRunOf, other: PlacedRunOf): string | null {
  const isOneLeaf = batchHeaderText(one.header) === batchHeaderText(other.header);
  const tiling = isOneLeaf ? tilingProblem(one.header, one, other) : null;
  const isComparable = equalBytes(one.key, other.key) && [one, other].every((run) => isPossible(run, run.header));
  return tiling ?? (isComparable ? runsProblem(toHex(one.key), one, other) : null);
}

/** Returns a run that is proved to be under `streams_root`, without judging what it states. */
function placedRun({ run, index, hashes, ...batch }: ProvedRun, checkpoint: Checkpoint) {
  const header = provedBatch(batch, checkpoint);
  const root = rootOfShown(header.streams_count, [{ index, hash: runLeaf(run.key, run) }], hashes);
  if (root === null || !equalBytes(root, bytesOf(header.streams_root)))
    throw new NotProved('a run is not under streams_root');
  return { ...run, index, number: header.number, header };
}

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}

/**
 * Returns the given keys whose algorithm is still secure, and those that they vouch for with announcements.
 * @param at time of verification
 */
export async function successors(
  given: readonly VerifierKey[],
  announcements: Contradiction['announcements'],
  at: Date,
): Promise<readonly VerifierKey[]> {
  return (await trustedBy(given, await followAnnouncements(announcements, null), at)).trusted;
}

import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import { Entry } from '../../../schemas/evidence/entry.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseShape } from '../files/parse.js';
import { proofOfEntry } from './entry-conflict.js';
import type { History } from './history.js';
import { visitorIn } from './open-visitor.js';
import { isDecided, numbersUnder, type PersonRecord } from './persons-problem.js';

/** A consent that names its person, as one side shows it. */
export interface ShownPersonRecord extends PersonRecord {
  readonly side: History;
  readonly batch: number;
  readonly eventId: string;
  /** The disclosure of `visitor_id`. */
  readonly disclosure: string;
}

/** A finding about the records of one visitor in a ledger (docs/evidence-format.md, “Two ids”). */
export type PersonFinding =
  /** Two or three records that prove a contradiction by themselves: see `personsProblem`. */
  | { readonly kind: 'proof'; readonly records: readonly ShownPersonRecord[] }
  /** The records together with a statement of a file prove it. There is no shorter proof. */
  | { readonly kind: 'files'; readonly records: readonly ShownPersonRecord[]; readonly statement: string }
  | { readonly kind: 'open'; readonly records: readonly ShownPersonRecord[]; readonly statement: string };

/** Looks for two ids of one visitor, as far as one side opens person tags. The caller must verify each finding. */
export async function personFindings(a: History, b: History): Promise<readonly PersonFinding[]> {
  const findings: PersonFinding[] = [];
  const shownOnce = onceForEach(personsShown);
  for (const [side, other] of [
    [a, b],
    [b, a],
  ] as const) {
    if (!mayOpen(side)) continue;
    const own = await shownOnce(side);
    const person = openedPerson(side, own.named);
    if (person === null) continue;
    const { stream, visitor } = person;
    const { named, erased } = await shownOnce(other);
    const elsewhere = named.filter((one) => one.stream === stream && one.visitor === visitor);
    const records = [...person.records, ...elsewhere];
    findings.push(...evaluate({ ...person, records, side, erased: new Set([...own.erased, ...erased]) }));
  }
  return findings;
}

/** Calls a function at most once for each history, because each call reads the package from its beginning. */
function onceForEach<T>(read: (side: History) => Promise<T>): (side: History) => Promise<T> {
  const known = new Map<History, Promise<T>>();
  return (side) => {
    const found = known.get(side) ?? read(side);
    known.set(side, found);
    return found;
  };
}

/** Whether a side may open person tags: a receipt, or a package for a person. */
function mayOpen({ kind, manifest }: History): boolean {
  return kind === 'receipt' || (manifest?.filter.person?.id ?? null) !== null;
}

interface OpenedPerson {
  /** Hex. */
  readonly id: string;
  readonly stream: string;
  readonly visitor: string;
  readonly records: readonly ShownPersonRecord[];
}

/** The person whose id a side states. @param all the consents of the side that disclose `visitor_id` */
function openedPerson({ manifest }: History, all: readonly ShownPersonRecord[]): OpenedPerson | null {
  const [first] = all;
  const id = manifest?.filter.person?.id ?? first?.opening?.id;
  if (first === undefined || first.visitor === null || id === undefined) return null;
  const records = all.filter((one) => one.stream === first.stream && one.visitor === first.visitor);
  return { id, stream: first.stream, visitor: first.visitor, records };
}

/** Records of persons that one side contains. */
interface PersonsShown {
  /** The consents that disclose `visitor_id`. */
  readonly named: readonly ShownPersonRecord[];
  /** Event ids of the records whose erasure the side shows. */
  readonly erased: readonly string[];
}

async function personsShown(side: History): Promise<PersonsShown> {
  const named: ShownPersonRecord[] = [];
  const erased: string[] = [];
  for await (const line of linesOf(side)) {
    const record = line.disclosures.length === 0 ? null : namedRecord(side, line);
    if (record !== null) named.push(record);
    const id = line.entry.includes(SUBJECT_ERASED) ? erasedBy(line) : null;
    if (id !== null) erased.push(id);
  }
  return { named, erased };
}

async function* linesOf({ files }: History): AsyncGenerator<EntryLine, void> {
  if (files === null) return;
  for await (const { value } of files.lines(PACKAGE_FILES.entries, EntryLine, 'entry.format')) yield value;
}

function namedRecord(side: History, line: EntryLine): ShownPersonRecord | null {
  const parsed = parseShape(Entry, line.entry);
  if (!parsed.ok) return null;
  const { stream, revision, event_id: eventId, person_tag: tag } = parsed.value;
  for (const disclosure of line.disclosures) {
    const visitor = visitorIn(parsed.value, disclosure);
    if (visitor === null || tag === null) continue;
    return {
      side,
      stream,
      revision,
      eventId,
      tag,
      batch: line.batch,
      visitor,
      disclosure,
      opening: line.person ?? null,
    };
  }
  return null;
}

function erasedBy(line: EntryLine): string | null {
  const entry = parseShape(Entry, line.entry);
  const id = entry.ok && entry.value.type === SUBJECT_ERASED ? entry.value.record.erased_event_id : null;
  return typeof id === 'string' ? id : null;
}

interface VisitorRecords extends OpenedPerson {
  /** The side that states the id. */
  readonly side: History;
  readonly erased: ReadonlySet<string>;
}

function evaluate(person: VisitorRecords): readonly PersonFinding[] {
  const sorted = person.records.toSorted((one, other) => one.revision - other.revision);
  const numbers = numbersUnder(person.id, sorted);
  const own = sorted.flatMap((record): Numbered[] => {
    const n = numbers.get(record.tag);
    return n === undefined ? [] : [{ ...record, opening: { id: person.id, n }, n }];
  });
  const others = sorted.filter(({ tag }) => !numbers.has(tag));
  const findings = [...misnumbered(own), ...unstated(person, own)];
  for (const other of others.filter(isDecided)) findings.push(...twoIds(person, own, other));
  const undecided = others.find((record) => !isDecided(record));
  if (undecided !== undefined)
    findings.push({
      kind: 'open',
      records: [undecided],
      statement: `the person of revision ${undecided.revision} of ${undecided.stream} cannot be compared: too many numbers are possible`,
    });
  return findings;
}

interface Numbered extends ShownPersonRecord {
  readonly n: number;
}

function* misnumbered(own: readonly Numbered[]): Generator<PersonFinding> {
  for (const [i, record] of own.entries()) {
    const before = own[i - 1];
    if (before !== undefined && before.revision < record.revision && before.n >= record.n)
      yield { kind: 'proof', records: [before, record] };
  }
}

/** Finds a package for the person that states fewer records than the number of a record shown elsewhere. */
function* unstated({ side }: VisitorRecords, own: readonly Numbered[]): Generator<PersonFinding> {
  const records = side.manifest?.filter.person?.records ?? null;
  const further = own.find(({ n, batch }) => records !== null && n > records && batch < side.newest.size);
  if (further === undefined) return;
  yield {
    kind: 'files',
    records: [further, ...own.filter((record) => record.side === side).slice(0, 1)],
    statement: `${side.newest.origin} states that a person has ${records} records as of ${side.newest.size} batches, and sealed record ${further.n} of this person in batch ${further.batch}`,
  };
}

/**
 * Finds a record whose tag differs from the one that the person's id yields. In an honest ledger, such a record comes
 * only before the first or after the last moment at which the ledger had the id.
 */
function* twoIds(
  { erased }: VisitorRecords,
  own: readonly Numbered[],
  other: ShownPersonRecord,
): Generator<PersonFinding> {
  const before = own.filter(({ revision }) => revision < other.revision);
  const after = own.filter(({ revision }) => revision > other.revision);
  const [first] = before;
  const last = after.at(-1);
  if (first !== undefined && last !== undefined) {
    yield { kind: 'proof', records: [first, other, last] };
    return;
  }
  const pairs = [...before.map((early) => ({ early, late: other })), ...after.map((late) => ({ early: other, late }))];
  const held = pairs.find(({ early, late }) => early.side.newest.size > late.batch);
  if (held !== undefined) {
    const { early, late } = held;
    const { kind, newest } = early.side;
    yield {
      kind: 'files',
      records: [early, late],
      statement: `${newest.origin} gave one visitor two ids: a ${kind} as of ${newest.size} batches discloses revision ${early.revision} of ${early.stream}, which was thus not erased when batch ${late.batch} was sealed, and revision ${late.revision} in this batch has a tag of another id`,
    };
    return;
  }
  const [pair] = pairs;
  const isExplained = pairs.length > 0 && pairs.every(({ early }) => erased.has(early.eventId));
  if (pair === undefined || isExplained) return;
  const { early, late } = pair;
  yield {
    kind: 'open',
    records: [early, late],
    statement: `revisions ${early.revision} and ${late.revision} of ${early.stream} name one visitor and have tags of different ids, which is right only if the first record was erased before: get a package of the event id ${early.eventId} that discloses visitor_id, as of a time after the second record, and compare it with the file of the second record`,
  };
}

type ProvedPerson = Extract<ContradictionFile, { kind: 'persons' }>['first'];

/** Gathers what proves that a record is in its ledger and names its person, or null if something is missing. */
export async function proofOfPerson(record: ShownPersonRecord): Promise<ProvedPerson | null> {
  for await (const line of linesOf(record.side)) {
    if (!line.entry.includes(`"event_id":"${record.eventId}"`)) continue;
    const proof = await proofOfEntry(record.side, line);
    return proof && { ...proof, disclosure: record.disclosure, person: record.opening };
  }
  return null;
}

/** Returns whether a trusted ledger key signed the entries and the checkpoint of a side. */
export async function isSignedSide({ files, manifest, newest, isManifestSigned }: History): Promise<boolean> {
  if (files === null || manifest === null || !isManifestSigned || !newest.isTrusted) return false;
  const digest = await files.digest(PACKAGE_FILES.entries);
  return manifest.checkpoint === newest.size && digest === manifest.files[PACKAGE_FILES.entries];
}

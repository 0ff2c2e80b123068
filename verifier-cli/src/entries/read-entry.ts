import * as z from 'zod';
import { type ConsentRecordV2, HASH_VERSION } from '../../../schemas/events/consent-recorded.js';
import { hasTag, isConsentType, isSealedEventType } from '../../../schemas/events/sealed-event.js';
import { type ConsentLine, readConsentLine } from '../../../schemas/evidence/consent-line.js';
import { ENTRY_VERSION } from '../../../schemas/evidence/entry.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { Count } from '../../../schemas/evidence/primitives.js';
import { isCanonicalJson } from '../../../schemas/json/canonical-json.js';
import { Cursor } from '../../../schemas/json/cursor.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { type LineReader, readerOf } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import { EntryFindings, type EntryNote } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { unknownVersion } from '../findings/unknown-version.js';
import { type EntryMembers, parseVersioned, SCHEMES, type Schemes } from '../versions/schemes.js';

/** Follows one entry while a package is read. */
export interface EntryWatch {
  /** Returns the list that takes the outcomes about this entry, or null if the entry is not the followed one. */
  notesOf(entry: Pick<EntryMembers, 'event_id' | 'proof_hash'>): EntryNote[] | null;
}

/** An entry with its findings. */
export interface ReadEntry {
  readonly isKnown: true;
  readonly line: number;
  readonly source: Omit<EntryLine, 'entry'>;
  readonly entry: EntryMembers;
  readonly record: JsonValue;
  /** The record, if it is already known to be that of a consent. */
  readonly consent: ConsentRecordV2 | null;
  /** Leaf hash in hex. */
  readonly leaf: string;
  readonly findings: EntryFindings;
}

/**
 * An entry of an unknown version. Only its position can be checked. It neither proves nor contradicts anything.
 */
export interface UnknownEntry {
  readonly isKnown: false;
  readonly source: Omit<EntryLine, 'entry'>;
  readonly entry: Pick<EntryMembers, 'stream' | 'revision'>;
  readonly findings: EntryFindings;
}

/** Members that an entry of every version has (docs/evidence-format.md §17). */
const AnyEntry = z.looseObject({ stream: z.string().min(1).max(200), revision: Count });

/** A line of `entries.ndjson`. */
export type ReadLine =
  /** A consent, in its canonical form. */
  | ConsentLine
  /** Any other line of valid form. */
  | { readonly source: EntryLine; readonly entry: null };

const bySchema = readerOf(EntryLine);

/** Longest line, in bytes, for the fast reader. A consent with its values is far shorter. */
const QUICK_LINE_BYTES = 64 * 1024;

/**
 * Creates a reader of lines. A consent in its sealed form takes a fast path; every other line is parsed with its
 * schema.
 */
export function entryLineReader(schemes: Schemes): LineReader<ReadLine> {
  const scratch = new Uint8Array(QUICK_LINE_BYTES + 1);
  // The fast reader knows only these schemes.
  const isQuick =
    schemes.entries.get(ENTRY_VERSION) === SCHEMES.entries.get(ENTRY_VERSION) &&
    schemes.records.get(HASH_VERSION) === SCHEMES.records.get(HASH_VERSION);
  return (block, start, end) => {
    const consent =
      !isQuick || end - start > QUICK_LINE_BYTES
        ? null
        : readConsentLine(new Cursor(block.bytes, block.text, start, end), scratch);
    if (consent !== null) return { ok: true, value: consent };
    const parsed = bySchema(block, start, end);
    return parsed.ok ? { ok: true, value: { source: parsed.value, entry: null } } : parsed;
  };
}

/**
 * Reads one entry: strict JSON of the published form, in its canonical text (RFC 8785), which is hashed as it stands
 * (docs/evidence-format.md §4).
 */
export function readEntry(
  line: number,
  read: ReadLine,
  all: Findings,
  schemes: Schemes,
  watch: EntryWatch | null,
): ReadEntry | UnknownEntry | null {
  if (read.entry === null) return readBySchema(line, read.source, all, schemes, watch);
  const { source, entry, leaf } = read;
  const findings = findingsAbout(line, entry, all, watch);
  findings.pass('entry.format');
  return {
    isKnown: true,
    line,
    source,
    entry,
    record: entry.record,
    consent: entry.record,
    leaf,
    findings,
  };
}

function readBySchema(
  line: number,
  source: EntryLine,
  all: Findings,
  schemes: Schemes,
  watch: EntryWatch | null,
): ReadEntry | UnknownEntry | null {
  const refuse = (reason: Finding): null => {
    all.fail('entry.format', finding('entry-invalid', { reason }), { file: PACKAGE_FILES.entries, line });
    return null;
  };
  const parsed = parseVersioned(schemes.entries, source.entry);
  if (parsed.kind === 'invalid') return refuse(parsed.reason);
  if (parsed.kind === 'unknown') {
    const any = matchShape(AnyEntry, parsed.json);
    if (!any.ok) return refuse(any.reason);
    const { stream, revision } = any.value;
    const entry = { stream, revision };
    const findings = new EntryFindings(all, { file: PACKAGE_FILES.entries, line, ...entry });
    findings.open('entry.format', unknownVersion(finding('entry-version', { version: parsed.version })));
    return { isKnown: false, source, entry, findings };
  }
  const { value: entry, json } = parsed;
  const findings = findingsAbout(line, entry, all, watch);
  const problem = isCanonicalJson(source.entry, json) ? memberProblem(entry) : finding('entry-not-canonical');
  if (problem === null) findings.pass('entry.format');
  else findings.fail('entry.format', problem);
  const leaf = parsed.scheme.leaf(source.entry);
  return { isKnown: true, line, source, entry, record: entry.record, consent: null, leaf, findings };
}

/** Checks the members of an entry together. Events of an unknown type may have any of them. */
function memberProblem({ type, proof_hash: proofHash, person_tag: tag }: EntryMembers): Finding | null {
  if (!isSealedEventType(type)) return null;
  if (isConsentType(type) !== (proofHash !== null)) return finding('proof-hash-misplaced');
  if (hasTag(type) !== (tag !== null)) return finding('person-tag-misplaced');
  return null;
}

function findingsAbout(line: number, entry: EntryMembers, all: Findings, watch: EntryWatch | null): EntryFindings {
  const at = {
    file: PACKAGE_FILES.entries,
    line,
    stream: entry.stream,
    revision: entry.revision,
    event_id: entry.event_id,
  };
  return new EntryFindings(all, at, watch?.notesOf(entry) ?? null);
}

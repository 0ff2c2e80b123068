import { CONSENT_RECORDED, type ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { hasTag } from '../../../schemas/events/sealed-event.js';
import { type ConsentLine, readConsentLine } from '../../../schemas/evidence/consent-line.js';
import { Entry, entryLeafHex } from '../../../schemas/evidence/entry.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isCanonicalJson } from '../../../schemas/json/canonical-json.js';
import { Cursor } from '../../../schemas/json/cursor.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { type LineReader, readerOf } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import { EntryFindings, type EntryNote } from '../findings/entry-findings.js';
import type { Findings } from '../findings/findings.js';

/** Follows one entry while a package is read. */
export interface EntryWatch {
  /** Where the outcomes about this entry are to be noted; null if it is not the one. */
  notesOf(entry: Pick<Entry, 'event_id' | 'proof_hash'>): EntryNote[] | null;
}

/** An entry with its findings. */
export interface ReadEntry {
  readonly line: number;
  readonly source: Omit<EntryLine, 'entry'>;
  readonly entry: Entry;
  readonly record: JsonValue;
  /** The record, where it is known to be that of a consent already. */
  readonly consent: ConsentRecord | null;
  /** Leaf hash in hex. */
  readonly leaf: string;
  readonly findings: EntryFindings;
}

/** A line of `entries.ndjson`. */
export type ReadLine =
  /** A consent, in its canonical form. */
  | ConsentLine
  /** Whatever else has the form of a line. */
  | { readonly source: EntryLine; readonly entry: null };

const bySchema = readerOf(EntryLine);

/**
 * Bytes of a line up to which it is read quickly: those of a consent with its values are far below.
 */
const QUICK_LINE_BYTES = 64 * 1024;

/**
 * Reads lines: a consent in the form in which it was sealed quickly, every other one by its schema.
 */
export function entryLineReader(): LineReader<ReadLine> {
  const scratch = new Uint8Array(QUICK_LINE_BYTES + 1);
  return (block, start, end) => {
    const consent =
      end - start > QUICK_LINE_BYTES ? null : readConsentLine(new Cursor(block.bytes, block.text, start, end), scratch);
    if (consent !== null) return { ok: true, value: consent };
    const parsed = bySchema(block, start, end);
    return parsed.ok ? { ok: true, value: { source: parsed.value, entry: null } } : parsed;
  };
}

/**
 * Reads one entry: strict JSON of the published form, in its one canonical text, hashed as it
 * stands.
 */
export function readEntry(
  line: number,
  read: ReadLine,
  all: Findings,
  watch: EntryWatch | null = null,
): ReadEntry | null {
  if (read.entry === null) return readBySchema(line, read.source, all, watch);
  const { source, entry, leaf } = read;
  const findings = findingsAbout(line, entry, all, watch);
  findings.pass('entry.format');
  return {
    line,
    source,
    entry,
    record: entry.record,
    consent: entry.record,
    leaf,
    findings,
  };
}

function readBySchema(line: number, source: EntryLine, all: Findings, watch: EntryWatch | null): ReadEntry | null {
  const parsed = parseShape(Entry, source.entry);
  if (!parsed.ok) {
    all.fail('entry.format', `the entry is invalid: ${parsed.reason}`, { file: PACKAGE_FILES.entries, line });
    return null;
  }
  const { value: entry, json } = parsed;
  const findings = findingsAbout(line, entry, all, watch);
  const isConsent = entry.type === CONSENT_RECORDED;
  if (!isCanonicalJson(source.entry, json)) findings.fail('entry.format', 'the entry is not canonical JSON');
  else if (isConsent !== (entry.proof_hash !== null))
    findings.fail('entry.format', 'a consent must have a proof hash, and no other event may have one');
  else if (hasTag(entry.type) !== (entry.person_tag !== null))
    findings.fail('entry.format', 'a consent or an erasure must have a tag, and no other event may have one');
  else findings.pass('entry.format');
  const record = json !== null && typeof json === 'object' && !Array.isArray(json) ? (json.record ?? null) : null;
  return { line, source, entry, record, consent: null, leaf: entryLeafHex(source.entry), findings };
}

function findingsAbout(line: number, entry: Entry, all: Findings, watch: EntryWatch | null): EntryFindings {
  const at = {
    file: PACKAGE_FILES.entries,
    line,
    stream: entry.stream,
    revision: entry.revision,
    event_id: entry.event_id,
  };
  return new EntryFindings(all, at, watch?.notesOf(entry) ?? null);
}

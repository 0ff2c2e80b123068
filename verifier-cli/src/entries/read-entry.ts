import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { Entry, entryLeaf } from '../../../schemas/evidence/entry.js';
import { type EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isCanonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { parseShape } from '../files/parse.js';
import { EntryFindings } from '../findings/entry-findings.js';
import type { Findings } from '../findings/findings.js';
import type { RecordWatch } from '../show/record-watch.js';

/** An entry as it was read, with what is found about it. */
export interface ReadEntry {
  readonly line: number;
  readonly source: EntryLine;
  readonly entry: Entry;
  readonly record: JsonValue;
  /** 32 bytes. */
  readonly leaf: Uint8Array;
  readonly findings: EntryFindings;
}

/** Reads one entry: strict JSON of the published form, in its one canonical text, hashed as it stands. */
export function readEntry(
  line: number,
  source: EntryLine,
  all: Findings,
  watch: RecordWatch | null = null,
): ReadEntry | null {
  const file = PACKAGE_FILES.entries;
  const parsed = parseShape(Entry, source.entry);
  if (!parsed.ok) {
    all.fail('entry.format', `the entry cannot be used: ${parsed.reason}`, { file, line });
    return null;
  }
  const { value: entry, json } = parsed;
  const at = { file, line, stream: entry.stream, revision: entry.revision, event_id: entry.event_id };
  const findings = new EntryFindings(all, at, watch?.notesOf(entry) ?? null);
  const isConsent = entry.type === CONSENT_RECORDED;
  if (!isCanonicalJson(source.entry, json)) findings.fail('entry.format', 'the entry is not in its canonical form');
  else if (isConsent !== (entry.proof_hash !== null))
    findings.fail('entry.format', 'consents have a proof hash, and nothing else has');
  else findings.pass('entry.format');
  const record = json !== null && typeof json === 'object' && !Array.isArray(json) ? (json.record ?? null) : null;
  return { line, source, entry, record, leaf: entryLeaf(source.entry), findings };
}

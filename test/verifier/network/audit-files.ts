import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { type AuditOutcome, auditNewest } from '../../../verifier-cli/src/network/structure/audit-newest.js';
import type { StructureSource } from '../../../verifier-cli/src/network/structure/source.js';
import type { Ledger, Plan } from '../dishonest-operator/ledger.js';

/** Published files in memory, one piece each 1,000 bytes. */
export function sourceOf(
  files: ReadonlyMap<string, Uint8Array>,
  onOpen: (path: string) => void = () => undefined,
): StructureSource {
  const source: StructureSource = {
    name: 'memory',
    until: () => source,
    async open(path) {
      onOpen(path);
      const file = files.get(path);
      if (file === undefined) return null;
      return (async function* () {
        for (let at = 0; at < file.length; at += 1000) yield file.subarray(at, at + 1000);
      })();
    },
  };
  return source;
}

/** The key of a ledger that the person who audits knows. */
export function keysOf(plan: Plan): readonly VerifierKey[] {
  const key = parseVerifierKey(plan.keys.first.line);
  if (key === null) throw new Error('the plan has no key');
  return [key];
}

export interface AuditFilesOptions {
  readonly onOpen?: (path: string) => void;
  readonly commitMs?: number;
  readonly advanced?: () => void;
  readonly signal?: AbortSignal;
}

/** Audits the structure of a ledger from its published files. @param folder for the state of the audit */
export async function auditFiles(
  { plan }: Ledger,
  files: ReadonlyMap<string, Uint8Array>,
  folder: string,
  { onOpen, ...options }: AuditFilesOptions = {},
): Promise<AuditOutcome> {
  const note = decodeUtf8(files.get('log/checkpoint') ?? new Uint8Array()) ?? '';
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
  if (checkpoint === null) throw new Error('the publication has no checkpoint');
  return auditNewest({
    source: sourceOf(files, onOpen),
    folder,
    checkpoint,
    note,
    announcements: [],
    keys: keysOf(plan),
    ...options,
  });
}

import type { LogDamaged } from '../pipeline/event-log/errors.js';

/** Meaning of each kind of finding, and the operator's remedy. docs/operations.md has the same table. */
export const FINDING_KINDS = {
  'row-altered': {
    meaning: 'The seal of the row, or of its key, does not match: the row was written or changed outside the service.',
    action: 'Find out who wrote to the database. Restore the row from a backup from before, or change it by a command.',
  },
  'event-altered': {
    meaning: 'An event of the log is not as the service wrote it, or not as it was sealed.',
    action:
      'Treat the log as damaged. Keep it, compare it with a backup, and restore the newest one without the fault.',
  },
  'log-order': {
    meaning: 'Positions or revisions of the log have a gap or a repetition: an event was removed, inserted or moved.',
    action:
      'Treat the log as damaged. Keep it, compare it with a backup, and restore the newest one without the fault.',
  },
  'log-tail-lost': {
    meaning:
      'The log ends before events that it had, as after a restore from an older backup. Everything that is derived from them disagrees with it.',
    action:
      'Stop the service, and run `admin log recover`: it appends again what the database has, and names what stays lost. Audit again: this tells whether there are other disagreements.',
  },
  'derived-differs': {
    meaning: 'A row that the service derives from the log is not what the log gives.',
    action:
      'The log decides. Rebuild a read model with `projections rebuild`. For other tables restore a backup, because the service rebuilds them only on an empty database.',
  },
  'ledger-corrupt': {
    meaning:
      'The stream of the ledger does not verify against the events in the log: a worker that starts now stops there. What follows was not compared.',
    action:
      'Nothing is sealed on it. Compare log and evidence packages with a backup, and restore, or skip the event: docs/restore.md.',
  },
  'record-without-key': {
    meaning:
      'Records of a site have neither a key nor an erasure: their personal values cannot be read, and no one asked for that.',
    action:
      'Restore the rows of `record_keys` from a backup. If there is none, the values are lost: docs/restore.md, “Lost keys”.',
  },
  'content-altered': {
    meaning: 'Stored bytes do not match their hash, or cannot be decrypted with their key.',
    action: 'Restore the row from a backup. Until then the value is shown to no one.',
  },
  'reference-differs': {
    meaning: 'Two stored rows that belong together contradict each other, or one of them is missing.',
    action: 'Compare both rows with a backup, and restore the one that was changed.',
  },
  'stamp-invalid': {
    meaning: 'A time stamp, cosignature or certificate does not verify.',
    action: 'Restore the row from a backup. If the bytes are unchanged there, check TSA_CA_FILE and the witnesses.',
  },
  'promise-broken': {
    meaning:
      'A consent was sealed later than the policy in force promises, or still waits after the time of its own promise.',
    action: 'Find the cause of the delay in the log of the worker. The promise stays broken; tell holders of receipts.',
  },
  'stopped-part': {
    meaning: 'A part of the service stands still and waits for an operator: a projection or the relay of a site.',
    action: 'Read `projections status` and `admin quarantine list`.',
  },
  'protection-missing': {
    meaning:
      'The schema is not what the migrations of this version make: a part or a right is missing, was changed or was added.',
    action:
      'Find out who changed the schema. Make the part as the finding states it, and audit again: rows may have been changed meanwhile.',
  },
} as const;
export type FindingKind = keyof typeof FINDING_KINDS;

/** A disagreement between what is stored and what it must be. It names no personal value. */
export interface Finding {
  readonly kind: FindingKind;
  /** Table, with its schema unless that is the schema of the service. */
  readonly table: string;
  /** Primary key of the row, as text. Empty for the whole table. */
  readonly key: string;
  /** Columns that differ, as far as they are known. */
  readonly columns: readonly string[];
  /** Description of the finding in one sentence. */
  readonly detail: string;
}

/** @returns the finding that reports a damaged log */
export function damagedLog({ stream }: LogDamaged, detail: string): Omit<Finding, 'columns'> {
  return { kind: 'log-order', table: 'event_log.events', key: stream ?? '', detail };
}

/** Findings of one kind about one table that follow from a lost tail of the log, or cannot be told from those. */
export interface FoldedFindings {
  readonly kind: FindingKind;
  readonly table: string;
  readonly count: number;
  /** Key of the first one. */
  readonly firstKey: string;
}

/** Kinds that are folded once the log is known to have lost its tail: comparisons with the log. */
const FOLDED: ReadonlySet<FindingKind> = new Set(['log-order', 'derived-differs', 'ledger-corrupt']);

/** Collects findings, each once. After `log-tail-lost`, those that may follow from it are only counted. */
export interface Findings {
  add(finding: Omit<Finding, 'columns'> & { readonly columns?: readonly string[] }): void;
  readonly all: readonly Finding[];
  /** Findings beyond the limit, which are counted only. */
  readonly more: number;
  readonly folded: readonly FoldedFindings[];
}

/** Maximum number of findings that one audit lists. A table that was exchanged as a whole must not fill the memory. */
export const MAX_FINDINGS = 1_000;

/** @param before findings of the audit that this one continues */
export function collectFindings(
  before: Partial<Pick<Findings, 'all' | 'folded'>> = {},
  onFinding: (finding: Finding) => void = () => undefined,
): Findings {
  const all = [...(before.all ?? [])];
  const folded = new Map((before.folded ?? []).map((one) => [`${one.kind} ${one.table}`, one]));
  const known = new Set(all.map(nameOf));
  let more = 0;
  const fold = ({ kind, table, key }: Finding): void => {
    const name = `${kind} ${table}`;
    const { count = 0, firstKey = key } = folded.get(name) ?? {};
    folded.set(name, { kind, table, count: count + 1, firstKey });
  };
  return {
    add: ({ columns = [], ...rest }) => {
      const finding: Finding = { ...rest, columns };
      if (known.has(nameOf(finding))) return;
      if (FOLDED.has(finding.kind) && all.some(({ kind }) => kind === 'log-tail-lost')) return fold(finding);
      if (all.length >= MAX_FINDINGS) {
        more += 1;
        return;
      }
      known.add(nameOf(finding));
      all.push(finding);
      onFinding(finding);
    },
    get all() {
      return all;
    },
    get more() {
      return more;
    },
    get folded() {
      return [...folded.values()];
    },
  };
}

function nameOf({ kind, table, key, detail }: Finding): string {
  return JSON.stringify([kind, table, key, detail]);
}

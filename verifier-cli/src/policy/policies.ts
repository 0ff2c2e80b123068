import { LEDGER_KEY_ANNOUNCED } from '../../../schemas/events/ledger-key.js';
import {
  DEFAULT_POLICY_DELAYS,
  LEDGER_POLICY_SET,
  LedgerPolicySetRecord,
  type OperatorStatements,
} from '../../../schemas/events/ledger-policy.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { isBatch } from '../../../schemas/evidence/batch-header.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Batches } from '../batches/batches.js';
import { LIMITS } from '../container/limits.js';
import type { LineBlock } from '../files/lines.js';
import { type LineReader, type PackageFiles, readerOf } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import { finding } from '../findings/finding.js';
import { type EntryMembers, parseVersioned, type Schemes } from '../versions/schemes.js';

/** Promises of a ledger that apply to a batch. */
export interface PolicyInForce {
  /** The number in the policy's event, or null if the defaults apply. */
  readonly number: number | null;
  /** Maximum time from `created_at` of a record to `sealed_at` of its batch, in milliseconds. */
  readonly sealWithinMs: number;
  /** Maximum time from sealing to the time stamp, in milliseconds. */
  readonly stampWithinMs: number;
  /** Number of distinct time stamp authorities for each checkpoint. */
  readonly stamps: number;
  /** Verifier-key lines of the witnesses. */
  readonly witnesses: readonly string[];
  readonly witnessesRequired: number;
  /** What the operator states of itself and of the authorities. */
  readonly stated: OperatorStatements;
}

/** The policy that applies to batches before the first policy event (docs/evidence-format.md §9). */
export const DEFAULT_POLICY: PolicyInForce = {
  number: null,
  sealWithinMs: DEFAULT_POLICY_DELAYS.sealWithinSeconds * 1000,
  stampWithinMs: DEFAULT_POLICY_DELAYS.stampWithinSeconds * 1000,
  stamps: 1,
  witnesses: [],
  witnessesRequired: 0,
  stated: {},
};

interface PlacedPolicy {
  readonly batch: number;
  /** `created_at` in milliseconds since 1970, as the service claims it. */
  readonly createdAt: number;
  readonly policy: PolicyInForce;
}

/** The policies that a package includes, in the order of the ledger. */
export class Policies {
  /** @param placed the entries in the order of the ledger */
  constructor(readonly placed: readonly PlacedPolicy[] = []) {}

  /** Returns the newest policy in this batch or an earlier one, or the defaults if there is none. */
  inForceAt(batch: number): PolicyInForce {
    return this.placed[this.countUpTo(batch) - 1]?.policy ?? DEFAULT_POLICY;
  }

  /** Returns how many policies this batch and all earlier ones contain. */
  countUpTo(batch: number): number {
    let low = 0;
    let high = this.placed.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.placed[middle]?.batch ?? 0) > batch) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** The events of the stream `policy` that a package includes. */
export interface PolicyEvents {
  readonly policies: Policies;
  /** Lines of the announcements of keys, in the order of the ledger. */
  readonly announced: readonly EntryLine[];
}

/**
 * Reads the policies and announcements before all other entries, although they come last in the file, because the other
 * entries are evaluated by them. Nothing is verified here. Each is verified later as an entry, and no record gets a
 * better verdict than the worst of them.
 */
export async function readPolicies(files: PackageFiles, batches: Batches, schemes: Schemes): Promise<PolicyEvents> {
  const expected = [...batches.values()]
    .flatMap(({ header, runs }) => (isBatch(header.level) ? runs : []))
    .reduce((sum, run) => (run.stream === POLICY_STREAM ? sum + run.last - run.first + 1 : sum), 0);
  if (expected === 0) return { policies: new Policies(), announced: [] };
  const quick = await policyEntries(files, markedLines(), schemes);
  // A writer may escape characters of the stream's name, in which case every line is parsed.
  const found = quick.length === expected ? quick : await policyEntries(files, readerOf(EntryLine), schemes);
  if (found.length > LIMITS.policies)
    files.findings.fail('container.limits', finding('too-many-policies', { limit: LIMITS.policies }));
  return {
    policies: new Policies(found.flatMap((one) => placedPolicy(one) ?? []).sort(byPlace)),
    announced: announcedIn(found),
  };
}

/** Reads only the lines of announcements. A file that escapes the name of their stream has none. */
export async function readAnnouncedLines(files: PackageFiles, schemes: Schemes): Promise<readonly EntryLine[]> {
  return announcedIn(await policyEntries(files, markedLines(), schemes));
}

interface PolicyEntry {
  readonly line: EntryLine;
  readonly entry: EntryMembers;
}

async function policyEntries(
  files: PackageFiles,
  reader: LineReader<EntryLine | null>,
  schemes: Schemes,
): Promise<readonly PolicyEntry[]> {
  // Problems of the file are reported when its entries are verified.
  const again = files.unreported();
  const found: PolicyEntry[] = [];
  for await (const block of again.blocks(PACKAGE_FILES.entries, reader, 'entry.format')) {
    for (const { value: line } of block) {
      const entry = line === null ? null : parseVersioned(schemes.entries, line.entry);
      if (line === null || entry?.kind !== 'known' || entry.value.stream !== POLICY_STREAM) continue;
      // One more than permitted, to show that there are too many.
      if (found.length <= LIMITS.policies) found.push({ line, entry: entry.value });
    }
  }
  return found;
}

function announcedIn(entries: readonly PolicyEntry[]): readonly EntryLine[] {
  return entries
    .filter(({ entry }) => entry.type === LEDGER_KEY_ANNOUNCED)
    .sort((a, b) => a.entry.revision - b.entry.revision)
    .map(({ line }) => line);
}

function byPlace(a: PlacedPolicy, b: PlacedPolicy): number {
  return a.batch - b.batch || (a.policy.number ?? 0) - (b.policy.number ?? 0);
}

function placedPolicy({ line: { batch }, entry }: PolicyEntry): PlacedPolicy | null {
  if (entry.type !== LEDGER_POLICY_SET) return null;
  const record = matchShape(LedgerPolicySetRecord, entry.record);
  if (!record.ok) return null;
  const { number, stamps, witnesses, operator, qualified_stamps } = record.value;
  return {
    batch,
    createdAt: Date.parse(record.value.created_at),
    policy: {
      number,
      sealWithinMs: record.value.seal_within_seconds * 1000,
      stampWithinMs: record.value.stamp_within_seconds * 1000,
      stamps,
      witnesses,
      witnessesRequired: record.value.witnesses_required,
      stated: { ...(operator && { operator }), ...(qualified_stamps && { qualified_stamps }) },
    },
  };
}

const MARK = `\\"stream\\":\\"${POLICY_STREAM}\\"`;
const bySchema = readerOf(EntryLine);

/** Creates a reader that only parses lines with the stream's name, which few of a million lines contain. */
function markedLines(): LineReader<EntryLine | null> {
  let last: LineBlock | null = null;
  let next = -1;
  return (block, start, end) => {
    if (block !== last) next = -1;
    last = block;
    if (next < start) next = indexOrEnd(block.text, start);
    return next < end ? bySchema(block, start, end) : { ok: true, value: null };
  };
}

function indexOrEnd(text: string, start: number): number {
  const at = text.indexOf(MARK, start);
  return at < 0 ? text.length : at;
}

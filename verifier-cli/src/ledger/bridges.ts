import { BridgeLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import {
  isSameKey,
  keyLineOf,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignedNote,
  type VerifierKey,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint, verifyNote } from '../../../schemas/evidence/verify-note.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import { signatureWork } from '../work/work-meter.js';
import type { Checkpoints } from './checkpoints.js';

/** A change of the ledger's keys that all of them signed, before and after. */
export interface Bridge {
  /** Size of the checkpoint that they signed: the last of the old keys. */
  readonly size: number;
  readonly from: readonly VerifierKey[];
  readonly to: readonly VerifierKey[];
}

/** Reads the bridges, oldest first, up to the first that does not hold. */
export async function readBridges(files: PackageFiles, checkpoints: Checkpoints): Promise<readonly Bridge[]> {
  const { findings } = files;
  const bridges: Bridge[] = [];
  for await (const { line, value } of files.lines(PACKAGE_FILES.bridges, BridgeLine, 'ledger.bridge')) {
    const at = { file: PACKAGE_FILES.bridges, line };
    const result =
      bridges.length < LIMITS.bridges
        ? await readBridge(files, value, bridges.at(-1), checkpoints)
        : finding('too-many-bridges');
    if ('code' in result) {
      findings.fail('ledger.bridge', result, at);
      break;
    }
    findings.pass('ledger.bridge');
    bridges.push(result);
  }
  for (const { checkpoint, file } of checkpoints.values()) {
    if (checkpoint.nextKeys.length > 0 && !bridges.some((bridge) => bridge.size === checkpoint.size)) {
      findings.fail('ledger.bridge', finding('bridge-not-listed'), {
        file,
      });
    }
  }
  if (bridges.length === 0) findings.skip('ledger.bridge', finding('no-key-change'));
  return bridges;
}

async function readBridge(
  { work }: PackageFiles,
  line: BridgeLine,
  last: Bridge | undefined,
  checkpoints: Checkpoints,
): Promise<Bridge | Finding> {
  const from = parseKeys(line.from);
  const to = parseKeys(line.to);
  if (from === null || to === null) return finding('bridge-keys-malformed');
  if (last !== undefined && (last.size >= line.size || !areSameKeys(last.to, from)))
    return finding('bridge-not-continued');
  if (from.some((key) => to.some((other) => isSameKey(key, other)))) return finding('bridge-same-key');
  const enclosed = checkpoints.get(line.size);
  if (enclosed === undefined) return finding('bridge-checkpoint-missing', { size: line.size });
  const { checkpoint, note, bytes } = enclosed;
  if ([...from, ...to].some(({ name }) => name !== checkpoint.origin)) return finding('bridge-of-other-ledger');
  if (checkpoint.nextKeys.join('\n') !== line.to.join('\n')) return finding('bridge-line-missing');
  for (const key of [...from, ...to]) if (!work.take(2 * signatureWork(key, bytes.length))) break;
  if (!(await isHandedOver(note, from))) return finding('bridge-old-key-unsigned');
  if (!(await isHandedOver(note, to))) return finding('bridge-new-key-unsigned');
  return { size: line.size, from, to };
}

/**
 * Whether each of these keys signed a bridging checkpoint, and its whole text: the next keys are in
 * extension lines, which the signature of ML-DSA-44 over the checkpoint does not cover.
 */
export async function isHandedOver(note: SignedNote, keys: readonly VerifierKey[]): Promise<boolean> {
  for (const key of keys) {
    if ((await verifyNote(note, key)) !== 'signed') return false;
    if (key.type === SIGNATURE_TYPES.mlDsa && (await verifyCheckpoint(note, key)) !== 'signed') return false;
  }
  return true;
}

/** The keys of these lines; null if one is no verifier key, or two are the same. */
export function parseKeys(lines: readonly string[]): readonly VerifierKey[] | null {
  const keys: VerifierKey[] = [];
  for (const line of lines) {
    const key = parseVerifierKey(line);
    if (key === null || keys.some((other) => isSameKey(key, other))) return null;
    keys.push(key);
  }
  return keys;
}

function areSameKeys(a: readonly VerifierKey[], b: readonly VerifierKey[]): boolean {
  return a.map(keyLineOf).join('\n') === b.map(keyLineOf).join('\n');
}

import { BridgeLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isSameKey, keyLineOf, parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyNote } from '../../../schemas/evidence/verify-note.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Checkpoints } from './checkpoints.js';

/** A change of the ledger's key that both keys signed. */
export interface Bridge {
  /** Size of the checkpoint that both signed: the last of the old key. */
  readonly size: number;
  readonly from: VerifierKey;
  readonly to: VerifierKey;
}

/** Reads the bridges, oldest first, up to the first that does not hold. */
export async function readBridges(files: PackageFiles, checkpoints: Checkpoints): Promise<readonly Bridge[]> {
  const { findings } = files;
  const bridges: Bridge[] = [];
  for await (const { line, value } of files.lines(PACKAGE_FILES.bridges, BridgeLine, 'ledger.bridge')) {
    const at = { file: PACKAGE_FILES.bridges, line };
    const result =
      bridges.length < LIMITS.bridges
        ? await readBridge(value, bridges.at(-1), checkpoints)
        : finding('too-many-bridges');
    if ('code' in result) {
      findings.fail('ledger.bridge', result, at);
      break;
    }
    findings.pass('ledger.bridge');
    bridges.push(result);
  }
  for (const { checkpoint, file } of checkpoints.values()) {
    if (checkpoint.nextKey !== null && !bridges.some((bridge) => bridge.size === checkpoint.size)) {
      findings.fail('ledger.bridge', finding('bridge-not-listed'), {
        file,
      });
    }
  }
  if (bridges.length === 0) findings.skip('ledger.bridge', finding('no-key-change'));
  return bridges;
}

async function readBridge(
  line: BridgeLine,
  last: Bridge | undefined,
  checkpoints: Checkpoints,
): Promise<Bridge | Finding> {
  const from = parseVerifierKey(line.from);
  const to = parseVerifierKey(line.to);
  if (from === null || to === null) return finding('bridge-keys-malformed');
  if (last !== undefined && (last.size >= line.size || !isSameKey(last.to, from)))
    return finding('bridge-not-continued');
  if (isSameKey(from, to)) return finding('bridge-same-key');
  const enclosed = checkpoints.get(line.size);
  if (enclosed === undefined) return finding('bridge-checkpoint-missing', { size: line.size });
  const { checkpoint, note } = enclosed;
  if (from.name !== checkpoint.origin || to.name !== checkpoint.origin) return finding('bridge-of-other-ledger');
  if (checkpoint.nextKey !== keyLineOf(to)) return finding('bridge-line-missing');
  if ((await verifyNote(note, from)) !== 'signed') return finding('bridge-old-key-unsigned');
  if ((await verifyNote(note, to)) !== 'signed') return finding('bridge-new-key-unsigned');
  return { size: line.size, from, to };
}

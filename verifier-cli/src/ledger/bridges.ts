import { BridgeLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import {
  formatVerifierKey,
  parseVerifierKey,
  type VerifierKey,
  verifyNote,
} from '../../../schemas/evidence/signed-note.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
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
        : 'the package includes too many bridges';
    if (typeof result === 'string') {
      findings.fail('ledger.bridge', result, at);
      break;
    }
    findings.pass('ledger.bridge');
    bridges.push(result);
  }
  for (const { checkpoint, file } of checkpoints.values()) {
    if (checkpoint.nextKey !== null && !bridges.some((bridge) => bridge.size === checkpoint.size)) {
      findings.fail('ledger.bridge', 'the checkpoint has a next-key line, but is not listed as a bridge', {
        file,
      });
    }
  }
  if (bridges.length === 0) findings.skip('ledger.bridge', 'the package shows no change of the ledger key');
  return bridges;
}

async function readBridge(
  line: BridgeLine,
  last: Bridge | undefined,
  checkpoints: Checkpoints,
): Promise<Bridge | string> {
  const from = parseVerifierKey(line.from);
  const to = parseVerifierKey(line.to);
  if (from === null || to === null) return 'the keys are malformed';
  if (last !== undefined && (last.size >= line.size || !isSameKey(last.to, from)))
    return 'the bridge does not start at the key and size where the previous bridge ended';
  if (isSameKey(from, to)) return 'the old key and the new key are the same';
  const enclosed = checkpoints.get(line.size);
  if (enclosed === undefined) return `the checkpoint of size ${line.size} is not in the package`;
  const { checkpoint, note } = enclosed;
  if (from.name !== checkpoint.origin || to.name !== checkpoint.origin) return 'the keys belong to another ledger';
  if (checkpoint.nextKey !== formatVerifierKey(to.name, to.publicKey))
    return 'the checkpoint has no next-key line with the new key';
  if ((await verifyNote(note, from)) !== 'signed') return 'the old key did not sign the checkpoint';
  if ((await verifyNote(note, to)) !== 'signed') return 'the new key did not sign the checkpoint';
  return { size: line.size, from, to };
}

export function isSameKey(a: VerifierKey, b: VerifierKey): boolean {
  return formatVerifierKey(a.name, a.publicKey) === formatVerifierKey(b.name, b.publicKey);
}

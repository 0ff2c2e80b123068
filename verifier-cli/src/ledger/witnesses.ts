import {
  type CosignatureLine,
  isCosignatureBy,
  MAX_COSIGNATURES_BYTES,
  parseCosignatures,
  verifyCosignature,
} from '../../../schemas/evidence/cosignature.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { counted } from '../../../schemas/text/counted.js';
import type { PackageFiles } from '../files/package-files.js';
import { finding } from '../findings/finding.js';
import { isQuorumMet, type WitnessTrust } from '../trust/quorum.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { signatureWork } from '../work/work-meter.js';
import type { Checkpoints, EnclosedCheckpoint } from './checkpoints.js';

/** The cosignatures over the newest checkpoint of the package. */
export interface WitnessedCheckpoint {
  /** Size of the newest checkpoint, or null if the package includes none. */
  readonly size: number | null;
  /** Null if any number of witnesses is enough. */
  readonly required: number | null;
  /** The number that the ledger's policy requires. */
  readonly demanded: number;
  /** Given witnesses whose cosignature is valid, with the time that each one states. */
  readonly cosigned: readonly { readonly name: string; readonly time: Date }[];
  /** Names of the given witnesses without a valid cosignature. */
  readonly missing: readonly string[];
  /** Number of cosignatures by keys that were not given. */
  readonly others: number;
}

/** How much later than the time of verification a cosignature may be, in milliseconds. */
const CLOCK_TOLERANCE_MS = 300_000;

interface Cosigned {
  readonly key: VerifierKey;
  readonly time: Date;
}

/**
 * Verifies the cosignatures of the given witnesses over every checkpoint (c2sp.org/tlog-cosignature). Cosignatures of
 * other keys are ignored, because trust only comes from outside the package.
 * @param at time of verification
 * @param demanded number of witnesses that the ledger's policy requires for the newest checkpoint
 */
export async function verifyWitnesses(
  files: PackageFiles,
  checkpoints: Checkpoints,
  { keys, required: given, quorum }: WitnessTrust,
  at: Date,
  demanded: number,
): Promise<WitnessedCheckpoint> {
  const { findings } = files;
  const required = given ?? (keys.length > 0 && demanded > 0 ? demanded : null);
  const newest = [...checkpoints.keys()].at(-1) ?? null;
  let cosigned: readonly Cosigned[] = [];
  let others = 0;
  for (const name of files.archive.keys()) {
    const [, digits] = /^checkpoints\/(\d+)\.cosignatures$/.exec(name) ?? [];
    if (digits === undefined) continue;
    const checkpoint = checkpoints.get(Number(digits));
    const lines = await readLines(files, name, checkpoint);
    if (lines === null || checkpoint === undefined) continue;
    const found = await verifyLines(files, { name, lines, checkpoint }, keys, at);
    if (Number(digits) !== newest) continue;
    cosigned = found;
    others = lines.filter((line) => !keys.some((key) => isCosignatureBy(line, key))).length;
  }
  const hasCosigned = (key: VerifierKey) => cosigned.some((one) => one.key === key);
  const witnesses = new Map(cosigned.toReversed().map((one) => [one.key.name, one] as const));
  if (quorum !== undefined && !isQuorumMet(quorum, hasCosigned)) {
    const found = finding('quorum-not-met', { quorum: quorum.name, cosigned: witnesses.size });
    findings.open('ledger.witnesses', found, {
      file: newest === null ? undefined : PACKAGE_FILES.cosignatures(newest),
    });
  } else if (required !== null && witnesses.size < required) {
    const counts = { cosigned: witnesses.size, required };
    const found =
      given === null ? finding('too-few-witnesses-of-policy', counts) : finding('too-few-witnesses', counts);
    findings.open('ledger.witnesses', found, {
      file: newest === null ? undefined : PACKAGE_FILES.cosignatures(newest),
    });
  } else if (keys.length === 0) {
    const count = counted(others, 'cosignature');
    findings.skip('ledger.witnesses', finding('cosignatures-not-checked', { count }));
  } else if (cosigned.length === 0) {
    findings.skip('ledger.witnesses', finding('no-witness-cosigned'));
  }
  const names = [...new Set(keys.map(({ name }) => name))];
  return {
    size: newest,
    required,
    demanded,
    cosigned: names.flatMap((name) => {
      const found = witnesses.get(name);
      return found === undefined ? [] : [{ name, time: found.time }];
    }),
    missing: names.filter((name) => !witnesses.has(name)),
    others,
  };
}

async function readLines(
  files: PackageFiles,
  file: string,
  checkpoint: EnclosedCheckpoint | undefined,
): Promise<readonly CosignatureLine[] | null> {
  const bytes = await files.bytes(file, MAX_COSIGNATURES_BYTES);
  const lines = bytes === null ? null : parseCosignatures(bytes);
  const problem =
    lines === null || lines.length === 0
      ? finding('cosignatures-malformed')
      : checkpoint === undefined
        ? finding('cosigned-checkpoint-missing')
        : null;
  if (problem === null) return lines;
  files.findings.fail('ledger.witnesses', problem, { file });
  return null;
}

interface CosignedFile {
  readonly name: string;
  readonly lines: readonly CosignatureLine[];
  readonly checkpoint: EnclosedCheckpoint;
}

async function verifyLines(
  { findings, work }: PackageFiles,
  { name: file, lines, checkpoint }: CosignedFile,
  keys: readonly VerifierKey[],
  at: Date,
): Promise<readonly Cosigned[]> {
  const cosigned: Cosigned[] = [];
  for (const key of keys.filter((one) => isSoundKey(one, at))) {
    const [line, ...more] = lines.filter((one) => isCosignatureBy(one, key));
    if (line === undefined) continue;
    if (!work.take(signatureWork(key, checkpoint.bytes.length))) break;
    const time = more.length > 0 ? null : await verifyCosignature(checkpoint.note.text, line, key);
    if (time === null) {
      const witness = key.name;
      const found =
        more.length > 0 ? finding('witness-cosigned-twice', { witness }) : finding('cosignature-invalid', { witness });
      findings.fail('ledger.witnesses', found, { file });
    } else if (time.getTime() > at.getTime() + CLOCK_TOLERANCE_MS) {
      const text = finding('cosignature-later', { witness: key.name, time: time.toISOString() });
      findings.open('ledger.witnesses', text, { file });
    } else {
      findings.pass('ledger.witnesses');
      cosigned.push({ key, time });
    }
  }
  return cosigned;
}

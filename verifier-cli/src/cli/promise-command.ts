import { toHex } from '../../../schemas/crypto/encoding.js';
import type { SignedPromise } from '../../../schemas/evidence/promise.js';
import { verifyPromise } from '../../../schemas/evidence/verify-promise.js';
import { englishText } from '../findings/finding.js';
import { parsePromiseFile } from '../promises/promise-file.js';
import { asciiJson, printable } from '../rendering/printable.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { type LedgerKeyOptions, readTrustedLedgerKeys } from './given-trust.js';
import { readSmallFile } from './input-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify promise`, as commander gives them. */
export interface PromiseOptions extends LedgerKeyOptions {
  readonly json?: boolean;
}

const EXIT = { genuine: 0, forged: 1, 'unknown-key': 3 } as const;
const TITLES = { genuine: 'GENUINE', forged: 'NOT GENUINE', 'unknown-key': 'UNDECIDED' } as const;

/**
 * Verifies a promise and prints what was promised.
 * @returns the exit code
 * @throws UsageError if the file is not a promise
 */
export async function runPromise(
  path: string,
  options: PromiseOptions,
  out: (text: string) => unknown,
): Promise<number> {
  const at = new Date();
  const keys = (await readTrustedLedgerKeys(options)).filter((key) => isSoundKey(key, at));
  const verdict = await verifyPromise(await readPromise(path), keys);
  const { outcome } = verdict;
  const promised = verdict.outcome === 'forged' ? null : verdict.promised;
  const reason = verdict.outcome === 'genuine' ? null : verdict.reason;
  if (options.json === true) {
    const report = {
      format: 'consent-verify-promise',
      version: 1,
      outcome,
      reason,
      promised: promised && {
        origin: promised.origin,
        stream: promised.stream,
        event_id: promised.eventId,
        record_sha256: toHex(promised.recordDigest),
        created_at: promised.createdAt,
        sealed_before: promised.sealedBefore,
      },
    };
    out(`${asciiJson(report)}\n`);
    return EXIT[outcome];
  }
  const lines = [
    reason === null ? `${TITLES[outcome]}: the ledger signed this promise.` : `${TITLES[outcome]}: ${reason}.`,
  ];
  if (promised !== null) {
    lines.push(
      `  ledger         ${promised.origin}`,
      `  stream         ${promised.stream}`,
      `  record         ${promised.eventId}`,
      `  SHA-256        ${toHex(promised.recordDigest)}`,
      `  created        ${promised.createdAt}`,
      `  sealed before  ${promised.sealedBefore}`,
    );
    if (at.getTime() > Date.parse(promised.sealedBefore))
      lines.push(
        'The promised time has passed. To see whether the record was sealed, get a package of the whole site and give the promise to consent-verify check --promise.',
      );
  }
  out(`${lines.map(printable).join('\n')}\n`);
  return EXIT[outcome];
}

/** Reads the promise in a file. @throws UsageError */
export async function readPromise(path: string): Promise<SignedPromise> {
  const parsed = parsePromiseFile(await readSmallFile(path));
  if (!parsed.ok)
    throw new UsageError(
      `${path} is neither a promise, the answer to one consent, nor the acceptance of an SDK: ${englishText(parsed.reason)}`,
    );
  return parsed.value;
}

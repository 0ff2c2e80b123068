import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { WitnessTrust } from '../trust/quorum.js';
import { parseTrustFile, type TrustFile, TrustFileMalformed } from '../trust/trust-file.js';
import { readSmallFile } from './input-files.js';
import { parseWitnesses } from './options.js';
import { readCertificates, readLedgerKeys, readWitnessKeys, type Warn } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options that name keys of a ledger, as commander returns them. */
export interface LedgerKeyOptions {
  /** A trust file, instead of single keys. */
  readonly trust?: string;
  readonly ledgerKey?: readonly string[];
}

/** Options that name everything that is trusted, as commander returns them. */
export interface TrustOptions extends LedgerKeyOptions {
  readonly tsaCa?: readonly string[];
  readonly witnessKey?: readonly string[];
  /** How many of these witnesses must have cosigned the newest checkpoint. */
  readonly witnesses?: string;
}

/**
 * Reads what the relying party trusts: the file of `--trust`, or the single options. Roots of time stamp authorities
 * may be given in addition to the file, because policy files of other programs do not contain any.
 * @throws UsageError
 */
export async function readTrust(options: TrustOptions, warn: Warn): Promise<TrustFile> {
  const { trust, ledgerKey = [], witnessKey = [], witnesses } = options;
  const roots = await readCertificates(options.tsaCa ?? [], warn);
  if (trust === undefined) {
    const given: WitnessTrust = parseWitnesses(await readWitnessKeys(witnessKey), witnesses);
    return { ledgerKeys: await readLedgerKeys(ledgerKey), witnesses: given, trustAnchors: roots };
  }
  if (ledgerKey.length > 0 || witnessKey.length > 0 || witnesses !== undefined)
    throw new UsageError(
      '--trust names the ledger keys and the witnesses: leave out --ledger-key, --witness-key and --witnesses',
    );
  const file = await readTrustFile(trust);
  return { ...file, trustAnchors: [...file.trustAnchors, ...roots] };
}

/**
 * Reads the ledger keys that are trusted.
 * @param readKeys reads the values of `--ledger-key`
 * @throws UsageError
 */
export async function readTrustedLedgerKeys(
  { trust, ledgerKey = [] }: LedgerKeyOptions,
  readKeys: (values: readonly string[]) => Promise<readonly VerifierKey[]> = readLedgerKeys,
): Promise<readonly VerifierKey[]> {
  if (trust === undefined) return await readKeys(ledgerKey);
  if (ledgerKey.length > 0) throw new UsageError('--trust names the ledger keys: leave out --ledger-key');
  return (await readTrustFile(trust)).ledgerKeys;
}

async function readTrustFile(path: string): Promise<TrustFile> {
  const bytes = await readSmallFile(path);
  try {
    return parseTrustFile(bytes);
  } catch (error) {
    if (!(error instanceof TrustFileMalformed)) throw error;
    throw new UsageError(`${path} is not a trust policy (c2sp.org/tlog-policy): ${error.message}`);
  }
}

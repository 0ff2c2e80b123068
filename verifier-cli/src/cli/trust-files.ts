import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../../schemas/rfc3161/revocation/crl.js';
import { parseOcspResponse } from '../../../schemas/rfc3161/revocation/ocsp.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import { CERTIFICATE_LABEL, derBlocks, ledgerKeysIn } from '../trust/trust-material.js';
import { readSmallFile } from './input-files.js';
import { UsageError } from './usage-error.js';

const CRL = /^X509 CRL$/;

/** Reports input that is ignored, in one sentence. */
export type Warn = (text: string) => unknown;

/**
 * Reads certificates from files in PEM (one or more in each, other blocks ignored) or DER.
 * @returns DER, one item for each certificate
 * @throws UsageError
 */
export function readCertificates(paths: readonly string[], warn: Warn): Promise<readonly Uint8Array[]> {
  return readAll(paths, warn, CERTIFICATE_LABEL, parseCertificate, 'certificate in PEM or DER');
}

/** CRLs of files in PEM or DER. @returns DER, one item for each CRL @throws UsageError */
export function readCrls(paths: readonly string[], warn: Warn): Promise<readonly Uint8Array[]> {
  return readAll(paths, warn, CRL, parseCrl, 'CRL in PEM or DER');
}

/** OCSP answers of files in DER (PEM has no label for them). @throws UsageError */
export function readOcspResponses(paths: readonly string[], warn: Warn): Promise<readonly Uint8Array[]> {
  return readAll(paths, warn, /^OCSP RESPONSE$/, parseOcspResponse, 'OCSP response in DER');
}

/**
 * Reads the items of files. Items that cannot be read are reported and ignored, because bundles of authorities contain
 * certificates of every age.
 */
async function readAll(
  paths: readonly string[],
  warn: Warn,
  label: RegExp,
  parse: (der: Uint8Array) => unknown,
  what: string,
): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const path of paths) {
    const items = derBlocks(await readSmallFile(path), label);
    const problems = items.map((der) => attempt(() => parse(der)));
    const readable = items.filter((_, i) => !(problems[i] instanceof MalformedInput));
    if (readable.length === 0) throw new UsageError(`${path} contains no readable ${what}`);
    for (const [i, problem] of problems.entries()) {
      if (problem instanceof MalformedInput)
        warn(`${path}: item ${i + 1} of ${items.length} was ignored, because it cannot be read: ${problem.message}`);
    }
    found.push(...readable);
  }
  return found;
}

/**
 * Keys of witnesses. Each value is a verifier-key line of type 0x04 or 0x06, or a file with such lines.
 * @throws UsageError
 */
export function readWitnessKeys(values: readonly string[]): Promise<readonly VerifierKey[]> {
  return readKeyLines(values, parseWitnessKey, 'a witness, of type 0x04 or 0x06');
}

/**
 * Keys of ledgers. Each value is a verifier-key line, or a file with such lines.
 * @throws UsageError
 */
export function readKeysOrFiles(values: readonly string[]): Promise<readonly VerifierKey[]> {
  return readKeyLines(values, (line) => parseVerifierKey(line), 'a ledger');
}

async function readKeyLines(
  values: readonly string[],
  parse: (line: string) => VerifierKey | null,
  whose: string,
): Promise<readonly VerifierKey[]> {
  const found: VerifierKey[] = [];
  for (const value of values) {
    const key = parse(value);
    const lines = key === null ? (decodeUtf8(await readSmallFile(value)) ?? '').split(/\r?\n/) : [];
    const keys = key === null ? lines.map(parse).filter((one) => one !== null) : [key];
    if (keys.length === 0)
      throw new UsageError(`${value} contains no verifier-key line of ${whose} (<name>+<id>+<key>)`);
    found.push(...keys);
  }
  return found;
}

/**
 * Keys of ledgers from files with C2SP verifier-key lines. Other lines are ignored.
 * @throws UsageError
 */
export async function readLedgerKeys(paths: readonly string[]): Promise<readonly VerifierKey[]> {
  const found: VerifierKey[] = [];
  for (const path of paths) {
    const text = decodeUtf8(await readSmallFile(path)) ?? '';
    const keys = ledgerKeysIn(text);
    if (keys.length === 0)
      throw new UsageError(`${path} contains no verifier-key line of a ledger (<name>+<id>+<key>)`);
    found.push(...keys);
  }
  return found;
}

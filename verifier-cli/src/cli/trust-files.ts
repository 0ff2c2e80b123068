import { decodeUtf8, fromBase64 } from '../../../schemas/crypto/encoding.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../../schemas/rfc3161/revocation/crl.js';
import { parseOcspResponse } from '../../../schemas/rfc3161/revocation/ocsp.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import { readSmallFile } from './input-files.js';
import { UsageError } from './usage-error.js';

const CERTIFICATE = /^(?:TRUSTED |X509 )?CERTIFICATE$/;
const CRL = /^X509 CRL$/;

/**
 * Certificates of files in PEM (one or more in each, other blocks ignored) or DER.
 * @returns DER, one item a certificate
 * @throws UsageError
 */
export function readCertificates(paths: readonly string[]): Promise<readonly Uint8Array[]> {
  return readAll(paths, CERTIFICATE, parseCertificate, 'certificate in PEM or DER');
}

/** CRLs of files in PEM or DER. @returns DER, one item a CRL @throws UsageError */
export function readCrls(paths: readonly string[]): Promise<readonly Uint8Array[]> {
  return readAll(paths, CRL, parseCrl, 'CRL in PEM or DER');
}

/** OCSP answers of files in DER (PEM has no label for them). @throws UsageError */
export function readOcspResponses(paths: readonly string[]): Promise<readonly Uint8Array[]> {
  return readAll(paths, /^OCSP RESPONSE$/, parseOcspResponse, 'OCSP answer in DER');
}

async function readAll(
  paths: readonly string[],
  label: RegExp,
  parse: (der: Uint8Array) => unknown,
  what: string,
): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const path of paths) {
    const items = blocksIn(await readSmallFile(path), label);
    const isReadable = items.every((der) => !(attempt(() => parse(der)) instanceof MalformedInput));
    if (items.length === 0 || !isReadable) throw new UsageError(`${path} holds no ${what} that can be read`);
    found.push(...items);
  }
  return found;
}

function blocksIn(bytes: Uint8Array, label: RegExp): readonly Uint8Array[] {
  const text = decodeUtf8(bytes);
  if (text === null || !text.includes('-----BEGIN ')) return [bytes];
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g);
  return [...blocks]
    .filter(([, name]) => label.test(name ?? ''))
    .map(([, , body]) => fromBase64((body ?? '').replaceAll(/\s/g, '')) ?? new Uint8Array());
}

/**
 * Keys of ledgers: files with a C2SP verifier-key line; empty lines and such as begin with # are ignored.
 * @throws UsageError
 */
export async function readLedgerKeys(paths: readonly string[]): Promise<readonly VerifierKey[]> {
  const found: VerifierKey[] = [];
  for (const path of paths) {
    const text = decodeUtf8(await readSmallFile(path)) ?? '';
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const keys = lines.map(parseVerifierKey).filter((key) => key !== null);
    if (keys.length === 0) throw new UsageError(`${path} holds no verifier-key line of a ledger (<name>+<id>+<key>)`);
    found.push(...keys);
  }
  return found;
}

import { readFile, stat } from 'node:fs/promises';
import { decodeUtf8, fromBase64 } from '../../../schemas/crypto/encoding.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import { UsageError } from './usage-error.js';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Certificates of files in PEM (one or more in each, other blocks ignored) or DER.
 * @returns DER, one item a certificate
 * @throws UsageError
 */
export async function readCertificates(paths: readonly string[]): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const path of paths) {
    const certificates = certificatesIn(await readSmall(path));
    const isReadable = certificates.every((der) => !(attempt(() => parseCertificate(der)) instanceof MalformedInput));
    if (certificates.length === 0 || !isReadable)
      throw new UsageError(`${path} holds no certificate in PEM or DER that can be read`);
    found.push(...certificates);
  }
  return found;
}

function certificatesIn(bytes: Uint8Array): readonly Uint8Array[] {
  const text = decodeUtf8(bytes);
  if (text === null || !text.includes('-----BEGIN ')) return [bytes];
  const blocks = text.matchAll(
    /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g,
  );
  return [...blocks].map(([, body]) => fromBase64((body ?? '').replaceAll(/\s/g, '')) ?? new Uint8Array());
}

/**
 * Keys of ledgers: files with a C2SP verifier-key line; empty lines and such as begin with # are ignored.
 * @throws UsageError
 */
export async function readLedgerKeys(paths: readonly string[]): Promise<readonly VerifierKey[]> {
  const found: VerifierKey[] = [];
  for (const path of paths) {
    const text = decodeUtf8(await readSmall(path)) ?? '';
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const keys = lines.map(parseVerifierKey).filter((key) => key !== null);
    if (keys.length === 0) throw new UsageError(`${path} holds no verifier-key line of a ledger (<name>+<id>+<key>)`);
    found.push(...keys);
  }
  return found;
}

async function readSmall(path: string): Promise<Uint8Array> {
  try {
    if ((await stat(path)).size > MAX_BYTES) throw new UsageError(`${path} is too large`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

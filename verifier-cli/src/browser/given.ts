import { decodeUtf8, utf8 } from '../../../schemas/crypto/encoding.js';
import { Contradiction } from '../../../schemas/evidence/contradiction.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import { parseShape } from '../files/parse.js';
import { isTrustFile, parseTrustFile, type TrustFile, TrustFileMalformed } from '../trust/trust-file.js';
import { CERTIFICATE_LABEL, derBlocks, ledgerKeysIn } from '../trust/trust-material.js';

/** The recognised kind of a file. */
export type Given =
  /** A package or a receipt. */
  | { readonly kind: 'package'; readonly file: File }
  | { readonly kind: 'contradiction'; readonly file: File; readonly proof: Contradiction }
  | { readonly kind: 'roots'; readonly certificates: readonly Uint8Array[] }
  | { readonly kind: 'keys'; readonly keys: readonly VerifierKey[] }
  /** A string states why the file cannot be used. */
  | { readonly kind: 'trust'; readonly trust: TrustFile | string }
  | { readonly kind: 'unknown' };

/** Larger files are treated as packages: no certificate or key is this large. */
const MAX_TRUST_BYTES = 16 * 1024 * 1024;

/** Recognises a dropped or chosen file by its content. */
export async function recognise(file: File): Promise<Given> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isZip = start[0] === 0x50 && start[1] === 0x4b;
  if (isZip || file.size > MAX_TRUST_BYTES) return { kind: 'package', file };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const proof = parseShape(Contradiction, bytes);
  if (proof.ok) return { kind: 'contradiction', file, proof: proof.value };
  if (parseShape(Receipt, bytes).ok) return { kind: 'package', file };
  const text = decodeUtf8(bytes) ?? '';
  if (isTrustFile(text)) return trustIn(bytes);
  const certificates = certificatesIn(bytes);
  if (certificates.length > 0) return { kind: 'roots', certificates };
  const keys = ledgerKeysIn(text);
  if (keys.length > 0) return { kind: 'keys', keys };
  return file.name.toLowerCase().endsWith('.zip') ? { kind: 'package', file } : { kind: 'unknown' };
}

function trustIn(bytes: Uint8Array): Given {
  try {
    return { kind: 'trust', trust: parseTrustFile(bytes) };
  } catch (error) {
    if (!(error instanceof TrustFileMalformed)) throw error;
    return { kind: 'trust', trust: error.message };
  }
}

/** The certificates in PEM that were typed or pasted. */
export function typedCertificates(text: string): readonly Uint8Array[] {
  return text.includes('-----BEGIN ') ? certificatesIn(utf8(text)) : [];
}

function certificatesIn(bytes: Uint8Array): readonly Uint8Array[] {
  return derBlocks(bytes, CERTIFICATE_LABEL).filter(
    (der) => !(attempt(() => parseCertificate(der)) instanceof MalformedInput),
  );
}

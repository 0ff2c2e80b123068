import { decodeUtf8, utf8 } from '../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { Contradiction } from '../../../schemas/evidence/contradiction.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import { parseNote, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import { parseConsistencyFile } from '../compare/consistency.js';
import { parseShape } from '../files/parse.js';
import { parsePromiseFile } from '../promises/promise-file.js';
import type { GivenPromise } from '../promises/promised-records.js';
import { isTrustFile, parseTrustFile, type TrustFile, TrustFileMalformed } from '../trust/trust-file.js';
import { CERTIFICATE_LABEL, derBlocks, ledgerKeysIn, witnessKeysIn } from '../trust/trust-material.js';

/** The recognised kind of a file. */
export type Given =
  /** A package or a receipt. */
  | { readonly kind: 'package'; readonly file: File }
  | { readonly kind: 'contradiction'; readonly file: File; readonly proof: Contradiction }
  | { readonly kind: 'note'; readonly file: File }
  | { readonly kind: 'roots'; readonly certificates: readonly Uint8Array[] }
  /** Keys of ledgers and of witnesses, which their lines distinguish. */
  | { readonly kind: 'keys'; readonly keys: readonly VerifierKey[]; readonly witnessKeys: readonly VerifierKey[] }
  /** A string that states why the file cannot be used. */
  | { readonly kind: 'trust'; readonly name: string; readonly trust: TrustFile | string }
  | { readonly kind: 'promise'; readonly given: GivenPromise }
  | { readonly kind: 'consistency'; readonly proofs: readonly ConsistencyLine[] }
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
  const promise = parsePromiseFile(bytes);
  if (promise.ok) return { kind: 'promise', given: { file: file.name, promise: promise.value } };
  const proofs = parseConsistencyFile(bytes);
  if (proofs !== null) return { kind: 'consistency', proofs };
  const text = decodeUtf8(bytes) ?? '';
  if (isTrustFile(text)) return { kind: 'trust', name: file.name, trust: trustIn(bytes) };
  const certificates = certificatesIn(bytes);
  if (certificates.length > 0) return { kind: 'roots', certificates };
  const [keys, witnessKeys] = [ledgerKeysIn(text), witnessKeysIn(text)];
  if (keys.length + witnessKeys.length > 0) return { kind: 'keys', keys, witnessKeys };
  const note = parseNote(text);
  if (note !== null && parseCheckpoint(note.text) !== null) return { kind: 'note', file };
  return file.name.toLowerCase().endsWith('.zip') ? { kind: 'package', file } : { kind: 'unknown' };
}

function trustIn(bytes: Uint8Array): TrustFile | string {
  try {
    return parseTrustFile(bytes);
  } catch (error) {
    if (!(error instanceof TrustFileMalformed)) throw error;
    return error.message;
  }
}

/** Returns the PEM certificates that were typed or pasted. */
export function typedCertificates(text: string): readonly Uint8Array[] {
  return text.includes('-----BEGIN ') ? certificatesIn(utf8(text)) : [];
}

function certificatesIn(bytes: Uint8Array): readonly Uint8Array[] {
  return derBlocks(bytes, CERTIFICATE_LABEL).filter(
    (der) => !(attempt(() => parseCertificate(der)) instanceof MalformedInput),
  );
}

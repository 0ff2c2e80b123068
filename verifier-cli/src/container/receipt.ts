import { concatBytes, decodeUtf8, fromBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { isTextFile, MAX_RECEIPT_BYTES, Receipt } from '../../../schemas/evidence/receipt.js';
import { parseShape } from '../files/parse.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { type Archive, type ArchiveFile, openArchive } from './archive.js';
import { type ByteSource, memorySource } from './byte-source.js';
import { crc32 } from './crc32.js';
import { acceptName } from './names.js';

/** The files of a package or of a receipt. */
export interface Container {
  readonly kind: 'package' | 'receipt';
  readonly archive: Archive;
  /** The bytes that the archive refers to. */
  readonly source: ByteSource;
}

const OPENING_BRACE = 0x7b;

/**
 * Opens a package (ZIP) or a receipt (JSON), and checks its structure.
 * @returns null if the bytes are neither
 */
export async function openContainer(source: ByteSource, findings: Findings): Promise<Container | null> {
  const isJson = source.size > 0 && source.size <= MAX_RECEIPT_BYTES && (await source.read(0, 1))[0] === OPENING_BRACE;
  if (isJson) return openReceipt(await source.read(0, source.size), findings);
  const archive = await openArchive(source, findings);
  return archive === null ? null : { kind: 'package', archive, source };
}

function openReceipt(bytes: Uint8Array, findings: Findings): Container | null {
  const parsed = parseShape(Receipt, bytes);
  if (!parsed.ok) return null;
  // One text for each receipt: white space and escapes that mean the same are not accepted.
  if (JSON.stringify(parsed.value) !== decodeUtf8(bytes)?.replace(/\n$/, ''))
    findings.fail('container.structure', finding('receipt-other-form'));
  const archive = new Map<string, ArchiveFile>();
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(parsed.value.files)) {
    if (!acceptName(name, finding('receipt'), findings)) continue;
    const content = isTextFile(name) ? utf8(text) : fromBase64(text);
    if (content === null) {
      findings.fail('container.structure', finding('receipt-not-base64'), { file: name });
      continue;
    }
    findings.pass('container.structure');
    findings.pass('container.limits');
    const { length } = content;
    archive.set(name, {
      ...{ name, size: length, packedSize: length, crc: crc32(content, 0), isDeflated: false, dataStart: offset },
    });
    parts.push(content);
    offset += length;
  }
  return { kind: 'receipt', archive, source: memorySource(concatBytes(...parts)) };
}

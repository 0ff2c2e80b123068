import { concatBytes, decodeUtf8, fromBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isTextFile, MAX_RECEIPT_BYTES, Receipt } from '../../../schemas/evidence/receipt.js';
import { type Archive, type ArchiveFile, openArchive } from '../container/archive.js';
import { type ByteSource, memorySource, readAhead } from '../container/byte-source.js';
import { crc32 } from '../container/crc32.js';
import { acceptName } from '../container/names.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { parseShape } from './parse.js';

/** The files of a package or of a receipt. */
export interface Container {
  readonly kind: 'package' | 'receipt';
  readonly archive: Archive;
  /** Whether the container lists a manifest, which may be unreadable. A file without one is not a package. */
  readonly hasManifest: boolean;
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
  const ahead = readAhead(source);
  const opened = await openArchive(ahead, findings);
  return opened === null ? null : { kind: 'package', ...opened, source: ahead };
}

function openReceipt(bytes: Uint8Array, findings: Findings): Container | null {
  const parsed = parseShape(Receipt, bytes);
  if (!parsed.ok) return null;
  // Each receipt has exactly one text, so white space and alternative escapes are refused.
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
      name,
      size: length,
      packedSize: length,
      crc: crc32(content, 0),
      isDeflated: false,
      dataStart: offset,
    });
    parts.push(content);
    offset += length;
  }
  const hasManifest = Object.hasOwn(parsed.value.files, PACKAGE_FILES.manifest);
  return { kind: 'receipt', archive, hasManifest, source: memorySource(concatBytes(...parts)) };
}

import { sha256 } from '../../../schemas/crypto/digest.js';
import { decodeUtf8, toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { type AttachmentName, isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { AttachmentReference } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { PackageFiles } from '../files/package-files.js';
import { type PictureType, pictureTypeOf } from '../rendering/picture-type.js';
import { MAX_TEXT_BYTES } from '../report/report.js';

/** A file of the person to which the record commits, so its content is what was recorded. */
export interface ShownAttachment {
  readonly name: AttachmentName;
  /** Name in the package. */
  readonly file: string;
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  /** The type that was sent with the file, which is a claim. */
  readonly media_type: string;
  /** The type according to the first bytes, or null if it is not a picture that can be shown. */
  readonly picture: PictureType | null;
  /** Null if the content is not UTF-8, or is longer than `MAX_TEXT_BYTES`. */
  readonly text: string | null;
  /** The content, or null if it is longer than `MAX_ATTACHMENT_BYTES`. */
  readonly base64: string | null;
}

/** Content of a file that is shown. */
export const MAX_ATTACHMENT_BYTES = 4 * 1024 * 1024;

/**
 * Reads the files that disclosed values name. One that is missing or changed is left out: the check
 * `disclosure.attachment` reports it.
 * @param disclosed disclosed values that the record commits to
 */
export async function shownAttachments(
  files: PackageFiles,
  disclosed: readonly { readonly name: string; readonly value: JsonValue }[],
): Promise<readonly ShownAttachment[]> {
  const shown: ShownAttachment[] = [];
  for (const { name, value } of disclosed) {
    const reference = isAttachmentName(name) ? AttachmentReference.safeParse(value) : null;
    if (!isAttachmentName(name) || reference?.success !== true) continue;
    const attachment = await readAttachment(files, name, reference.data);
    if (attachment !== null) shown.push(attachment);
  }
  return shown;
}

async function readAttachment(
  files: PackageFiles,
  name: AttachmentName,
  reference: AttachmentReference,
): Promise<ShownAttachment | null> {
  const file = PACKAGE_FILES.attachment(reference.sha256);
  const known = { name, file, ...reference };
  if (files.archive.get(file)?.size !== reference.size) return null;
  if (reference.size > MAX_ATTACHMENT_BYTES) {
    const isIntact = (await files.digest(file)) === reference.sha256;
    return isIntact ? { ...known, picture: null, text: null, base64: null } : null;
  }
  const bytes = await files.unreported().bytes(file, MAX_ATTACHMENT_BYTES);
  if (bytes === null || toHex(sha256(bytes)) !== reference.sha256) return null;
  const picture = pictureTypeOf(bytes);
  const isText = picture === null && bytes.length <= MAX_TEXT_BYTES;
  return { ...known, picture, text: isText ? decodeUtf8(bytes) : null, base64: toBase64(bytes) };
}

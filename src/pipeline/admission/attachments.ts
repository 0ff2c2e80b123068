import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import type { ConsentRequest } from '../../../schemas/api/consents.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { fromBase64, toHex } from '../../../schemas/crypto/encoding.js';
import type { AttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { RequestRefused } from '../../platform/errors.js';

/** A large value of a consent, stored separately from the event. */
export interface Attachment {
  /** Name of the request field that contained it. */
  readonly field: AttachmentName;
  readonly mediaType: string;
  readonly content: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

const startsWith = (bytes: Uint8Array, magic: readonly number[], offset = 0): boolean =>
  magic.every((byte, i) => bytes[offset + i] === byte);

/** Largest width and height of a picture, in pixels. Chromium's screenshot of a long page has 16,384. */
const MAX_PIXELS = 32_768;
const PNG_HEAD = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
const PNG_END = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];

/**
 * Returns whether bytes are a complete PNG of a usable size: the first chunk states the size, and the last one marks
 * the end (PNG, third edition, §5.2, §11.2.1). A truncated picture shows only part of what was signed, and a stated
 * size of 2^31 pixels would crash the viewer.
 */
function isPng(bytes: Uint8Array): boolean {
  if (!startsWith(bytes, PNG_HEAD) || !startsWith(bytes, PNG_END, bytes.length - PNG_END.length)) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [16, 20].every((offset) => {
    const pixels = view.getUint32(offset);
    return pixels >= 1 && pixels <= MAX_PIXELS;
  });
}

/**
 * Image types, recognized by their bytes. SVG is excluded because a browser executes scripts in it.
 */
const IMAGE_TYPES: Readonly<Record<string, (bytes: Uint8Array) => boolean>> = {
  'image/png': isPng,
  'image/jpeg': (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff]),
  'image/webp': (bytes) =>
    startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes, [0x57, 0x45, 0x42, 0x50], 8),
};

const PDF = 'application/pdf';
const PDF_MAGIC = [0x25, 0x50, 0x44, 0x46, 0x2d];
const TEXT_TYPES = new Set(['text/plain', 'text/html', 'text/markdown']);

/**
 * Decodes the large values of a consent and compares them with their declared types.
 * @throws RequestRefused INVALID_SIGNATURE_IMAGE, SIGNATURE_IMAGE_TOO_LARGE,
 *   INVALID_CUSTOM_DOCUMENT, UNSUPPORTED_CUSTOM_DOCUMENT_TYPE, CUSTOM_DOCUMENT_TOO_LARGE;
 *   VALIDATION_ERROR for a picture of what was shown
 */
export function attachmentsOf(request: ConsentRequest): readonly Attachment[] {
  const attachments: Attachment[] = [];
  if (request.signature_image != null) {
    attachments.push(signatureImage(request.signature_image, request.signature_mime_type ?? null));
  }
  if (request.custom_document_content != null) {
    attachments.push(customDocument(request.custom_document_content, request.custom_document_mime_type ?? null));
  }
  if (request.presentation_screenshot != null) attachments.push(screenshot(request.presentation_screenshot));
  return attachments;
}

function signatureImage(text: string, statedType: string | null): Attachment {
  const image = imageOf(text, CONSENT_LIMITS.signatureImageBytes);
  if (image === 'too large') throw new RequestRefused('SIGNATURE_IMAGE_TOO_LARGE');
  if (image === null || (statedType !== null && bareType(statedType) !== image.mediaType)) {
    throw new RequestRefused('INVALID_SIGNATURE_IMAGE');
  }
  return attachment('signature_image', image.mediaType, image.content);
}

/** Decodes the picture of what a backend showed. The specification has no error code for it. */
function screenshot(text: string): Attachment {
  const image = imageOf(text, CONSENT_LIMITS.screenshotBytes);
  if (image === null || image === 'too large') {
    const message =
      image === null
        ? 'must be base64 of a PNG, JPEG or WebP'
        : `is larger than ${CONSENT_LIMITS.screenshotBytes} bytes`;
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field: 'presentation_screenshot', message }],
    });
  }
  return attachment('presentation_screenshot', image.mediaType, image.content);
}

/** Decodes a picture. @returns null if it is not a picture, or not of the type that its `data:` URL states */
function imageOf(text: string, maxBytes: number): Pick<Attachment, 'mediaType' | 'content'> | 'too large' | null {
  const { mediaType: urlType, payload } = splitDataUrl(text);
  if (base64Size(payload) > maxBytes) return 'too large';
  const content = fromBase64(payload);
  const mediaType =
    content === null ? undefined : Object.keys(IMAGE_TYPES).find((type) => IMAGE_TYPES[type]?.(content));
  if (content === null || mediaType === undefined || (urlType !== null && urlType !== mediaType)) return null;
  return { mediaType, content };
}

/**
 * Decodes a custom document. A text is the document itself; a PDF is base64, as in the responses of
 * the document routes.
 */
function customDocument(text: string, statedType: string | null): Attachment {
  const limit = CONSENT_LIMITS.customDocumentBytes;
  const { mediaType: urlType, payload } = splitDataUrl(text);
  const mediaType = statedType === null ? urlType : bareType(statedType);
  if (mediaType === null || (mediaType !== PDF && !TEXT_TYPES.has(mediaType))) {
    throw new RequestRefused('UNSUPPORTED_CUSTOM_DOCUMENT_TYPE');
  }
  if (urlType !== null && urlType !== mediaType) throw new RequestRefused('INVALID_CUSTOM_DOCUMENT');
  const isText = mediaType !== PDF && urlType === null;
  if ((isText ? Buffer.byteLength(text) : base64Size(payload)) > limit)
    throw new RequestRefused('CUSTOM_DOCUMENT_TOO_LARGE');
  const content = isText ? new Uint8Array(Buffer.from(text, 'utf8')) : fromBase64(payload);
  if (content === null || content.length === 0) throw new RequestRefused('INVALID_CUSTOM_DOCUMENT');
  if (mediaType === PDF && !startsWith(content, PDF_MAGIC)) throw new RequestRefused('INVALID_CUSTOM_DOCUMENT');
  return attachment('custom_document_content', mediaType, content);
}

function attachment(field: Attachment['field'], mediaType: string, content: Uint8Array): Attachment {
  return { field, mediaType, content, sha256: toHex(sha256(content)) };
}

/** Returns the number of bytes that a base64 text decodes to. */
function base64Size(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(text.length / 4) * 3 - padding;
}

const DATA_URL_HEAD = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

function splitDataUrl(text: string): { mediaType: string | null; payload: string } {
  const head = DATA_URL_HEAD.exec(text.slice(0, 100));
  if (head === null) return { mediaType: null, payload: text };
  return { mediaType: bareType(head[1] ?? ''), payload: text.slice(head[0].length) };
}

/** Returns a media type in lower case, without its parameters. */
function bareType(text: string): string {
  const bare = (text.split(';')[0] ?? '').trim().toLowerCase();
  return bare === 'image/jpg' ? 'image/jpeg' : bare;
}

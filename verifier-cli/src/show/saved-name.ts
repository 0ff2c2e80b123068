import type { ShownAttachment } from './shown-attachments.js';

const BEGINNINGS = {
  signature_image: 'signature',
  custom_document_content: 'document',
  presentation_screenshot: 'presentation',
} as const;
const ENDINGS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp' } as const;

/**
 * The name under which a file of the person is saved. The extension depends only on the content, because a file that
 * was sent as HTML or SVG must not open in a browser.
 */
export function savedName({ name, sha256, picture, text }: ShownAttachment): string {
  const ending = picture === null ? (text === null ? 'bin' : 'txt') : ENDINGS[picture];
  return `${BEGINNINGS[name]}-${sha256.slice(0, 12)}.${ending}`;
}

/** Types of pictures that are shown: none of them can hold a script or a reference. */
export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];
const GIF = [0x47, 0x49, 0x46, 0x38];
const RIFF = [0x52, 0x49, 0x46, 0x46];
const WEBP = [0x57, 0x45, 0x42, 0x50];

/**
 * Determines the type of a picture by its first bytes. The type that was sent is only a claim, and SVG and HTML can
 * contain scripts.
 * @returns null if it is not a picture of these types
 */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const starts = (magic: readonly number[], at = 0): boolean =>
    magic.every((octet, index) => bytes[at + index] === octet);
  if (starts(PNG)) return 'image/png';
  if (starts(JPEG)) return 'image/jpeg';
  if (starts(GIF)) return 'image/gif';
  return starts(RIFF) && starts(WEBP, 8) ? 'image/webp' : null;
}

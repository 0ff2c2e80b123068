import { readFile } from 'node:fs/promises';
import { decodeUtf8, toBase64 } from '../../../schemas/crypto/encoding.js';
import { isTextMediaType } from '../../tenancy/documents/document-content.js';
import { CommandError, EXIT } from '../command/exit-codes.js';

/** Options for the content of a version. */
export interface ContentOptions {
  readonly content?: string;
  readonly file?: string;
}

/**
 * Reads the content: the text itself, or base64 for a binary media type.
 * @returns undefined if neither option is given
 * @throws CommandError if both are given, or a text file is not UTF-8; file-system errors
 */
export async function readContentOption(
  { content, file }: ContentOptions,
  mediaType: string,
): Promise<string | undefined> {
  if (content !== undefined && file !== undefined) {
    throw new CommandError('Give only one of --content and --file.', EXIT.usage);
  }
  if (file === undefined) return content;
  const bytes = await readFile(file);
  if (!isTextMediaType(mediaType)) return toBase64(bytes);
  const text = decodeUtf8(bytes);
  if (text === null) throw new CommandError(`${file} is not valid UTF-8. Convert it, or give another --media-type.`);
  return text;
}

/** Reads the content. @throws CommandError also if neither option is given */
export async function requireContentOption(options: ContentOptions, mediaType: string): Promise<string> {
  const content = await readContentOption(options, mediaType);
  if (content === undefined) throw new CommandError('Give the content with --content or --file.', EXIT.usage);
  return content;
}

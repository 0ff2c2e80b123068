import { writeFile } from 'node:fs/promises';
import { fromBase64 } from '../../../schemas/crypto/encoding.js';
import { savedName } from '../show/saved-name.js';
import type { ShownRecord } from '../show/shown-record.js';
import { UsageError } from './usage-error.js';

/**
 * Writes the files of the person to an existing folder. Existing files are not overwritten.
 * @throws UsageError if a file exists or cannot be written
 */
export async function saveAttachments(folder: string, { attachments }: ShownRecord): Promise<void> {
  for (const attachment of attachments) {
    const bytes = attachment.base64 === null ? null : fromBase64(attachment.base64);
    if (bytes === null)
      throw new UsageError(`${attachment.file} is too large to be saved: extract it from the package`);
    const file = `${folder}/${savedName(attachment)}`;
    await writeFile(file, bytes, { flag: 'wx' }).catch((error: unknown) => {
      throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
  }
}

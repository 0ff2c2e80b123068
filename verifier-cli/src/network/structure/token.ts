import { decodeUtf8 } from '../../../../schemas/crypto/encoding.js';
import { readSmallFile } from '../../cli/input-files.js';
import { UsageError } from '../../cli/usage-error.js';

/** The bearer token in a file. @throws UsageError if it has none */
export async function readToken(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const token = decodeUtf8(await readSmallFile(path))?.trim() ?? '';
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${path} contains no bearer token`);
  return token;
}

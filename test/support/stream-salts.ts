import { sha256 } from '../../schemas/crypto/digest.js';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { siteOfStream } from '../../schemas/events/streams.js';
import { type StreamKeyOf, streamKey } from '../../schemas/evidence/batch-header.js';

/** The salt of a site in ledgers that tests build, 32 bytes. */
export function testSalt(siteId: string): Uint8Array {
  return sha256(utf8(`salt of ${siteId}`));
}

/** Keys of streams in these ledgers. */
export const testKeyOf: StreamKeyOf = (stream) => {
  const site = siteOfStream(stream);
  return streamKey(stream, site === null ? new Uint8Array() : testSalt(site));
};

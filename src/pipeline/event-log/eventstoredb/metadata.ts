/**
 * Custom metadata, byte for byte. The client parses whatever metadata is JSON, and keeps only the value; so only JSON text that
 * re-serialises to the same bytes goes into the log as it is (and is legible there), anything else behind a frame byte, which makes
 * it no JSON, and which the client therefore leaves alone.
 */
const FRAME = 0;

/** What to give the client for the bytes of an event's metadata; undefined if there are none. */
export function encodeMetadata(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.byteLength === 0) return undefined;
  if (survivesParsing(bytes)) return Uint8Array.from(bytes);
  const framed = new Uint8Array(bytes.byteLength + 1);
  framed[0] = FRAME;
  framed.set(bytes, 1);
  return framed;
}

/** The bytes that `encodeMetadata` was given, from what the client made of them. */
export function decodeMetadata(metadata: unknown): Uint8Array {
  if (metadata === undefined) return new Uint8Array(0);
  if (!(metadata instanceof Uint8Array)) return new TextEncoder().encode(JSON.stringify(metadata));
  return metadata[0] === FRAME ? metadata.subarray(1) : metadata;
}

function survivesParsing(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return Buffer.from(JSON.stringify(value), 'utf8').equals(bytes);
  } catch {
    return false;
  }
}

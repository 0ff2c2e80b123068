/**
 * Stores custom metadata byte for byte. The client parses all JSON metadata and keeps only the
 * value. Therefore only JSON text that serializes to the same bytes is stored unchanged, where it
 * stays legible. Other bytes follow a frame byte: they are then not JSON, and the client leaves
 * them unchanged.
 */
const FRAME = 0;

/** Encodes the metadata of an event for the client; undefined if it is empty. */
export function encodeMetadata(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.byteLength === 0) return undefined;
  if (survivesParsing(bytes)) return Uint8Array.from(bytes);
  const framed = new Uint8Array(bytes.byteLength + 1);
  framed[0] = FRAME;
  framed.set(bytes, 1);
  return framed;
}

/** Decodes the metadata of the client to the bytes that `encodeMetadata` received. */
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

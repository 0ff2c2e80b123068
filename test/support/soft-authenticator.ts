import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Bits of the authenticator data (WebAuthn §6.1). */
const PRESENT = 0x01;
const VERIFIED = 0x04;
const ATTESTED = 0x40;

/** What a test changes in an answer. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly isVerified?: boolean;
  readonly isPresent?: boolean;
  readonly counter?: number;
  readonly type?: string;
  readonly userHandle?: string | null;
}

/** What the service passes to the browser to make a passkey, as far as it is used. */
export interface Creation {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/**
 * An authenticator in software with one passkey (ES256). It has its own CBOR and shares no code with what the service
 * verifies with.
 */
export class SoftAuthenticator {
  readonly id = randomBytes(16);
  counter = 0;
  /** The public key (COSE_Key). */
  coseKey: Uint8Array = Buffer.alloc(0);
  #key: KeyObject | null = null;
  #handle = '';

  /** @param origin of the page; @param step by which the counter grows: 0 for synchronised passkeys */
  constructor(
    readonly origin: string,
    readonly step = 1,
  ) {}

  /** Makes the passkey. @returns the JSON of `navigator.credentials.create` */
  create({ challenge, rp, user }: Creation, deviation: Deviation = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    this.#handle = user.id;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.coseKey = cborMap([
      [cborInt(1), cborInt(2)],
      [cborInt(3), cborInt(-7)],
      [cborInt(-1), cborInt(1)],
      [cborInt(-2), cborBytes(Buffer.from(x, 'base64url'))],
      [cborInt(-3), cborBytes(Buffer.from(y, 'base64url'))],
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, this.coseKey]);
    const data = Buffer.concat([this.#data(rp.id, deviation, ATTESTED), attested]);
    const attestation = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(data)],
    ]);
    return this.#credential({
      clientDataJSON: base64url(this.#clientData('webauthn.create', challenge, deviation)),
      attestationObject: base64url(attestation),
      transports: ['internal'],
    });
  }

  /** Uses the passkey. @returns the JSON of `navigator.credentials.get` */
  get({ challenge, rpId }: { readonly challenge: string; readonly rpId: string }, deviation: Deviation = {}) {
    if (this.#key === null) throw new Error('this authenticator has no passkey');
    this.counter += this.step;
    const clientData = this.#clientData('webauthn.get', challenge, deviation);
    const data = this.#data(rpId, deviation, 0);
    const signed = Buffer.concat([data, sha256(clientData)]);
    return this.#credential({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(data),
      signature: base64url(sign('sha256', signed, this.#key)),
      userHandle: deviation.userHandle === undefined ? this.#handle : deviation.userHandle,
    });
  }

  #credential<Response>(response: Response) {
    const id = base64url(this.id);
    return {
      id,
      rawId: id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response,
    };
  }

  #clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    const stated = { type, challenge, origin: this.origin, crossOrigin: false, ...deviation };
    const { origin, crossOrigin } = stated;
    return Buffer.from(JSON.stringify({ type: stated.type, challenge: stated.challenge, origin, crossOrigin }), 'utf8');
  }

  #data(rpId: string, deviation: Deviation, flags: number): Buffer {
    const { isVerified = true, isPresent = true, counter = this.counter } = deviation;
    const head = Buffer.alloc(5);
    head[0] = flags | (isPresent ? PRESENT : 0) | (isVerified ? VERIFIED : 0);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(Buffer.from(deviation.rpId ?? rpId, 'utf8')), head]);
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** Head of a CBOR item (RFC 8949 §3). */
function cborHead(major: number, value: number): Buffer {
  const first = major << 5;
  if (value < 24) return Buffer.from([first | value]);
  if (value < 256) return Buffer.from([first | 24, value]);
  return Buffer.from([first | 25, value >> 8, value & 0xff]);
}

function cborInt(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
}

function cborBytes(bytes: Uint8Array): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes]);
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text, 'utf8')]);
}

function cborMap(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()]);
}

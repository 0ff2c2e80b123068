import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { concat, sha256, utf8 } from './primitives.js';

/*
 * A time stamp authority (RFC 3161, RFC 5816) that states any time. `openssl ts` states only the
 * present, so that this file writes the DER itself. A test holds its responses against openssl.
 */

function der(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = concat(...content);
  const { length } = body;
  const long = length > 0xff ? [0x82, length >>> 8, length & 0xff] : [0x81, length];
  return concat(new Uint8Array([tag, ...(length < 0x80 ? [length] : long)]), body);
}

const sequence = (...content: readonly Uint8Array[]) => der(0x30, ...content);
const octets = (content: Uint8Array) => der(0x04, content);
const bits = (content: Uint8Array, unused = 0) => der(0x03, Uint8Array.of(unused), content);
const explicit = (number: number, ...content: readonly Uint8Array[]) => der(0xa0 + number, ...content);
const TRUE = new Uint8Array([0x01, 0x01, 0xff]);

/** The elements of a SET OF are sorted (X.690 §11.6). */
function setOf(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  return der(tag, ...content.toSorted((a, b) => Buffer.compare(a, b)));
}

function integer(value: number): Uint8Array {
  const digits = value.toString(16);
  const bytes = new Uint8Array(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'));
  return der(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : concat(new Uint8Array(1), bytes));
}

function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const encoded = [first * 40 + second, ...rest].flatMap((part) => {
    const groups = [part & 0x7f];
    for (let high = Math.floor(part / 128); high > 0; high = Math.floor(high / 128))
      groups.unshift((high & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, new Uint8Array(encoded));
}

const generalizedTime = (time: Date) => der(0x18, utf8(`${time.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`));
const utcTime = (text: string) => der(0x17, utf8(text));
const SHA256 = sequence(oid('2.16.840.1.101.3.4.2.1'));
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const RSA_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), der(0x05));

/** Makes the key of a certificate: of P-256, or of RSA, which signs the same bytes alike each time. */
type NewKey = () => KeyObject;

const newEcKey: NewKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const algorithmOf = (key: KeyObject): Uint8Array => (key.asymmetricKeyType === 'rsa' ? RSA_SHA256 : ECDSA_SHA256);
const ID_TST_INFO = oid('1.2.840.113549.1.9.16.1.4');

interface Certified {
  readonly der: Uint8Array;
  readonly name: Uint8Array;
  readonly serial: number;
  readonly key: KeyObject;
}

const extension = (id: string, value: Uint8Array) => sequence(oid(id), TRUE, octets(value));

const attributeSet = (id: string, text: string) => der(0x31, sequence(oid(id), der(0x0c, utf8(text))));

function certificate(
  { name, organization }: NamedParty,
  serial: number,
  issuer: Certified | null,
  extensions: Uint8Array[],
  newKey: NewKey,
): Certified {
  const privateKey = newKey();
  const algorithm = algorithmOf(issuer?.key ?? privateKey);
  const named = organization === undefined ? [] : [attributeSet('2.5.4.10', organization)];
  const subject = sequence(...named, attributeSet('2.5.4.3', name));
  const body = sequence(
    explicit(0, integer(2)),
    integer(serial),
    algorithm,
    issuer?.name ?? subject,
    sequence(utcTime('200101000000Z'), utcTime('400101000000Z')),
    subject,
    new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' })),
    explicit(3, sequence(...extensions)),
  );
  const signature = new Uint8Array(sign('sha256', body, issuer?.key ?? privateKey));
  return { der: sequence(body, algorithm, bits(signature)), name: subject, serial, key: privateKey };
}

/** Names in a certificate. */
export interface NamedParty {
  readonly name: string;
  readonly organization?: string;
}

function rootOf(party: NamedParty, newKey: NewKey): Certified {
  const extensions = [extension('2.5.29.19', sequence(TRUE)), extension('2.5.29.15', bits(Uint8Array.of(0x06), 1))];
  return certificate(party, 1, null, extensions, newKey);
}

/** A time stamp authority with the root that certifies it. */
export class TimeAuthority {
  readonly #root: Certified;
  readonly #signer: Certified;
  readonly #responses = new Map<string, Uint8Array>();

  /**
   * @param root names of the root, or the root of another authority
   * @param signer names and serial number of the certificate that signs
   * @param newKey makes the keys: first the root's, then the signer's
   */
  constructor(
    root: NamedParty | TimeAuthority = { name: 'Root of the Test Authority' },
    signer: NamedParty & { readonly serial?: number } = { name: 'Test Authority' },
    newKey: NewKey = newEcKey,
  ) {
    this.#root = root instanceof TimeAuthority ? root.#root : rootOf(root, newKey);
    const extensions = [
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.8'))),
      extension('2.5.29.15', bits(Uint8Array.of(0x80), 7)),
    ];
    this.#signer = certificate(signer, signer.serial ?? 2, this.#root, extensions, newKey);
  }

  /** The root's certificate, which the relying party trusts. */
  get anchor(): Uint8Array {
    return this.#root.der;
  }

  /** The TimeStampResp over these bytes. Equal requests yield the same response. */
  stamp(data: Uint8Array, time: Date): Uint8Array {
    const digest = sha256(data);
    const key = `${Buffer.from(digest).toString('hex')} ${time.getTime()}`;
    const response = this.#responses.get(key) ?? this.#respond(digest, time, this.#responses.size + 1);
    this.#responses.set(key, response);
    return response;
  }

  #respond(digest: Uint8Array, time: Date, serial: number): Uint8Array {
    const info = sequence(
      integer(1),
      oid('1.3.6.1.4.1.57264.99.1'),
      sequence(SHA256, octets(digest)),
      integer(serial),
      generalizedTime(time),
    );
    const { der: own, serial: number, key } = this.#signer;
    const attribute = (id: string, value: Uint8Array) => sequence(oid(id), der(0x31, value));
    const attributes = [
      attribute('1.2.840.113549.1.9.3', ID_TST_INFO),
      attribute('1.2.840.113549.1.9.4', octets(sha256(info))),
      attribute('1.2.840.113549.1.9.16.2.47', sequence(sequence(sequence(octets(sha256(own)))))),
    ];
    const signerInfo = sequence(
      integer(1),
      sequence(this.#root.name, integer(number)),
      SHA256,
      setOf(0xa0, ...attributes),
      algorithmOf(key),
      octets(new Uint8Array(sign('sha256', setOf(0x31, ...attributes), key))),
    );
    const signedData = sequence(
      integer(3),
      der(0x31, SHA256),
      sequence(ID_TST_INFO, explicit(0, octets(info))),
      der(0xa0, own),
      der(0x31, signerInfo),
    );
    return sequence(sequence(integer(0)), sequence(oid('1.2.840.113549.1.7.2'), explicit(0, signedData)));
  }
}

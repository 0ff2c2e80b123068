import { describe, expect, it } from 'vitest';
import { TAG } from '../../schemas/rfc3161/asn1/fields.js';
import { type Asn1Node, childrenOf, readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { parseTimestamp } from '../../schemas/rfc3161/cms/token.js';
import { MalformedInput } from '../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../schemas/rfc3161/revocation/crl.js';
import { parseOcspResponse } from '../../schemas/rfc3161/revocation/ocsp.js';
import { parseCertificate } from '../../schemas/rfc3161/x509/certificate.js';
import { sampled } from '../support/sweeps.js';
import { makeAuthority, verify } from './support/authority.js';
import { context, sequence, set } from './support/der.js';
import { makeCrl, makeOcspResponse } from './support/revocation.js';
import { attribute, GEN_TIME, makeResponse, makeToken } from './support/tokens.js';

const authority = makeAuthority();
const token = makeToken(authority.tsa, {
  accuracy: sequence(new Uint8Array([2, 1, 1])),
  nonce: 0x1234n,
  tsaName: context(4, authority.tsa.name),
  unsignedAttributes: attribute('1.2.3.4', sequence()),
});

/**
 * Bytes that the signature does not cover and no check relies on, by the field that they stand in.
 */
function unauthenticated(bytes: Uint8Array): Set<number> {
  const outer = childrenOf(readSingle(bytes));
  const [first] = outer;
  const isResponse = first !== undefined && first.tag === TAG.sequence.tag;
  const contentInfo = isResponse ? childrenOf(at(outer, 1)) : outer;
  const signedData = childrenOf(at(childrenOf(at(contentInfo, 1)), 0));
  const signerInfo = childrenOf(at(childrenOf(at(signedData, 4)), 0));
  const fields: Asn1Node[] = [
    // The version of SignedData follows from its content, and real authorities get it wrong.
    at(signedData, 0),
    // A hint for reading in one pass.
    at(signedData, 1),
    // Unsigned attributes.
    at(signerInfo, 6),
    // The response's status is outside the token: 0 and 1 both come with one.
    ...(isResponse && first !== undefined ? [first] : []),
  ];
  return new Set(
    fields.flatMap(({ raw }) => Array.from(raw, (_octet, index) => raw.byteOffset - bytes.byteOffset + index)),
  );
}

function at(nodes: readonly Asn1Node[], index: number): Asn1Node {
  const node = nodes[index];
  if (node === undefined) throw new Error(`the token has no part ${index}`);
  return node;
}

describe('a token with one byte changed', () => {
  /**
   * The flips of bytes in a range with which the token still passes, except those of bytes that no
   * verifier reads.
   */
  async function passingFlips(original: Uint8Array, end: number): Promise<string[]> {
    const harmless = unauthenticated(original);
    const passing: string[] = [];
    const indexes = Array.from({ length: end }, (_, index) => index);
    for (const index of sampled('flipped bytes of a time stamp', indexes)) {
      for (const mask of [0x01, 0x20, 0xff]) {
        const altered = new Uint8Array(original);
        altered[index] = (altered[index] ?? 0) ^ mask;
        const { outcome } = await verify(authority, altered);
        if (outcome === 'pass' && !harmless.has(index)) passing.push(`${index} ^ ${mask}`);
      }
    }
    return passing;
  }

  it('never passes, unless nothing authenticates and nothing reads the byte', async () => {
    expect((await verify(authority, token)).outcome).toBe('pass');
    // Case does not count in names (RFC 5280 §7.1): these are letters of the issuer's name in the
    // signer identifier, which only helps to find the certificate; the hash in the signed
    // attributes says which it is.
    const inName = letterFlips(token);
    const passing = await passingFlips(token, token.length);
    expect(passing.filter((flip) => !inName.has(flip))).toEqual([]);
  });

  it('never passes where the byte is of the response around it', async () => {
    const response = makeResponse(token);
    expect((await verify(authority, response)).outcome).toBe('pass');
    expect(await passingFlips(response, response.length - token.length)).toEqual([]);
  });
});

/** Flips of case within the signer identifier's issuer name. */
function letterFlips(bytes: Uint8Array): Set<string> {
  const { signedData } = parseTimestamp(bytes);
  const sid = signedData?.signerInfos[0]?.sid;
  if (sid?.kind !== 'issuer-and-serial') throw new Error('the token names its signer by issuer and serial number');
  const start = sid.issuer.raw.byteOffset - bytes.byteOffset;
  return new Set(Array.from(sid.issuer.raw, (_octet, index) => `${start + index} ^ ${0x20}`));
}

describe('input cut off at every length', () => {
  const crl = makeCrl(authority.root, {
    thisUpdate: GEN_TIME,
    revoked: [{ serial: 5n, at: GEN_TIME, reason: 1 }],
  });
  const ocsp = makeOcspResponse(authority.tsa, authority.root, { thisUpdate: GEN_TIME });
  it.each([
    ['a token', token, parseTimestamp],
    ['a response', makeResponse(token), parseTimestamp],
    ['a BER token', makeToken(authority.tsa, { ber: true }), parseTimestamp],
    ['a certificate', authority.tsa.der, parseCertificate],
    ['a CRL', crl, parseCrl],
    ['an OCSP response', ocsp, parseOcspResponse],
  ] as const)('%s gives a typed error', (_name, bytes, parse) => {
    expect(() => parse(bytes)).not.toThrow();
    for (let length = 0; length < bytes.length; length++) {
      expect(() => parse(bytes.slice(0, length))).toThrow(MalformedInput);
    }
  });

  it('with random bytes in any place, parsers throw typed errors or nothing', () => {
    const inputs = [
      [token, parseTimestamp],
      [authority.tsa.der, parseCertificate],
      [crl, parseCrl],
      [ocsp, parseOcspResponse],
    ] as const;
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (const [bytes, parse] of inputs) {
      for (let round = 0; round < 1000; round++) {
        const altered = new Uint8Array(bytes);
        for (let i = random(4); i >= 0; i--) altered[random(bytes.length)] = random(256);
        try {
          parse(altered);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedInput);
        }
      }
    }
  });
});

describe('BER', () => {
  it('passes with indefinite lengths and segmented content, hashed and verified as received', async () => {
    const ber = makeToken(authority.tsa, { ber: true });
    expect((await verify(authority, ber)).outcome).toBe('pass');
    expect((await verify(authority, makeResponse(ber))).outcome).toBe('pass');
  });

  it('fails where the content’s segments are nested, or are no octet strings', async () => {
    const ber = makeToken(authority.tsa, { ber: true });
    const start = ber.findIndex((octet, index) => octet === 0x24 && ber[index + 1] === 0x80);
    const wrongSegment = new Uint8Array(ber);
    wrongSegment[start + 2] = 0x0c;
    expect((await verify(authority, wrongSegment)).checks[0]).toMatchObject({ id: 'tst.format', outcome: 'fail' });
  });

  it('fails where the end-of-contents octets are missing', async () => {
    const ber = makeToken(authority.tsa, { ber: true });
    expect((await verify(authority, ber.slice(0, -2))).checks[0]).toMatchObject({ outcome: 'fail' });
    expect((await verify(authority, set(sequence()))).checks[0]).toMatchObject({ outcome: 'fail' });
  });
});

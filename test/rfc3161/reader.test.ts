import * as asn1js from 'asn1js';
import { describe, expect, it } from 'vitest';
import { type Asn1Node, childrenOf, eachChild, readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { preciseGeneralizedTime, timeValue } from '../../schemas/rfc3161/asn1/times.js';
import {
  integerOctets,
  namedBits,
  octetStringValue,
  oidValue,
  smallInteger,
} from '../../schemas/rfc3161/asn1/values.js';
import { MalformedInput } from '../../schemas/rfc3161/errors.js';
import { makeAuthority } from './support/authority.js';
import { generalizedTime, indefinite, integer, octets, oid, sequence, tlv } from './support/der.js';
import { makeCrl } from './support/revocation.js';
import { GEN_TIME, makeResponse, makeToken } from './support/tokens.js';

const ascii = (text: string) => new TextEncoder().encode(text);
const authority = makeAuthority();

/** Every value within, outermost first, as hexadecimal. */
function ours(node: Asn1Node): string[] {
  const inner = node.constructed ? childrenOf(node).flatMap(ours) : [];
  return [Buffer.from(node.raw).toString('hex'), ...inner];
}

function theirs(value: asn1js.BaseBlock): string[] {
  const members: unknown = value.idBlock.isConstructed && 'value' in value.valueBlock ? value.valueBlock.value : [];
  const inner = Array.isArray(members) ? members.filter((member) => member instanceof asn1js.BaseBlock) : [];
  return [Buffer.from(value.valueBeforeDecodeView).toString('hex'), ...inner.flatMap(theirs)];
}

describe('reader', () => {
  it.each([
    ['a token', makeToken(authority.tsa)],
    ['a response', makeResponse(makeToken(authority.tsa))],
    ['a BER token', makeToken(authority.tsa, { ber: true })],
    ['a certificate', authority.root.der],
    ['a CRL', makeCrl(authority.root, { thisUpdate: GEN_TIME, revoked: [{ serial: 1n, at: GEN_TIME, reason: 4 }] })],
  ])('takes %s apart as asn1js does, byte for byte', (_name, bytes) => {
    expect(ours(readSingle(bytes))).toEqual(theirs(asn1js.fromBER(bytes, { parseEmbedded: false }).result));
  });

  it.each([
    ['trailing-bytes', new Uint8Array([5, 0, 0])],
    ['truncated', new Uint8Array([0x30, 3, 2, 1])],
    ['truncated', new Uint8Array([])],
    ['bad-tag', new Uint8Array([0x1f, 0x81, 1, 0])],
    ['bad-tag', new Uint8Array([0, 0])],
    ['bad-length', new Uint8Array([4, 0x80, 0, 0])],
    ['bad-length', new Uint8Array([4, 0x85, 0, 0, 0, 0, 1, 1])],
    ['bad-length', new Uint8Array([0x30, 0x80, 0, 1])],
    ['truncated', new Uint8Array([0x30, 0x80, 2, 1, 1])],
    ['too-deep', new Uint8Array(400).map((_octet, index) => (index % 2 === 0 ? 0x30 : 0x80))],
  ])('refuses with %s', (code, bytes) => {
    expect(() => readSingle(bytes)).toThrow(expect.objectContaining({ name: 'MalformedInput', code }));
  });

  /** Reads every value within. */
  function walk(node: Asn1Node): void {
    if (node.constructed) for (const child of eachChild(node)) walk(child);
  }

  it.each([
    ['one level', 1],
    ['40 levels', 40],
  ])('reads 200 kB in %s of indefinite length in steps linear in its values', (_name, levels) => {
    const values = 100_000;
    const flat = new Uint8Array(2 * values).map((_octet, index) => (index % 2 === 0 ? 5 : 0));
    const nested = Array.from({ length: levels }).reduce<Uint8Array>((inner) => indefinite(0x30, inner), flat);
    const node = readSingle(nested);
    walk(node);
    expect(node.lengths.steps).toBeGreaterThanOrEqual(values);
    expect(node.lengths.steps).toBeLessThanOrEqual(2 * (values + levels));
  });

  it('rejects more than 65,536 values of indefinite length', () => {
    const wide = (count: number) =>
      indefinite(
        0x30,
        new Uint8Array(4 * count).map((_octet, index) => [0x30, 0x80, 0, 0][index % 4] ?? 0),
      );
    walk(readSingle(wide(65_535)));
    expect(() => readSingle(wide(65_536))).toThrow(expect.objectContaining({ code: 'too-many' }));
  });

  it('refuses children that reach beyond their parent', () => {
    expect(() => childrenOf(readSingle(new Uint8Array([0x30, 2, 2, 5])))).toThrow(MalformedInput);
  });
});

describe('values', () => {
  it('reads object identifiers with arcs of any size', () => {
    for (const dotted of ['1.2.840.113549', '2.5.29.37', '2.25.247795882407056885490691155332649908458', '2.999']) {
      expect(oidValue(readSingle(oid(dotted)), 'test')).toBe(dotted);
    }
    expect(() => oidValue(readSingle(new Uint8Array([6, 2, 0x80, 1])), 'test')).toThrow(MalformedInput);
    expect(() => oidValue(readSingle(new Uint8Array([6, 1, 0x81])), 'test')).toThrow(MalformedInput);
    expect(() => oidValue(readSingle(new Uint8Array([6, 0])), 'test')).toThrow(MalformedInput);
  });

  it('reads integers that are minimal, and no others', () => {
    expect(smallInteger(readSingle(integer(65_537)), 'test')).toBe(65_537);
    for (const bytes of [
      [2, 0],
      [2, 2, 0, 1],
      [2, 2, 0xff, 0x80],
    ]) {
      expect(() => integerOctets(readSingle(new Uint8Array(bytes)), 'test')).toThrow(MalformedInput);
    }
    expect(() => smallInteger(readSingle(new Uint8Array([2, 1, 0xff])), 'test')).toThrow(MalformedInput);
    expect(() => smallInteger(readSingle(integer(2n ** 40n)), 'test')).toThrow(MalformedInput);
  });

  it('joins the segments of octet strings', () => {
    const segmented = indefinite(0x24, octets(ascii('ab')), octets(ascii('')), octets(ascii('c')));
    expect(octetStringValue(readSingle(segmented), 'test')).toEqual(ascii('abc'));
    expect(() => octetStringValue(readSingle(tlv(0x24, sequence())), 'test')).toThrow(MalformedInput);
  });

  it('reads named bits', () => {
    expect([...namedBits(new Uint8Array([1, 0b1000_0110]), 'test')]).toEqual([0, 5, 6]);
    expect(() => namedBits(new Uint8Array([8, 0]), 'test')).toThrow(MalformedInput);
    expect(() => namedBits(new Uint8Array([]), 'test')).toThrow(MalformedInput);
  });

  it.each([
    ['20240229235959Z', '2024-02-29T23:59:59.000Z'],
    ['20240229235959.9Z', '2024-02-29T23:59:59.900Z'],
    ['20240229235959.123456789Z', '2024-02-29T23:59:59.123Z'],
  ])('reads the time %s', (text, expected) => {
    expect(preciseGeneralizedTime(readSingle(generalizedTime(text)), 'test').date.toISOString()).toBe(expected);
  });

  it.each([
    '20230229000000Z',
    '20240101240000Z',
    '20240101000060Z',
    '20240101000000',
    '20240101000000+0100',
    '2024010100Z',
  ])('refuses the time %s', (text) => {
    expect(() => preciseGeneralizedTime(readSingle(generalizedTime(text)), 'test')).toThrow(MalformedInput);
  });

  it('reads two-digit years as RFC 5280 does', () => {
    expect(timeValue(readSingle(tlv(0x17, ascii('491231235959Z'))), 'test').getUTCFullYear()).toBe(2049);
    expect(timeValue(readSingle(tlv(0x17, ascii('500101000000Z'))), 'test').getUTCFullYear()).toBe(1950);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GeoDatabase, openGeoDatabase } from '../../../src/platform/jurisdiction/geo-database.js';
import { ipBytes } from '../../../src/platform/net/addresses.js';
import { buildMmdb } from './mmdb-builder.js';

const bytes = (address: string): Uint8Array => ipBytes(address) ?? new Uint8Array(4);

describe('ipBytes', () => {
  it.each([
    ['192.0.2.7', 'c0000207'],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['2001:db8::A:0:1', '20010db8000000000000000a00000001'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
    ['::ffff:192.0.2.7', 'c0000207'],
    ['::FFFF:c000:207', 'c0000207'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ])('reads %s', (text, hex) => {
    expect(Buffer.from(bytes(text)).toString('hex')).toBe(hex);
  });

  it('rejects any other text', () => {
    for (const text of ['', 'localhost', '192.0.2', '192.0.2.256', '::1::', '12345::', ' 192.0.2.7'])
      expect(ipBytes(text)).toBeNull();
  });
});

describe('the packaged data set', () => {
  let geo: GeoDatabase;
  beforeAll(async () => {
    geo = await openGeoDatabase(undefined);
  });

  // Networks of universities and national registries, which have not moved for decades.
  it.each([
    ['193.140.28.1', 'TR'],
    ['2001:a98::1', 'TR'],
    ['129.69.1.1', 'DE'],
    ['131.111.8.1', 'GB'],
    ['18.9.22.1', 'US'],
    ['2001:4860:4860::8888', 'US'],
    ['200.160.2.3', 'BR'],
    ['2001:12ff::3', 'BR'],
    ['196.25.1.1', 'ZA'],
    ['168.126.63.1', 'KR'],
    ['202.112.0.36', 'CN'],
    ['::ffff:193.140.28.1', 'TR'],
  ])('finds the country of %s', (address, country) => {
    expect(geo.placeOf(address)).toEqual({ country, region: null });
  });

  it('returns null for private, documentation and malformed addresses', () => {
    const addresses = [
      ...['10.0.0.1', '127.0.0.1', '172.20.0.1', '192.168.1.1', '::ffff:192.168.1.1', '169.254.1.1', '100.64.0.1'],
      ...['192.0.2.1', '224.0.0.1', '255.255.255.255', '::1', 'fe80::1', 'fe80::1%eth0', 'fd00::1', '2001:db8::1'],
      ...['not an address', ''],
    ];
    for (const address of addresses) expect(geo.placeOf(address), address).toBeNull();
  });
});

describe('a data set of the operator', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-geo-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const fileOf = async (content: Buffer): Promise<string> => {
    const path = join(folder, `${Math.random()}.mmdb`);
    await writeFile(path, content);
    return path;
  };

  it.each([24, 28, 32] as const)('is read with records of %i bits and with subdivisions', async (size) => {
    const city = (country: string, region: string) => ({
      city: { names: { en: 'x'.repeat(200) }, is_known: true, geoname_id: 5_332_921 },
      country: { iso_code: country, names: { en: 'Somewhere' } },
      subdivisions: [{ iso_code: region }, { iso_code: 'ZZZ' }],
    });
    const path = await fileOf(
      buildMmdb(size, [
        { address: bytes('11.0.2.0'), prefix: 25, entry: city('US', 'CA') },
        { address: bytes('11.0.2.128'), prefix: 25, entry: city('US', 'NY') },
        { address: bytes('2a00::'), prefix: 48, entry: { country: { iso_code: 'TR' } } },
        { address: bytes('2a00:0:1::'), prefix: 48, entry: { country: { iso_code: 'not a code' } } },
        { address: bytes('2a00:0:2::'), prefix: 48, entry: { registered_country: { iso_code: 'TR' } } },
      ]),
    );
    const geo = await openGeoDatabase(path);
    expect(geo.placeOf('11.0.2.1')).toEqual({ country: 'US', region: 'CA' });
    expect(geo.placeOf('11.0.2.200')).toEqual({ country: 'US', region: 'NY' });
    expect(geo.placeOf('11.0.3.1')).toBeNull();
    expect(geo.placeOf('2a00::1')).toEqual({ country: 'TR', region: null });
    expect(geo.placeOf('2a00:0:1::1')).toBeNull();
    expect(geo.placeOf('2a00:0:2::1')).toBeNull();
  });

  it('is refused with a message for the operator if it is missing, of another format, or truncated', async () => {
    const sound = buildMmdb(24, [{ address: bytes('192.0.2.0'), prefix: 24, entry: { country_code: 'TR' } }]);
    const broken = [Buffer.alloc(0), Buffer.from('a text'), sound.subarray(100), sound.subarray(0, -40)];
    for (const content of broken) {
      const path = await fileOf(content);
      await expect(openGeoDatabase(path)).rejects.toThrow(`The IP data set ${path} cannot be read`);
    }
    await expect(openGeoDatabase(join(folder, 'missing.mmdb'))).rejects.toThrow(/ENOENT.*GEO_DATABASE_FILE/);
  });
});

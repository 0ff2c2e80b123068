import { expect, it } from 'vitest';
import { type LookUpHost, refuseUnlessLoopback } from '../../../src/platform/net/reach.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['::1', '127.0.0.1'],
  'shop.test': ['127.0.0.2'],
  'mixed.test': ['127.0.0.1', '192.0.2.1'],
  'public.example': ['192.0.2.1'],
  'nothing.example': [],
};
const lookUp: LookUpHost = (name, _options, callback) => {
  const addresses = NAMES[name] ?? (/^[\d.:]+$/.test(name) ? [name] : null);
  if (addresses === null) callback(new Error('ENOTFOUND'), []);
  else
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
};

it.each([
  'http://localhost:3000/hook',
  'https://127.0.0.1/',
  'http://127.1.2.3:1/',
  'http://0x7f.1/',
  'http://[::1]:3000/',
  'http://shop.test/',
])('a receiver at %s is on this machine', async (url) => {
  await expect(refuseUnlessLoopback(new URL(url), lookUp)).resolves.toBeUndefined();
});

it.each([
  'https://public.example/hook',
  'http://mixed.test/',
  'http://nothing.example/',
  'http://unknown.example/',
  'http://0.0.0.0/',
  'http://10.0.0.1/',
  'http://192.0.2.1/',
  'http://[::ffff:192.0.2.1]/',
  'http://[fe80::1]/',
  'http://localhost.public.example/',
])('a receiver at %s is refused', async (url) => {
  await expect(refuseUnlessLoopback(new URL(url), lookUp)).rejects.toThrow(/not this machine|ENOTFOUND/);
});

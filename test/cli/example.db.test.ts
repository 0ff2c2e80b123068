import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exampleEnvironment, exampleLines } from '../../src/cli/example.js';
import { isLoopback } from '../../src/platform/net/reach.js';

test('an example has a data folder of its own', () => {
  expect(exampleEnvironment({ PORT: '8081' })).toEqual({ PORT: '8081', DATA_DIR: resolve('data-example') });
});

test.each(['DATABASE_URL', 'DATA_DIR', 'PUBLIC_URL', 'ERASURE_JOURNAL', 'MASTER_KEY', 'LEDGER_ORIGIN', 'SMTP_URL'])(
  'an example is never made beside %s',
  (name) => {
    expect(() => exampleEnvironment({ [name]: 'something' })).toThrow(`Unset ${name}.`);
    expect(() => exampleEnvironment({ [name]: ' ' })).not.toThrow();
  },
);

test('an example serves this machine only', () => {
  expect(() => exampleEnvironment({ HOST: '0.0.0.0' })).toThrow('this machine only');
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(isLoopback(host)).toBe(true);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org', 'example.org'])
    expect(isLoopback(host)).toBe(false);
});

test('says that its keys are for the port at which it was made', () => {
  const example = {
    url: 'http://127.0.0.1:8080',
    domain: 'shop.example',
    keys: { read: 'r', write: 'w' },
    user: { email: 'owner@shop.example', password: 'secret' },
    isRecorded: true,
  };
  expect(exampleLines(example, 'http://127.0.0.1:8080').join('\n')).not.toContain('PORT=');
  expect(exampleLines(example, 'http://127.0.0.1:9090').join('\n')).toContain('Start it with PORT=8080.');
});

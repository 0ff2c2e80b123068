import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { utf8 } from './primitives.js';
import { TimeAuthority } from './time-authority.js';

test('openssl verifies a response of the test authority', () => {
  const folder = mkdtempSync(join(tmpdir(), 'time-authority-'));
  try {
    const authority = new TimeAuthority();
    const data = utf8('a checkpoint\n');
    const write = (name: string, content: Uint8Array | string): string => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    };
    const pem = Buffer.from(authority.anchor).toString('base64').replaceAll(/.{64}/g, '$&\n');
    const ca = write('ca.pem', `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
    const response = write('x.tsr', authority.stamp(data, new Date('2026-03-02T08:00:00Z')));
    const args = ['ts', '-verify', '-data', write('x', data), '-in', response, '-CAfile', ca];
    const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toContain('Verification: OK');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

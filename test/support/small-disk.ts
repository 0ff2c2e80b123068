import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bit of `CAP_SYS_ADMIN`, without which nothing can be mounted (capabilities(7)). */
const CAP_SYS_ADMIN = 1n << 21n;

/** Whether this process may mount a file system. Mounts nothing. */
export function mayMount(): boolean {
  try {
    const [, capabilities = '0'] = /^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return (BigInt(`0x${capabilities}`) & CAP_SYS_ADMIN) !== 0n;
  } catch {
    return false;
  }
}

/** A file system that has room for little. */
export interface SmallDisk {
  readonly folder: string;
  remove(): void;
}

/** @param size as mount(8) takes it: `64k`, `400m` */
export function mountSmallDisk(size: string): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder], { stdio: 'ignore' });
  chmodSync(folder, 0o755);
  return {
    folder,
    remove: () => {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

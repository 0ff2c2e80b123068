import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command in a folder of its own, where a test puts its files. */
export interface BundledCommand {
  readonly folder: string;
  write(name: string, content: Uint8Array | string): string;
  /** Runs in the folder. */
  run(...args: readonly string[]): SpawnSyncReturns<string>;
  remove(): void;
}

export function bundleCommand(): BundledCommand {
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-'));
  const bundle = join(folder, 'consent-verify.mjs');
  copyFileSync(fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.js', import.meta.url)), bundle);
  return {
    folder,
    write: (name, content) => {
      writeFileSync(join(folder, name), content);
      return name;
    },
    run: (...args) => spawnSync(process.execPath, [bundle, ...args], { encoding: 'utf8', cwd: folder }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

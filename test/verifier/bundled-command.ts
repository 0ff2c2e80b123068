import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** The command, bundled from its source into a folder of its own, where a test puts its files. */
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
  buildSync({
    entryPoints: [fileURLToPath(new URL('../../verifier-cli/src/main.ts', import.meta.url))],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
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

/** PEM of some DER. */
export function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

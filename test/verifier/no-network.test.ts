import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const ALLOWED = new Set(['node:crypto', 'node:fs/promises', 'node:stream', 'node:stream/promises', 'node:zlib']);

/** Modules that commander asks for; it starts no process unless a command is declared as an executable, and none is. */
const COMMANDER = new Set([
  'node:child_process',
  'node:events',
  'node:fs',
  'node:path',
  'node:process',
  'node:util',
  'child_process',
  'events',
  'fs',
  'path',
  'process',
  'util',
]);

test('the verifier imports no module that can open a socket', async () => {
  const entry = new URL('../../verifier-cli/src/main.ts', import.meta.url).pathname;
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    metafile: true,
    logLevel: 'silent',
  });
  for (const [path, input] of Object.entries(result.metafile.inputs)) {
    const allowed = path.includes('node_modules/commander/') ? COMMANDER : ALLOWED;
    for (const imported of input.imports.filter(({ external }) => external)) {
      expect([...allowed], `${path} imports ${imported.path}`).toContain(imported.path);
    }
    if (!path.includes('node_modules/')) {
      const source = readFileSync(path, 'utf8');
      expect(source, path).not.toMatch(/\bfetch\s*\(|WebSocket|XMLHttpRequest|EventSource|\bimport\s*\(/);
    }
  }
});

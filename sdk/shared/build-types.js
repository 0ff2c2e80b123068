// Writes the types of the package in the working folder, for `npm pack`.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', '.'], { stdio: 'inherit' });
// The public types are those of sdk/shared. The schemas are for the checks inside.
rmSync('dist/types/schemas', { recursive: true, force: true });

// Runs public test vectors, which the repository does not hold, against the project's own code:
// `npm run test:vectors -- FOLDER`. Each folder in FOLDER that has the name of a suite in test/vectors is
// given to it. Ends with 1 if a suite accepts what is wrong.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SUITES = fileURLToPath(new URL('../test/vectors/', import.meta.url));
const names = readdirSync(SUITES).map((file) => basename(file, '.ts'));
const [folder] = process.argv.slice(2);
const found = names.filter((name) => folder !== undefined && existsSync(join(folder, name)));
if (found.length === 0) {
  process.stderr.write(
    `Give a folder that holds vectors in folders named ${names.join(', ')}: test/vectors says which.\n`,
  );
  process.exit(2);
}
const built = mkdtempSync(join(tmpdir(), 'consent-ledger-vectors-'));
try {
  for (const name of found) {
    const outfile = join(built, `${name}.mjs`);
    const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' };
    await build({ ...options, entryPoints: [join(SUITES, `${name}.ts`)], outfile });
    const { run } = await import(pathToFileURL(outfile).href);
    for (const { title, right, wronglyAccepted, notAccepted, notApplicable } of await run(join(folder, name))) {
      const lists = {
        'wrong, and accepted': wronglyAccepted,
        'right, and not accepted': notAccepted,
        'not applicable': notApplicable,
      };
      process.stdout.write(`${title}: ${right} right\n`);
      for (const [label, items] of Object.entries(lists)) {
        process.stdout.write(`  ${label}: ${items.length}\n${items.map((item) => `    ${item}\n`).join('')}`);
      }
      if (wronglyAccepted.length > 0) process.exitCode = 1;
    }
  }
} finally {
  rmSync(built, { recursive: true });
}

// Compares the weight of the project with test/ratchet.json, and fails when a figure rose. `--write` states
// the figures of now: the commit that raises one says what was retired for it, or for which user it is
// worth it (CONTRIBUTING.md, “The ratchet”). `--used FILE` compares what a run of `npm test` used instead
// (TEST_USAGE).
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { weigh } from './weight.js';

const FILE = fileURLToPath(new URL('../test/ratchet.json', import.meta.url));
/** The ratchet does not count these, because pages may have examples. */
const FREE = new Set(['docs', 'other', 'one sum']);

const stated = JSON.parse(readFileSync(FILE, 'utf8'));
const { code } = weigh();
const linesOfCode = Object.fromEntries(Object.entries(code).filter(([folder]) => !FREE.has(folder)));
const usedIn = process.argv.indexOf('--used');
/** Of the processor time, in units of the calibration. Counts may not rise. */
const MOST_RISE = 1.15;

if (usedIn !== -1) {
  const used = JSON.parse(readFileSync(process.argv[usedIn + 1], 'utf8'));
  const risen = Object.entries(stated.npmTest).filter(
    ([name, figure]) => used[name] > figure * (name === 'ofCalibration' ? MOST_RISE : 1),
  );
  for (const [name, figure] of risen)
    console.error(`npm test: ${name} is ${Math.ceil(used[name])}; test/ratchet.json states ${figure}.`);
  if (risen.length > 0) process.exitCode = 1;
} else if (process.argv.includes('--write')) {
  writeFileSync(FILE, `${JSON.stringify({ ...stated, linesOfCode }, null, 2)}\n`);
} else {
  const risen = Object.entries(linesOfCode).filter(([folder, lines]) => lines > (stated.linesOfCode[folder] ?? 0));
  for (const [folder, lines] of risen)
    console.error(
      `${folder} has ${lines} lines of code; test/ratchet.json permits ${stated.linesOfCode[folder] ?? 0}.`,
    );
  if (risen.length > 0) {
    console.error('Remove what others replace, or raise the figure: node scripts/ratchet.js --write');
    process.exitCode = 1;
  } else console.log('No folder has more lines of code than test/ratchet.json permits.');
}

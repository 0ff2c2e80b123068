// Plants each fault of test/mutations.json in turn, and runs the tests that should find it, the smaller sizes
// first: `node scripts/mutations.js [ID…]`, in a clean clone of which nothing else is running. Prints the
// first test that fails. Fails if a fault is found by none of its tests.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const chosen = process.argv.slice(2);
const mutations = JSON.parse(readFileSync('test/mutations.json', 'utf8')).filter(
  ({ id }) => chosen.length === 0 || chosen.includes(id),
);
const isLarge = (file) => file.includes('.large.');

for (const mutation of mutations) {
  const source = readFileSync(mutation.file, 'utf8');
  if (source.split(mutation.find).length !== 2) {
    console.log(`${mutation.id}: what it replaces is not there once in ${mutation.file}`);
    process.exitCode = 1;
    continue;
  }
  writeFileSync(
    mutation.file,
    source.replace(mutation.find, () => mutation.replace),
  );
  try {
    const sizes = [mutation.tests.filter((file) => !isLarge(file)), mutation.tests.filter(isLarge)];
    const found = firstOf(sizes.filter((files) => files.length > 0));
    console.log(`${mutation.id}: ${found ?? 'NOT FOUND'}`);
    if (found === null) process.exitCode = 1;
  } finally {
    writeFileSync(mutation.file, source);
  }
}

/** @returns the first test that fails, or null */
function firstOf(groups) {
  for (const files of groups) {
    const built = spawnSync(process.execPath, ['scripts/build.js'], { encoding: 'utf8' });
    if (built.status !== 0) return `the build: ${built.stderr.slice(0, 300)}`;
    const args = ['vitest', 'run', '--reporter=json', '--bail=1', ...files];
    const { stdout } = spawnSync('npx', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
    const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{"')));
    const failed = testResults.find(({ status }) => status === 'failed');
    if (failed !== undefined) {
      const test = failed.assertionResults.find(({ status }) => status === 'failed');
      return `${failed.name.replace(`${process.cwd()}/`, '')} > ${test?.fullName ?? failed.message}`;
    }
  }
  return null;
}

// Prints every test with the lanes that run it, one a line: `npm run rules > rules.txt`. Two such files
// show by `diff` whether a change lost a rule. Cases of sweeps are drawn by TEST_SEED.
import { execFileSync } from 'node:child_process';

/** The names of the tests of a lane. */
function testsOf(lane) {
  const listed = execFileSync('npx', ['vitest', 'list'], {
    encoding: 'utf8',
    env: { ...process.env, TEST_LANE: lane },
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return listed.split('\n').filter((line) => line.startsWith('test/'));
}

const usual = new Set(testsOf(''));
const exhaustive = new Set(testsOf('exhaustive'));
for (const name of [...new Set([...usual, ...exhaustive])].toSorted()) {
  const lanes = [usual.has(name) && 'test', exhaustive.has(name) && 'test:exhaustive'].filter(Boolean);
  console.log(`${lanes.join(', ')}\t${name}`);
}

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

/** Lanes with tests of their own, in the order in which CI runs them. */
const LANES = { test: '', 'test:rest': 'rest', 'test:exhaustive': 'exhaustive', 'test:engines': 'engines' };
const tests = Object.entries(LANES).map(([name, lane]) => ({ name, tests: new Set(testsOf(lane)) }));
const all = new Set(tests.flatMap((lane) => [...lane.tests]));
for (const one of [...all].toSorted()) {
  const lanes = tests.filter((lane) => lane.tests.has(one)).map(({ name }) => name);
  console.log(`${lanes.join(', ')}\t${one}`);
}

// The last lines of CI: each test that failed with its message, and the sums. A place that keeps only
// the end of a long output keeps these.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const MESSAGE_LINES = 12;
const MESSAGE_CHARACTERS = 1_500;

const [first, ...others] = process.argv.slice(2);
if (first === '--failed-files') for (const file of failures(others).keys()) console.log(file);
else report([first, ...others]);

function report(paths) {
  const whole = paths.filter((path) => !path.endsWith('.repeated.json'));
  const repeated = paths.filter((path) => !whole.includes(path));
  const files = new Set(repeated.flatMap((path) => read(path).testResults.map(({ name }) => fileOf(name))));
  const again = failures(repeated);
  let mended = 0;
  for (const [file, tests] of failures(whole)) {
    const isMended = files.has(file) && !again.has(file);
    if (isMended) mended += tests.length;
    for (const test of tests) console.log(`FAILED ${file} > ${test}\n`);
    if (isMended) console.log(`${file} passed when it was repeated alone: a fault of the test, or of the product.\n`);
  }
  for (const [file, tests] of again) for (const test of tests) console.log(`FAILED AGAIN ${file} > ${test}\n`);
  const sum = (name) => whole.reduce((total, path) => total + read(path)[name], 0);
  const [passed, failed, skipped] = [sum('numPassedTests'), sum('numFailedTests') - mended, sum('numPendingTests')];
  const other = mended === 0 ? '' : `, ${mended} failed at first and passed when repeated alone`;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped${other}`);
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function fileOf(name) {
  return relative(process.cwd(), name);
}

/** @returns name and message of each test that failed, by file */
function failures(paths) {
  const failed = paths.flatMap((path) => read(path).testResults).filter(({ status }) => status === 'failed');
  return new Map(
    failed.map(({ name, message, assertionResults }) => {
      const tests = assertionResults
        .filter((test) => test.status === 'failed')
        .map((test) => `${test.fullName}\n${shortened(test.failureMessages.join('\n'))}`);
      return [fileOf(name), tests.length > 0 ? tests : [`the file\n${shortened(message)}`]];
    }),
  );
}

function shortened(message) {
  const lines = message.split('\n').filter((line) => !line.includes('/node_modules/'));
  return lines.slice(0, MESSAGE_LINES).join('\n').slice(0, MESSAGE_CHARACTERS);
}

import { expect, it } from 'vitest';
import { createLogger } from '../../../src/platform/telemetry/logger.js';

function written(isTTY: boolean, logFormat?: 'json' | 'text') {
  const lines: string[] = [];
  const output = Object.assign(process.stderr, {});
  const terminal = new Proxy(output, {
    get: (of, name) =>
      name === 'isTTY' ? isTTY : name === 'write' ? (line: string) => lines.push(line) : Reflect.get(of, name),
  });
  return { lines, logger: createLogger({ logLevel: 'info', logFormat }, terminal) };
}

it.each([
  [true, undefined, 'text'],
  [false, undefined, 'json'],
  [true, 'json', 'json'],
  [false, 'text', 'text'],
] as const)('with a terminal (%s) and LOG_FORMAT %s writes %s', (isTTY, given, expected) => {
  const { lines, logger } = written(isTTY, given);
  logger.info('up');
  expect(lines[0]?.startsWith('{')).toBe(expected === 'json');
});

it('writes what happened, to what, and who says it, on one line', () => {
  const { lines, logger } = written(true);
  const worker = logger.child({ role: 'worker', part: 'sealer' });
  worker.info({ ledger_size: 4, note: 'two words', gone: null }, 'Merkle batch sealed');
  worker.error(
    { reason: 'refused', stack: 'Error: refused\n    at one (a.js:1)\n    at two (b.js:2)' },
    'a step failed',
  );
  logger.warn({ applied: ['0001', '0002', '0003', '0004'] }, 'the schema is up to date');
  const time = /^\d\d:\d\d:\d\d /;
  expect(lines.map((line) => line.replace(time, ''))).toEqual([
    '[worker sealer] Merkle batch sealed (ledger_size=4, note="two words")\n',
    'ERROR [worker sealer] a step failed (reason=refused)\n    at one (a.js:1)\n    at two (b.js:2)\n',
    'WARNING the schema is up to date (applied=4: 0001 … 0004)\n',
  ]);
  expect(lines.every((line) => time.test(line))).toBe(true);
});

it('escapes what a terminal would act on', () => {
  const { lines, logger } = written(true);
  logger.info({ value: '\u001b[2J\u202e\u0085' }, 'cleared \u001b[0m\r\nfalse line');
  expect(lines.join('').slice(0, -1)).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(lines[0]).toContain('cleared \\u001b[0m\\u000d\\u000afalse line');
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { createProgram } from '../../../src/cli/program.js';
import { variables } from '../../../src/platform/config/variables.js';
import { READINESS_REASONS } from '../../../src/platform/health.js';

const DOCUMENTS = ['operations.md', 'restore.md', 'ledger-key.md', 'configuration.md', 'erasure.md'];
/** Variables of other programs, which the document explains where it uses them. */
const FOREIGN = new Set([
  'POSTGRES_PASSWORD',
  'COMPOSE_PROFILES',
  'JOURNAL_VOLUME',
  'SERVICE_FILES',
  'PROXY_FILES',
  'COMPOSE_FILE',
]);

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url)), 'utf8');
const { stdout, stderr } = process;
const program = await createProgram({ env: {}, stdout, stderr, lowerPriority: () => undefined }, []);

/** The command lines of a document, each as words. */
function commandLines(text: string): string[][] {
  return [
    ...text.matchAll(
      /(?<=^|`|\s)(?:consent-ledger|docker compose run --rm admin|node bin\/consent-ledger\.js) ((?:[a-z][a-z-]*|--[a-z-]+|<[a-z_]+>|\S+:\/\/\S+)(?: (?:[a-z][a-z-]*|--[a-z-]+|<[a-z_]+>|\/[\w./-]+|[a-z]+:\/\/[^\s`]+))*)(?=`|$|\n)/gm,
    ),
  ].map(([, line = '']) => line.split(' '));
}

/** The command that the words name, and the remaining words. */
function resolve(words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command: Command = program;
  let used = 0;
  for (const word of words) {
    const next = command.commands.find((inner) => inner.name() === word);
    if (next === undefined) break;
    command = next;
    used += 1;
  }
  return { command, rest: words.slice(used) };
}

it('the documents for operators name existing commands, options and arguments', () => {
  for (const name of DOCUMENTS) {
    for (const words of commandLines(read(name))) {
      const { command, rest } = resolve(words);
      const line = `${name}: ${words.join(' ')}`;
      expect(command, line).not.toBe(program);
      if (command.commands.length > 0) expect(rest, `${line}: which command of it?`).toEqual([]);
      const known = command.options.map(({ long }) => long);
      for (const option of rest.filter((word) => word.startsWith('--'))) expect(known, line).toContain(option);
      const first = rest[0];
      if (first !== undefined && !first.startsWith('--'))
        expect(command.registeredArguments.length, line).toBeGreaterThan(0);
    }
  }
});

it('the documents for operators name existing variables and error codes', () => {
  const known = new Set([...Object.keys(variables.shape), ...Object.keys(ERROR_CODES), ...FOREIGN]);
  const unknown = DOCUMENTS.flatMap((name) =>
    [...read(name).matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g)]
      .filter(([, word = '']) => !known.has(word))
      .map(([, word]) => `${name}: ${word}`),
  );
  expect(unknown).toEqual([]);
});

it('the document for operators explains exactly the reasons of readiness', () => {
  const rows = [...read('operations.md').matchAll(/^\| `([a-z_]+)` \| (unready|degraded|ready) \|/gm)];
  const reasons = Object.entries(READINESS_REASONS).map(([code, { effect }]) => [code, effect]);
  expect(rows.map(([, code, effect]) => [code, effect])).toEqual(reasons);
});

it('the document for operators names many commands', () => {
  const lines = commandLines(read('operations.md')).map((words) => words.join(' '));
  expect(lines.length).toBeGreaterThan(20);
  expect(lines).toContain('admin log copy --to esdb://host:2113');
  expect(lines).toContain('admin master-key rotate --to /data/next.key');
});

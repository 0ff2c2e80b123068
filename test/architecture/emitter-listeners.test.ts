import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, sourceFiles } from './import-graph.js';

/** Events that carry nothing that a stranger chose, except for an error, which is passed on. */
const WITHOUT_BYTES: readonly string[] = [
  ...['abort', 'close', 'disconnect', 'drain', 'end', 'error', 'exit', 'finish', 'resume'],
  ...['readable', 'remove', 'uncaughtException'],
];

/**
 * Listeners that were reviewed: they cannot throw on a stranger's bytes, or no stranger reaches them. Nothing
 * catches what a listener throws, so that any other one is `guarded`, or a promise takes its place.
 */
const REVIEWED: Readonly<Record<string, string>> = {
  'src/api/server/bound-forms.ts checkExpectation': 'passes the request on, as Node passes on all others',
  'src/api/server/bound-forms.ts connect': 'reads nothing of the request, and answers the same to each',
  'src/api/server/connections.ts connection': 'notes the socket',
  'src/api/server/connections.ts request': 'notes the request, and reads nothing of it',
  'src/app/api-process.ts message': 'from the process that started it',
  'src/app/first-api-process.ts message': 'from the process that started it',
  'src/app/supervise-process.ts message': 'is checked by a schema, without an exception',
  'src/app/worker-process.ts message': 'from the process that started it',
  'src/demo/program.ts data': 'of the demonstration',
  'src/erasure/scrub.ts notice': 'searches a text of the database for a number',
  'src/pipeline/event-log/postgres/wakeups.ts notification': 'counts, and reads nothing of it',
  'src/pipeline/importer/read-rows.ts data': 'adds the bytes to a digest, in a command',
  'src/platform/background/part.ts notification': 'passes nothing of it on',
  'src/platform/database/pool.ts connect': 'notes the connection',
};

/** A listener of an event with a literal name, and whether it is guarded. */
const LISTENER = /\.(?:on|once|addListener|prependListener|prependOnceListener)\(\s*'([^']+)',\s*(guarded\()?/g;
/** Its parts run in a process of their own. */
const APART = 'src/tenancy/scans/';

test('every listener that may get a stranger’s bytes is guarded, or reviewed', () => {
  const unguarded = sourceFiles('src')
    .filter((file) => !file.startsWith(APART))
    .flatMap((file) =>
      [...readFileSync(resolve(ROOT, file), 'utf8').matchAll(LISTENER)].flatMap(([, event = '', guard]) =>
        guard !== undefined || WITHOUT_BYTES.includes(event) ? [] : [`${file} ${event}`],
      ),
    );
  expect([...new Set(unguarded)].sort()).toEqual(Object.keys(REVIEWED).sort());
});

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Recorded, readConsent, readErasedId } from '../../../docs/examples/eventstoredb/read-event.js';
import { EVENT_TYPES } from '../../../projections/event-types.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { NewEvent } from '../../../src/pipeline/event-log/port.js';
import { newConsent, newErasure } from '../relay/pipeline.js';

const run = promisify(execFile);
const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const EXAMPLES = ['catch-up.ts', 'persistent.ts', 'read-event.ts'].map((name) =>
  resolve('docs/examples/eventstoredb', name),
);

test('the examples of subscriptions type-check', async () => {
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'];
  const target = ['--target', 'ES2023', '--module', 'NodeNext', '--types', 'node'];
  const compiled = await run(process.execPath, [COMPILER, ...options, ...target, ...EXAMPLES]).catch(
    (error: { stdout?: string }) => error,
  );
  expect(compiled.stdout).toBe('');
});

test('the table of streams lists every type of event that the service appends, and no other', () => {
  const page = readFileSync('docs/eventstoredb.md', 'utf8');
  const table = page.split('\n').filter((line) => line.startsWith('| `'));
  const listed = table.join('').match(/[A-Za-z]+\.v\d+/g) ?? [];
  expect(listed.toSorted()).toEqual(EVENT_TYPES.toSorted());
});

test('the examples read consents and erasures as the service appends them, and pass over other types', () => {
  const site = randomUUID();
  const recorded = ({ id, type, data }: NewEvent): Recorded => ({
    id,
    type,
    data,
    streamId: consentsStream(site),
    revision: 0n,
  });
  const consent = newConsent(site, { decision: 'withdrawn' });
  expect(readConsent(recorded(consent))).toEqual({
    eventId: consent.id,
    siteId: site,
    consentType: 'cookie',
    decision: 'withdrawn',
    createdAt: '2026-11-21T10:00:00.123Z',
  });
  const erasure = newErasure(site, consent.id);
  expect(readErasedId(recorded(erasure))).toBe(consent.id);
  expect(readConsent(recorded(erasure))).toBeNull();
  expect(readErasedId(recorded(consent))).toBeNull();
  expect(readConsent({ ...recorded(consent), type: 'ConsentRecorded.v2' })).toBeNull();
});

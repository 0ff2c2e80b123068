import { expect, test } from 'vitest';
import { ServerChanged } from '../../../src/platform/database/errors.js';
import { bindServer } from '../../../src/platform/database/server-binding.js';

/** @param goesOn whether its WAL is as long as it was; null: nothing was known before */
const answer = (server: string, goesOn: boolean | null) => [
  { server, is_standby: false, flushed: '0/10', goes_on: goesOn },
];

test.each([
  ['another server', answer('2/1', true)],
  ['the same one, set back to an earlier copy of its files', answer('1/1', false)],
])('refuses %s, and every connection from then on', (_, rows) => {
  const binding = bindServer();
  binding.step.accept?.(answer('1/1', null));
  binding.step.accept?.(answer('1/1', true));
  expect(binding.refusal()).toBeNull();
  expect(() => binding.step.accept?.(rows)).toThrow(ServerChanged);
  expect(() => binding.step.accept?.(answer('1/1', true))).toThrow(ServerChanged);
  expect(binding.refusal()).toBeInstanceOf(ServerChanged);
});
